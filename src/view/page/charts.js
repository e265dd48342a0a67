// Bytes over the steps, and the bytes that each processor sends to each other one.
import { axisLabels, AXIS_LEFT, LINE_HEIGHT, spreadHeights } from "./axis_labels.js";
import { allFrames, bytesOverTime, exchangedOverTime, messagesOf } from "./film.js";
import { tensorColour } from "./colour.js";
import { processorName } from "./machine.js";
import { element, group, label, short } from "./svg.js";
import { bytesText } from "./text.js";

const RIGHT = 120; // for the text beside the time line

// The numbers of the steps that the frames of a statement show, counted from 1 over all statements.
export function stepNumbers(data) {
  let before = 0;
  return data.statements.flatMap((statement) => {
    const first = before;
    before += statement.frames_in_all;
    return statement.frames.map((frame) => first + frame.frame + 1);
  });
}

export const stepsInAll = (data) => data.statements.reduce((sum, s) => sum + s.frames_in_all, 0);

// Bars of the bytes that move at each step, by tensor; the current step is marked. A line rises with what the processor
// that exchanges most has exchanged, towards the dashed line: no schedule lets every processor exchange less.
export function timelineView(data, current, width, height) {
  const steps = bytesOverTime(data);
  const top = steps.reduce((most, s) => Math.max(most, s.bytes), 1);
  const base = 16;
  const right = width - RIGHT;
  const room = (right - AXIS_LEFT) / Math.max(1, steps.length);
  const y = (bytes) => ((height - base - 14) * bytes) / top;
  const numbers = stepNumbers(data);
  const content = axisLabels(right + 10, height, top, base, "bytes moved at each step");
  const every = Math.ceil((12 + 7 * String(stepsInAll(data)).length) / room);
  steps.forEach((step, f) => {
    const x = AXIS_LEFT + f * room;
    const hit = { x, y: 12, width: room, height: height - 12, class: f === current ? "step current" : "step" };
    const bars = stepBars(data, step, { x: x + room * 0.1, width: room * 0.8 }, height - base, y);
    content.push(group({ "data-frame": f }, [element("rect", hit), ...bars]));
    if (f % every === 0) content.push(label(x + room / 2, height - 4, numbers[f], { class: "tick middle" }));
  });
  content.push(...exchangeLine(data, current, room, height, base, right));
  return { content: group({ class: "timeline" }, content), width, height };
}

function stepBars(data, step, { x, width }, bottom, y) {
  let level = bottom;
  return data.tensors.map(({ name }, t) => {
    const bytes = step.byTensor[name] ?? 0;
    if (bytes === 0) return "";
    level -= y(bytes);
    return element("rect", { x, y: level, width, height: y(bytes), fill: tensorColour(t) });
  });
}

function exchangeLine(data, current, room, height, base, right) {
  const exchanged = exchangedOverTime(data);
  const top = exchanged.reduce((highest, { most, bound }) => Math.max(highest, most, bound), 0);
  const now = exchanged[current];
  if (top === 0 || !now) return [];
  const y = (bytes) => height - base - ((height - base - 14) * bytes) / top;
  const x = (f) => AXIS_LEFT + f * room;
  const parts = exchanged.map((e, f) => {
    const continues = f > 0 && e.most >= exchanged[f - 1].most;
    return `${continues ? "L" : "M"}${short(x(f))} ${short(y(e.most))}H${short(x(f + 1))}`;
  });
  const text = (what, bytes, at) => label(right + 6, at, `${what} ${bytesText(bytes)}`, { class: "small left" });
  const limit = { x1: AXIS_LEFT, x2: right, y1: y(now.bound), y2: y(now.bound), class: "limit" };
  const heights = spreadHeights([y(now.most) + 4, y(now.bound) + 4], 9 + LINE_HEIGHT, height - 4);
  return [
    element("path", { d: parts.join(""), class: "exchanged", fill: "none" }),
    element("line", limit),
    label(right + 6, 9, "busiest processor", { class: "small left" }),
    text("so far", now.most, heights[0]),
    text("bound", now.bound, heights[1]),
  ];
}

// The bytes from each processor to each other over all drawn frames, summed over groups of `size` processors.
export function trafficMatrix(data, size = 1) {
  const n = Math.ceil(data.processors / size);
  const bytes = Array.from({ length: n }, () => new Array(n).fill(0));
  for (const { frame } of allFrames(data)) {
    for (const m of messagesOf(data, frame)) {
      bytes[Math.floor(m.source / size)][Math.floor(m.destination / size)] += m.bytes;
    }
  }
  return bytes;
}

const MOST_ROWS = 64;

export function matrixView(data, width, height) {
  let size = 1;
  while (data.processors / size > MOST_ROWS) size *= 2;
  const bytes = trafficMatrix(data, size);
  const top = Math.max(1, ...bytes.flat());
  const side = Math.min(width - 70, height - 70) / bytes.length;
  const [left, up] = [58, 46];
  const levels = data.machines[data.statements[0]?.machine ?? 0];
  const name = (g) => processorName(levels, g * size);
  const content = [
    label(left, 12, "bytes from each processor (row) to each other (column)", { class: "small left" }),
  ];
  const every = Math.ceil(11 / side);
  const longest = Math.max(...bytes.map((_, g) => name(g).length));
  const wide = Math.max(every, Math.ceil((longest * 6.5 + 4) / side));
  bytes.forEach((row, from) => {
    if (from % every === 0) {
      content.push(label(left - 6, up + (from + 0.5) * side, name(from), { class: "tick center" }));
      if (from % wide === 0)
        content.push(label(left + (from + 0.5) * side, up - 6, name(from), { class: "tick middle" }));
    }
    row.forEach((sum, to) => {
      const x = left + to * side;
      const y = up + from * side;
      const opacity = sum === 0 ? 0 : 0.15 + (0.85 * sum) / top;
      const attributes = { x, y, width: side, height: side, class: "matrix", "fill-opacity": opacity };
      attributes["data-pair"] = `${from * size},${to * size},${sum}`;
      content.push(element("rect", attributes));
      const text = bytesText(sum);
      const font = Math.min(12, (1.6 * side) / text.length);
      if (sum > 0 && font >= 6.5) {
        const ink = opacity > 0.55 ? "fill:#fff" : undefined;
        content.push(label(x + side / 2, y + side / 2, text, { class: "on", "font-size": font, style: ink }));
      }
    });
  });
  content.push(label(width - 8, height - 6, `darkest: ${bytesText(Math.max(...bytes.flat()))}`, { class: "tick" }));
  if (size > 1) {
    content.push(label(width / 2, height - 6, `summed over groups of ${size} processors`, { class: "note" }));
  }
  return { content: group({ class: "chart" }, content), width, height };
}

const WHY = {
  fetch: "needed by the computation",
  write: "results go home",
  add: "partial sums go home",
  "add to partial": "partial sums are combined on their way",
  "add to shared": "partial sums are combined within an upper-level processor",
  replicate: "copies for further replicas",
};

// Rows of the plan, consecutive equal steps joined: [{first, last, tensor, at, why, pattern, bytes, messages}].
export function planRows(data) {
  const numbers = stepNumbers(data);
  const rows = [];
  const open = new Map();
  allFrames(data).forEach(({ statement, frame }, f) => {
    for (const move of frame.moves) {
      const acquire = data.statements[statement].acquires[move.acquire];
      const messages = messagesOf(data, { moves: [move] });
      const pairs = new Set(messages.map((m) => `${m.source},${m.destination}`));
      const row = {
        first: numbers[f],
        last: numbers[f],
        tensor: data.tensors[move.tensor].name,
        at: acquire?.at ?? "",
        why: WHY[move.kind],
        pattern: move.pattern,
        bytes: messages.reduce((sum, m) => sum + m.bytes, 0),
        messages: pairs.size,
      };
      const key = [statement, row.tensor, row.at, row.why, row.pattern, row.bytes, row.messages].join("|");
      const before = open.get(key);
      if (before && (before.last === row.first || before.last + data.statements[statement].every >= row.first)) {
        before.last = row.last;
        continue;
      }
      open.set(key, row);
      rows.push(row);
    }
  });
  return rows;
}
