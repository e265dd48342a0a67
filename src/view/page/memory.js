// What the processors hold over the steps.
import { axisLabels, AXIS_LEFT, spreadHeights } from "./axis_labels.js";
import { stepNumbers, stepsInAll } from "./charts.js";
import { colourOf } from "./colour.js";
import { memoryOverTime } from "./film.js";
import { processorsOf, setName } from "./machine.js";
import { element, group, label, short } from "./svg.js";
import { bytesText, counted } from "./text.js";

const BASE = 40; // for the numbers of the steps
const NAMES = 150; // for the names of the curves, on the right
const MOST_CURVES = 12;
const CURVE_STEP = 2.4; // by which curves are moved apart where they coincide

const mostOf = (values) => values.reduce((a, b) => Math.max(a, b), 0);

// Processors that hold the same at all steps: [{processors, values}].
export function memoryCurves(all, processors) {
  const curves = new Map();
  for (let p = 0; p < processors; ++p) {
    const values = all.map((now) => now[p]);
    const key = values.join();
    if (!curves.has(key)) curves.set(key, { processors: [], values });
    curves.get(key).processors.push(p);
  }
  return [...curves.values()];
}

// A staircase: each value is drawn from the beginning of its step to its end.
function staircase(values, x, y) {
  return values
    .map((v, f) => `${f === 0 ? "M" : "L"}${short(x(f - 0.5))} ${short(y(v))}H${short(x(f + 0.5))}`)
    .join("");
}

// Lines with names at their right ends.
function curveLines(levels, curves, x, y, right, bottom) {
  const known = processorsOf(levels);
  const shift = (n) => (n - (curves.length - 1) / 2) * CURVE_STEP;
  const ends = curves.map(({ values }, n) => y(values.at(-1)) + shift(n) + 4);
  const heights = spreadHeights(ends, 14, bottom);
  return curves.flatMap(({ processors, values }, n) => {
    const colour = colourOf(levels, processors.map((p) => Math.min(p, known - 1)));
    const d = staircase(values, (f) => x(f) + shift(n), (bytes) => y(bytes) + shift(n));
    const name = setName(levels, processors);
    return [
      element("path", { d, class: "memory", stroke: colour, fill: "none", "data-p": processors[0] }),
      label(right + 18, heights[n], name, { class: "small left" }),
      element("rect", { x: right + 6, y: heights[n] - 9, width: 9, height: 9, fill: colour }),
    ];
  });
}

// Between the least and the most that a processor holds.
function bandOf(all, x, y) {
  const most = all.map(mostOf);
  const least = all.map((now) => now.reduce((a, b) => Math.min(a, b), Infinity));
  const back = least.map((v, f) => `L${short(x(f + 0.5))} ${short(y(v))}H${short(x(f - 0.5))}`).reverse();
  return element("path", { d: `${staircase(most, x, y)}${back.join("")}Z`, class: "band" });
}

function limitLine(bytes, text, y, right) {
  return [
    element("line", { x1: AXIS_LEFT, x2: right, y1: y(bytes), y2: y(bytes), class: "limit" }),
    label(right - 2, y(bytes) - 5, `${text}: ${bytesText(bytes)}`, { class: "small", style: "text-anchor:end" }),
  ];
}

// What each processor holds over the steps: its pieces and acquired copies. Processors that hold the same share a
// curve; many different curves are drawn as the band between the least and the most.
export function memoryView(data, state, width, height) {
  const all = memoryOverTime(data);
  const peak = mostOf(data.peak_bytes);
  const cap = data.memory_bytes ?? 0;
  const top = Math.max(1, mostOf(all.map(mostOf)), peak, cap);
  const right = width - NAMES;
  const x = (f) => AXIS_LEFT + 8 + ((f + 0.5) * (right - AXIS_LEFT - 16)) / Math.max(1, all.length);
  const y = (bytes) => height - BASE - ((height - BASE - 44) * bytes) / top;
  const levels = data.machines[data.statements[0]?.machine ?? 0];
  const curves = memoryCurves(all, all.length > 0 ? data.processors : 0);
  const content = [
    ...axisLabels(right + 10, height, top, BASE, "bytes held by each processor").slice(1),
    label(AXIS_LEFT - 8, y(top) + 4, bytesText(top), { class: "tick" }),
  ];
  if (curves.length <= MOST_CURVES) content.push(...curveLines(levels, curves, x, y, right, height - BASE));
  else {
    const name = label(right + 6, height / 2, "from the least to the most", { class: "small left" });
    content.push(bandOf(all, x, y), name);
  }
  if (state.processor !== null && all.length > 0) {
    const values = all.map((now) => now[state.processor]);
    content.push(element("path", { d: staircase(values, x, y), class: "memory selected", fill: "none" }));
  }
  content.push(...limitLine(peak, "reserved by the processor that needs most", y, right));
  if (cap > 0) content.push(...limitLine(cap, "allowed", y, right));
  content.push(...stepLabels(data, all.length, x, height, right));
  return { content: group({ class: "chart" }, content), width, height };
}

function stepLabels(data, count, x, height, right) {
  const numbers = stepNumbers(data);
  const wide = 12 + 7 * String(stepsInAll(data)).length;
  const every = Math.max(1, Math.ceil((wide * count) / (right - AXIS_LEFT)));
  const shown = numbers.map((_, f) => f).filter((f) => f % every === 0);
  const middle = (right + AXIS_LEFT) / 2;
  return [
    ...shown.map((f) => label(x(f), height - BASE + 16, numbers[f], { class: "tick middle" })),
    label(middle, height - 8, count > 0 ? "step" : counted(0, "step"), { class: "small" }),
  ];
}
