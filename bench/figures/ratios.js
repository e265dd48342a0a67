// Ratios as dots with their spreads: one row for each case, one panel for each competitor, on logarithmic scales.
import { tensorColour } from "../../src/view/page/colour.js";
import { element, escaped, group, label, short } from "../../src/view/page/svg.js";

const ROW = 20;
const TOP = 66;
const BOTTOM = 30;
const LETTER = 6.6; // the width of a letter of a label, about
const GAP = 22; // between panels
const LEAST_PANEL = 84;
const MARGIN = 14;
const LEGEND = 84; // for the name of a series

const SHAPES = [
  (x, y) => element("circle", { cx: x, cy: y, r: 3.6 }),
  (x, y) => element("path", { d: `M${short(x)} ${short(y - 4.8)}l4.8 4.8l-4.8 4.8l-4.8 -4.8Z` }),
  (x, y) => element("rect", { x: x - 3.3, y: y - 3.3, width: 6.6, height: 6.6 }),
];

// A dot of a series, whose shape and colour tell the series apart.
function dot(series, x, y) {
  const colour = tensorColour(series + 1);
  return group({ fill: colour, stroke: colour, class: "dot" }, SHAPES[series % SHAPES.length](x, y));
}

// Ratios that can be ticks, the more important ones first.
const TICKS = [1, 10, 100, 0.1, 2, 5, 0.5, 20, 50, 0.2, 1.5, 3, 0.8, 30, 1.2, 7, 70, 0.7, 0.9, 1.1, 1.3, 0.6];
const TICK_ROOM = 27;

// A scale from [lo, hi] to pixels, and the ratios that are its ticks. It always contains 1.
export function scaleOf(ratios, width) {
  const values = ratios.flatMap(({ lo, hi }) => [lo, hi]);
  const lowest = Math.min(0.93, ...values) / 1.03;
  const highest = Math.max(1.08, ...values) * 1.03;
  const x = (ratio) => (Math.log(ratio / lowest) / Math.log(highest / lowest)) * width;
  const ticks = [];
  for (const tick of TICKS) {
    const isFree = ticks.every((other) => Math.abs(x(other) - x(tick)) >= TICK_ROOM);
    if (tick >= lowest && tick <= highest && isFree) ticks.push(tick);
  }
  return { x, ticks };
}

const ratiosOf = (rows, columns) =>
  rows.flatMap(({ ratios }) => columns.flatMap((column) => ratios[column].map(({ ratio }) => ratio)));

function panel(column, rows, seriesNames, { x, ticks }, left, width, bottom) {
  const at = (ratio) => left + x(ratio);
  const out = [label(left + width / 2, TOP - 24, column, { class: "name", style: "font-size:12.5px" })];
  for (const tick of ticks) {
    const edge = { x1: at(tick), x2: at(tick), y1: TOP - 12, y2: bottom };
    out.push(element("line", { ...edge, class: tick === 1 ? "one" : "grid" }));
    out.push(label(at(tick), bottom + 14, tick, { class: "tick middle" }));
  }
  rows.forEach(({ ratios }, n) => {
    for (const { series, ratio } of ratios[column]) {
      const shift = seriesNames.length > 1 ? (series - (seriesNames.length - 1) / 2) * 7 : 0;
      const y = TOP + n * ROW + shift;
      const said = `${seriesNames[series]} ${ratio.value}`.trim();
      const whisker = { x1: at(ratio.lo), x2: at(ratio.hi), y1: y, y2: y, class: "whisker" };
      const parts = [element("title", {}, escaped(said)), element("line", whisker), dot(series, at(ratio.value), y)];
      out.push(group({ class: ratio.missed ? "ratio missed" : "ratio" }, parts));
    }
  });
  return out;
}

// A figure: {title, note, columns, series, rows: [{label, ratios: {column: [{series, ratio}]}}]}. Its panels have one
// scale if `isCommon`, otherwise each its own.
export function ratiosFigure({ title, note, columns, series, rows, isCommon }, style, width = 1040) {
  const names = Math.max(...rows.map((row) => row.label.length)) * LETTER + 2 * MARGIN;
  const room = Math.max(LEAST_PANEL, (width - names - MARGIN) / columns.length - GAP);
  const bottom = TOP + (rows.length - 1) * ROW + 12;
  const content = [label(MARGIN, 20, title, { class: "caption left" })];
  rows.forEach((row, n) => {
    const y = TOP + n * ROW;
    if (n % 2 === 1) {
      content.push(element("rect", { x: 0, y: y - ROW / 2, width, height: ROW, class: "stripe" }));
    }
    content.push(label(MARGIN, y + 4, row.label, { class: "said" }));
  });
  columns.forEach((column, n) => {
    const scale = scaleOf(ratiosOf(rows, isCommon ? columns : [column]), room);
    content.push(...panel(column, rows, series, scale, names + n * (room + GAP), room, bottom));
  });
  series.forEach((name, n) => {
    if (name === "") return;
    const x = width - MARGIN - (series.length - n) * LEGEND;
    content.push(dot(n, x, 16), label(x + 10, 20, name, { class: "said" }));
  });
  const height = bottom + BOTTOM + 14;
  content.push(label(MARGIN, height - 8, note, { class: "small left" }));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${short(height)}" width="${width}" ` +
    `height="${short(height)}" class="picture" role="img">\n<title>${escaped(title)}</title>\n` +
    `<style>${style}</style>\n<rect class="paper" width="100%" height="100%"/>\n${content.join("\n")}\n</svg>\n`
  );
}
