// The labels of the axes of charts.
import { element, label } from "./svg.js";
import { bytesText } from "./text.js";

export const AXIS_LEFT = 74; // for the numbers of a vertical axis
export const LINE_HEIGHT = 13;

export function axisLabels(width, height, top, base, what) {
  return [
    label(AXIS_LEFT - 8, 22, bytesText(top), { class: "tick" }),
    label(AXIS_LEFT - 8, height - base, "0", { class: "tick" }),
    element("line", { x1: AXIS_LEFT, y1: height - base, x2: width - 10, y2: height - base, class: "axisline" }),
    label(AXIS_LEFT, 9, what, { class: "small", style: "text-anchor:start" }),
  ];
}

// The heights of lines of text: near the wanted heights, between `top` and `bottom`, and at least a line apart.
export function spreadHeights(wanted, top, bottom) {
  const order = wanted.map((_, n) => n).sort((p, q) => wanted[p] - wanted[q]);
  const out = [];
  order.forEach((n, rank) => {
    out[n] = Math.max(wanted[n], rank > 0 ? out[order[rank - 1]] + LINE_HEIGHT : top);
  });
  order.reverse().forEach((n, rank) => {
    out[n] = Math.min(out[n], rank > 0 ? out[order[rank - 1]] - LINE_HEIGHT : bottom);
  });
  return out;
}

// Round numbers of bytes from 0 to `top`: at most `most` of them, the next power of two apart.
export function byteTicks(top, most) {
  let step = 1;
  while (top / step >= most) step *= 2;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, n) => n * step);
}
