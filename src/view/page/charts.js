// Bytes and memory over the steps, and who sends whom how much.
import { allFrames, bytesOverTime, exchangedOverTime, memoryOverTime, messagesOf } from "./film.js";
import { colourOf, tensorColour } from "./colour.js";
import { processorName, processorsOf } from "./machine.js";
import { element, group, label, short } from "./svg.js";
import { bytesText } from "./text.js";

const LEFT = 74;
const RIGHT = 120; // for the text beside the time line

function axisLabels(width, height, top, base, what) {
  return [
    label(LEFT - 8, 18, bytesText(top), { class: "tick" }),
    label(LEFT - 8, height - base, "0", { class: "tick" }),
    element("line", { x1: LEFT, y1: height - base, x2: width - 10, y2: height - base, class: "axisline" }),
    label(LEFT, 9, what, { class: "small", style: "text-anchor:start" }),
  ];
}

// The steps that a statement's frames are, as numbers from 1 over all statements.
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
  const top = Math.max(1, ...steps.map((s) => s.bytes));
  const base = 16;
  const right = width - RIGHT;
  const room = (right - LEFT) / Math.max(1, steps.length);
  const y = (bytes) => ((height - base - 14) * bytes) / top;
  const numbers = stepNumbers(data);
  const content = axisLabels(right + 10, height, top, base, "bytes moved at each step");
  const every = Math.ceil((12 + 7 * String(stepsInAll(data)).length) / room);
  steps.forEach((step, f) => {
    const x = LEFT + f * room;
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
  const known = exchanged.filter(Boolean);
  const top = Math.max(0, ...known.flatMap(({ most, bound }) => [most, bound]));
  const now = exchanged[current];
  if (top === 0 || !now) return [];
  const y = (bytes) => height - base - ((height - base - 14) * bytes) / top;
  const x = (f) => LEFT + f * room;
  const parts = exchanged.map((e, f) => {
    if (!e) return "";
    const continues = f > 0 && exchanged[f - 1] && e.most >= exchanged[f - 1].most;
    return `${continues ? "L" : "M"}${short(x(f))} ${short(y(e.most))}H${short(x(f + 1))}`;
  });
  const text = (what, bytes, at) => label(right + 6, at, `${what} ${bytesText(bytes)}`, { class: "small left" });
  const limit = { x1: LEFT, x2: right, y1: y(now.bound), y2: y(now.bound), class: "limit" };
  const heights = apart(Math.max(18, y(now.most)), Math.max(18, y(now.bound)));
  return [
    element("path", { d: parts.join(""), class: "exchanged", fill: "none" }),
    element("line", limit),
    label(right + 6, 9, "busiest processor", { class: "small left" }),
    text("so far", now.most, heights[0] + 4),
    text("bound", now.bound, heights[1] + 4),
  ];
}

// Two heights of lines of text, moved apart where they are too near.
function apart(p, q) {
  const near = 13 - Math.abs(p - q);
  if (near <= 0) return [p, q];
  const down = p >= q ? 1 : -1;
  return [p + (down * near) / 2, q - (down * near) / 2];
}

// A staircase: the value of a step holds from its beginning to its end.
function line(values, x, y) {
  return values
    .map((v, f) => `${f === 0 ? "M" : "L"}${short(x(f - 0.5))} ${short(y(v))}H${short(x(f + 0.5))}`)
    .join("");
}

// What each processor holds over the steps: its pieces and acquired copies. Many processors are drawn as the band
// between the least and the most.
export function memoryView(data, state, width, height) {
  const all = memoryOverTime(data);
  const top = Math.max(1, ...all.flatMap((now) => now), ...data.peak_bytes);
  const base = 40;
  const x = (f) => LEFT + ((f + 0.5) * (width - LEFT - 20)) / Math.max(1, all.length);
  const y = (bytes) => height - base - ((height - base - 24) * bytes) / top;
  const levels = data.machines[data.statements[0]?.machine ?? 0];
  const colour = (p) => colourOf(levels, [Math.min(p, processorsOf(levels) - 1)]);
  const content = axisLabels(width, height, top, base, "bytes held by each processor");
  const most = all.map((now) => now.reduce((a, b) => Math.max(a, b), 0));
  const least = all.map((now) => now.reduce((a, b) => Math.min(a, b), Infinity));
  const processors = data.processors;
  if (processors > 32) {
    const back = least.map((v, f) => `L${short(x(f + 0.5))} ${short(y(v))}H${short(x(f - 0.5))}`).reverse();
    content.push(element("path", { d: `${line(most, x, y)}${back.join("")}Z`, class: "band" }));
  } else {
    for (let p = 0; p < processors; ++p) {
      const values = all.map((now) => now[p]);
      content.push(
        element("path", { d: line(values, x, y), class: `memory p${p}`, stroke: colour(p), fill: "none", "data-p": p }),
      );
    }
  }
  if (state.processor !== null) {
    const values = all.map((now) => now[state.processor]);
    content.push(element("path", { d: line(values, x, y), class: "memory selected", fill: "none" }));
  }
  const peak = Math.max(...data.peak_bytes);
  content.push(element("line", { x1: LEFT, x2: width - 10, y1: y(peak), y2: y(peak), class: "limit" }));
  const text = `reserved by the processor that needs most: ${bytesText(peak)}`;
  content.push(label(width - 12, y(peak) + 13, text, { class: "small", style: "text-anchor:end" }));
  const numbers = stepNumbers(data);
  const wide = 12 + 7 * String(stepsInAll(data)).length;
  const every = Math.max(1, Math.ceil((wide * all.length) / (width - LEFT)));
  all.forEach((_, f) => {
    if (f % every === 0) content.push(label(x(f), height - base + 14, numbers[f], { class: "tick middle" }));
  });
  content.push(label((width + LEFT) / 2, height - 8, "step", { class: "small" }));
  return { content: group({ class: "chart" }, content), width, height };
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
  bytes.forEach((row, from) => {
    if (from % every === 0) {
      const wide = Math.ceil((name(from).length * 6.5) / side);
      content.push(label(left - 6, up + (from + 0.5) * side, name(from), { class: "tick center" }));
      if (from % Math.max(wide, every) === 0)
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
