// Whole pictures: each takes the data and what is chosen, and returns {content, width, height}.
import { defaultAxes } from "./axes.js";
import { choiceView } from "./choice.js";
import { matrixView, planRows, stepNumbers, stepsInAll, timelineView } from "./charts.js";
import { allFrames, bytesOverTime, heldAt, memoryAt } from "./film.js";
import { tensorColour } from "./colour.js";
import { machineView } from "./traffic.js";
import { memoryView } from "./memory.js";
import { processorName } from "./machine.js";
import { element, escaped, group, label, placed, short } from "./svg.js";
import { spaceView } from "./space.js";
import { multiplesOf, overlayOf, tensorPanel } from "./tensors.js";
import { bytesText, counted, shortened } from "./text.js";

const EMPTY_FRAME = { work: [], moves: [], held: [], loops: {}, moved: {} };

// What is chosen at the start, or with the given choices: step counts from 1, 0 is the last.
export function stateOf(data, choice = {}) {
  const frames = allFrames(data);
  const current = Math.max(0, Math.min(frames.length - 1, choice.frame ?? frameAtStep(data, choice.step ?? 1)));
  const at = frames[current] ?? { statement: 0, index: 0, frame: EMPTY_FRAME };
  return {
    current,
    statement: at.statement,
    index: at.index,
    frame: at.frame,
    axes: choice.axes ?? (data.statements.length > 0 ? defaultAxes(data, at.statement) : []),
    fixed: choice.fixed ?? [],
    processor: choice.processor ?? null,
    tensor: choice.tensor ?? null,
  };
}

// The first frame at or after a step, counted from 1; the last frame for 0.
export function frameAtStep(data, step) {
  const numbers = stepNumbers(data);
  const found = numbers.findIndex((n) => n >= step);
  return step === 0 || found < 0 ? numbers.length - 1 : found;
}

const VERBS = {
  shift: "shifts",
  broadcast: "is broadcast",
  reduce: "is reduced",
  gather: "is gathered",
  mixed: "moves",
};

// One sentence for each tensor that moves at a frame, and one for the loops.
export function captionOf(data, state) {
  const numbers = stepNumbers(data);
  const loops = Object.entries(state.frame.loops).map(([name, value]) => `${name} = ${value}`);
  const time = bytesOverTime(data);
  const last = state.frame.work.some((block) => block >= 0) ? [] : ["results go home"];
  const step = `Step ${numbers[state.current]} of ${stepsInAll(data)}`;
  const title = numbers.length > 0 ? [step, ...loops, ...last].join(" · ") : "No steps: there is nothing to compute";
  const moved = Object.entries(state.frame.moved).map(([name, { bytes, messages, pattern }]) => ({
    tensor: data.tensors.findIndex((t) => t.name === name),
    text: `${name} ${VERBS[pattern] ?? "moves"}: ${bytesText(bytes)} in ${counted(messages, "message")}`,
  }));
  const soFar = time[state.current]?.soFar ?? 0;
  const held = memoryAt(data, state.current);
  const who = state.processor === null ? "the fullest processor" : "the chosen processor";
  const of = (bytes) => (state.processor === null ? bytes.reduce((a, b) => Math.max(a, b), 0) : bytes[state.processor]);
  const cap = data.memory_bytes ? `, ${bytesText(data.memory_bytes)} allowed` : "";
  return {
    title,
    moved,
    total: `${bytesText(soFar)} of ${bytesText(data.bytes_moved)} moved so far`,
    memory: `${who} holds ${bytesText(of(held) ?? 0)} of ${bytesText(of(data.peak_bytes))} reserved${cap}`,
  };
}

const LETTER = 6.7; // the width of a letter of the captions, about
const LEAST_LETTER = 6.3; // on average, of a long text

// The caption is broken into lines; in a narrow picture the totals stand below it.
function captionView(data, state, width) {
  const { title, moved, total, memory } = captionOf(data, state);
  const isWide = width >= 700;
  const content = [label(16, 20, title, { class: "caption" })];
  let [x, y] = [16, 40];
  const say = (text, tensor, room) => {
    const wide = text.length * LETTER + 24;
    if (x > 16 && x + wide > room) [x, y] = [16, y + 18];
    const most = Math.floor((width - x - (tensor >= 0 ? 15 : 0)) / LEAST_LETTER);
    if (tensor >= 0) content.push(element("rect", { x, y: y - 9, width: 10, height: 10, fill: tensorColour(tensor) }));
    content.push(label(x + (tensor >= 0 ? 15 : 0), y, shortened(text, most), { class: "said" }));
    x += wide + 12;
  };
  const parts = moved.length > 0 ? moved : [{ tensor: -1, text: "nothing moves" }];
  for (const { tensor, text } of parts) say(text, tensor, isWide ? width - memory.length * LETTER - 20 : width);
  for (const [n, text] of [total, memory].entries()) {
    if (isWide) content.push(label(width - 16, 20 + 20 * n, text, { class: "said", style: "text-anchor:end" }));
    else say(text, -1, width);
  }
  return { content: group({}, content), width, height: y + 10 };
}

const LEGEND = [
  ["shift", "shift"],
  ["broadcast", "broadcast ●"],
  ["gather", "gather"],
  ["reduce", "reduce ⊕"],
];

function legendView(data, state, width) {
  const kinds = new Set(state.frame.moves.map((m) => (m.kind.startsWith("add") ? "reduce" : m.pattern)));
  let x = 16;
  const content = [];
  for (const [kind, text] of LEGEND) {
    if (!kinds.has(kind)) continue;
    const d = `M${x} 10H${x + 26}`;
    content.push(group({ class: `arrow ${kind}` }, element("path", { d, class: "line legend", fill: "none" })));
    content.push(label(x + 32, 14, text, { class: "said" }));
    x += 120;
  }
  return { content: group({}, content), width, height: 20 };
}

// The film at one step: the execution space, the machine with its messages, the tensors, and the time line.
export function filmView(data, state, width = 1040) {
  if (data.statements.length === 0) return dataView(data, state, width);
  const wide = width >= 820;
  const left = wide ? Math.round(width * 0.56) : width;
  const right = wide ? width - left : width;
  const top = captionView(data, state, width);
  const tall = Math.min(560, Math.round(left * 0.9));
  const parts = [[top, 0, 0]];
  parts.push([spaceView(data, state, left, tall), 0, top.height]);
  const held = heldAt(data, state.statement, state.index);
  const accesses = [...new Set(data.statements[state.statement].accesses.map((a) => a.tensor))];
  const columns = Math.min(accesses.length, 4);
  const panel = Math.min(200, Math.floor(right / Math.max(2, columns)));
  const tensors = accesses.slice(0, 2 * columns);
  const strip = Math.ceil(tensors.length / columns) * panel;
  const machineHeight = Math.max(240, tall - strip);
  const x0 = wide ? left : 0;
  let y = wide ? top.height : top.height + tall;
  parts.push([machineView(data, state, right, machineHeight), x0, y]);
  y += machineHeight;
  parts.push([legendView(data, state, right), x0, y - 18]);
  tensors.forEach((t, n) => {
    const view = tensorPanel(data, t, Math.floor(right / columns), panel, overlayOf(data, state, held, t));
    parts.push([view, x0 + (n % columns) * Math.floor(right / columns), y + Math.floor(n / columns) * panel]);
  });
  const bottom = Math.max(y + strip, top.height + tall);
  parts.push([timelineView(data, state.current, width, 96), 0, bottom + 4]);
  return { content: parts.map(([part, x, py]) => placed(part, x, py)).join(""), width, height: bottom + 104 };
}

// Every tensor with its pieces, and the machine.
export function dataView(data, state, width = 1040) {
  const panels = data.tensors.flatMap((_, t) => multiplesOf(data, t).map((parts) => ({ t, parts })));
  const columns = Math.max(1, Math.min(panels.length, Math.floor(width / 240)));
  const side = Math.floor(width / columns);
  const tall = Math.min(side, 380);
  const parts = panels.map((panel, n) =>
    placed(
      tensorPanel(data, panel.t, side, tall, {}, panel.parts),
      (n % columns) * side,
      Math.floor(n / columns) * (tall + 10),
    ),
  );
  let height = Math.ceil(panels.length / columns) * (tall + 10);
  data.machines.forEach((levels) => {
    const view = machineView(data, state, width, 260, { levels, messages: [] });
    const text = `the machine: ${levels.map((l) => `Grid(${l.join(", ")})`).join(" of ")}`;
    parts.push(placed(view, 0, height + 16), label(width / 2, height + 14, text, { class: "name" }));
    height += 286;
  });
  return { content: parts.join(""), width, height };
}

export const MOST_PLAN_ROWS = 22;
const WHY_COLUMN = 180; // its least width
const OTHER_COLUMNS = 58 + 166 + WHY_COLUMN;
const NAME_COLUMNS = [60, 66]; // of tensors and of loops, their least widths
const COLUMN_GAP = 8;
const WIDE_LETTER = 7.4; // enough for any name

// The widths of the columns of tensors and of loops: as wide as their names, within the room.
function nameColumns(rows, room) {
  const longest = ["tensor", "at"].map((field) => Math.max(0, ...rows.map((row) => row[field].length)));
  const wanted = longest.map((letters, n) => Math.max(NAME_COLUMNS[n], letters * WIDE_LETTER + COLUMN_GAP));
  const least = NAME_COLUMNS[0] + NAME_COLUMNS[1];
  const more = wanted[0] + wanted[1] - least;
  const part = more > 0 ? Math.max(0, Math.min(1, (room - least) / more)) : 0;
  return wanted.map((width, n) => NAME_COLUMNS[n] + part * (width - NAME_COLUMNS[n]));
}

const lettersIn = (text, column) => shortened(text, Math.floor((column - COLUMN_GAP) / WIDE_LETTER));

// The plan as a matrix and the first rows of its table.
export function planView(data, state, width = 1040) {
  const side = Math.min(460, width);
  const matrix = matrixView(data, side, side);
  const rows = planRows(data);
  const shown = rows.slice(0, MOST_PLAN_ROWS);
  const x = width >= 900 ? side + 20 : 10;
  let y = width >= 900 ? 46 : side + 30;
  const content = [placed(matrix, 0, 0)];
  const [tensor, at] = nameColumns(shown, width - x - OTHER_COLUMNS);
  const columns = [0, 58, 58 + tensor, 58 + tensor + at].map((left) => x + left);
  columns.push(columns[3] + 84, columns[3] + 166);
  const isNarrow = columns[5] + WHY_COLUMN > width; // then the reason stands below its row
  const put = (text, c, attributes) => label(columns[c], y, text, { ...attributes, style: "text-anchor:start" });
  const row = (texts, attributes) => texts.map((text, c) => put(text, c, attributes)).join("");
  const titles = ["step", "tensor", "at", "pattern", "bytes", "why"];
  content.push(row(isNarrow ? titles.slice(0, 5) : titles, { class: "caption small" }));
  for (const r of shown) {
    y += 19;
    const steps = r.first === r.last ? `${r.first}` : `${r.first}–${r.last}`;
    const names = [lettersIn(r.tensor, tensor), lettersIn(r.at, at)];
    content.push(row([steps, ...names, r.pattern, bytesText(r.bytes)], { class: "said" }));
    if (isNarrow) y += 15;
    content.push(put(r.why, isNarrow ? 1 : 5, { class: isNarrow ? "note" : "said" }));
  }
  if (rows.length > shown.length) {
    y += 19;
    content.push(label(x, y, `and ${rows.length - shown.length} more`, { class: "said" }));
  }
  return { content: content.join(""), width, height: Math.max(side, y + 20) };
}

export function memoryPage(data, state, width = 1040) {
  return memoryView(data, state, width, 380);
}

export const VIEWS = { data: dataView, film: filmView, plan: planView, memory: memoryPage, choice: choiceView };

const FILE_MARGIN = 8;

// A file of its own: the style is part of it.
export function svgFile(data, state, view, style) {
  const { content, width, height } = VIEWS[view](data, state);
  const who = state.processor === null ? "" : `, processor ${processorName(data.machines[0], state.processor)}`;
  const title = `${data.title}: ${view}${view === "film" ? `, ${captionOf(data, state).title}` : ""}${who}`;
  const size = { width: short(width), height: short(height + 2 * FILE_MARGIN) };
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 ${-FILE_MARGIN} ${size.width} ${size.height}" ` +
    `width="${size.width}" height="${size.height}" class="picture" role="img">\n` +
    `<title>${escaped(title)}</title>\n<style>${style}</style>\n` +
    `<rect class="paper" y="${-FILE_MARGIN}" width="100%" height="100%"/>\n${content}\n</svg>\n`
  );
}
