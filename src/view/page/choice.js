// What the search weighed: each candidate as a point of bytes against memory.
import { byteTicks } from "./axis_labels.js";
import { element, group, label, short } from "./svg.js";
import { bytesText } from "./text.js";

const INSET = 96;
const FLOOR = 46;
const PLOT_HEIGHT = 300;

// "i 4 × j 4, k in 2 steps".
export function candidateName({ grid, loops }) {
  const cuts = grid.filter(({ index }) => index !== null).map(({ index, processors }) => `${index} ${processors}`);
  const steps = loops.map(({ index, steps: count }) => `${index} in ${count} steps`);
  return [cuts.join(" × ") || "one processor", ...steps].join(", ");
}

// The candidates of a statement, the chosen one first.
export const candidatesOf = (choice) => [choice, ...choice.alternatives];

export function timeText(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds >= 1e-3 ? `${(seconds * 1e3).toFixed(2)} ms` : `${(seconds * 1e6).toFixed(1)} µs`;
}

// The lines about a candidate.
export function describeCandidate(choice, number) {
  const candidate = candidatesOf(choice)[number];
  return [
    number === 0 ? `${candidateName(candidate)}: chosen` : candidateName(candidate),
    `the busiest processor exchanges ${bytesText(candidate.exchanged_bytes)}`,
    `a processor needs at most ${bytesText(candidate.peak_bytes_per_processor)}`,
    `modelled time ${timeText(candidate.seconds)}`,
    ...(candidate.reason ? [candidate.reason] : []),
  ];
}

function choicePlot(choice, statement, width, cap) {
  const all = candidatesOf(choice);
  const bound = choice.lower_bound_bytes ?? 0;
  const most = Math.max(1, bound, ...all.map((c) => c.exchanged_bytes)) * 1.12;
  const top = Math.max(1, cap, ...all.map((c) => c.peak_bytes_per_processor)) * 1.12;
  const x = (bytes) => INSET + ((width - INSET - 30) * bytes) / most;
  const y = (bytes) => PLOT_HEIGHT - FLOOR - ((PLOT_HEIGHT - FLOOR - 40) * bytes) / top;
  const points = all.map((c, n) => {
    const at = { cx: x(c.exchanged_bytes), cy: y(c.peak_bytes_per_processor) };
    const attributes = { ...at, r: n === 0 ? 8 : 6, class: n === 0 ? "chosen" : "weighed" };
    attributes["data-choice"] = `${statement},${n}`;
    return element("circle", attributes) + label(at.cx + 12, at.cy + 4, n + 1, { class: "small left" });
  });
  const ticks = [
    ...byteTicks(top, 6).map((bytes) => label(INSET - 8, y(bytes) + 4, bytesText(bytes), { class: "tick" })),
    ...byteTicks(most, 8).flatMap((bytes) => [
      element("line", {
        x1: x(bytes),
        x2: x(bytes),
        y1: PLOT_HEIGHT - FLOOR,
        y2: PLOT_HEIGHT - FLOOR + 4,
        class: "axisline",
      }),
      label(x(bytes), PLOT_HEIGHT - FLOOR + 16, bytesText(bytes), { class: "tick middle" }),
    ]),
    label((INSET + width) / 2, PLOT_HEIGHT - 12, "bytes that the busiest processor exchanges", { class: "small" }),
    label(INSET, 32, "bytes that a processor needs at most", { class: "small left" }),
  ];
  const frame = `M${INSET} ${short(y(top))}V${PLOT_HEIGHT - FLOOR}H${short(width - 30)}`;
  const limit = { x1: x(bound), x2: x(bound), y1: y(top), y2: PLOT_HEIGHT - FLOOR, class: "limit" };
  const allowed = { x1: INSET, x2: width - 30, y1: y(cap), y2: y(cap), class: "limit" };
  return [
    label(16, 16, choice.statement, { class: "caption left" }),
    element("path", { d: frame, class: "axisline", fill: "none" }),
    ...(bound > 0 ? [element("line", limit), label(x(bound) + 4, y(top) + 4, "bound", { class: "small left" })] : []),
    ...(cap > 0 ? [element("line", allowed), label(width - 32, y(cap) - 5, "allowed", { class: "tick" })] : []),
    ...ticks,
    // The chosen one is drawn last, over the others.
    ...points.reverse(),
  ];
}

function choiceTable(choice, top, width) {
  const columns = [16, 40, Math.max(220, width * 0.3), Math.max(330, width * 0.42), Math.max(430, width * 0.53)];
  const last = Math.max(520, width * 0.63);
  const row = (texts, n, attributes) =>
    texts.map((text, c) => label([...columns, last][c], top + 19 * n, text, attributes)).join("");
  const head = row(["", "candidate", "exchanged", "memory", "time", ""], 0, { class: "caption small left" });
  const rows = candidatesOf(choice).map((c, n) => {
    const sizes = [c.exchanged_bytes, c.peak_bytes_per_processor].map(bytesText);
    const why = n === 0 ? "chosen" : c.reason;
    return row([n + 1, candidateName(c), ...sizes, timeText(c.seconds), why], n + 1, { class: "said left" });
  });
  return [head, ...rows];
}

// One plot and table for each statement for which something was found.
export function choiceView(data, state, width = 1040) {
  const choices = data.choices ?? [];
  if (choices.length === 0) {
    const text = "The program leaves nothing out, so nothing was weighed.";
    return { content: label(16, 24, text, { class: "said" }), width, height: 40 };
  }
  const content = [];
  let y = 0;
  choices.forEach((choice, statement) => {
    const plot = choicePlot(choice, statement, width, data.memory_bytes ?? 0);
    const table = choiceTable(choice, PLOT_HEIGHT + 20, width);
    content.push(group({ transform: `translate(0 ${y})` }, [...plot, ...table]));
    y += PLOT_HEIGHT + 60 + 19 * candidatesOf(choice).length;
  });
  return { content: content.join(""), width, height: y };
}
