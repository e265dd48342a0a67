// The figures of the benchmarks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { draw, figureOf } from "../../bench/figures/draw.js";
import { FIGURES } from "../../bench/figures/list.js";
import { ratiosFigure, scaleOf } from "../../bench/figures/ratios.js";
import { ratioOf, tablesOf } from "../../bench/figures/tables.js";

const PAGE = `# Results

| n | machine | speed | / other |
| --- | --- | --- | --- |
| 4 | Intel | 12 | 1.5 (1.2 to 2.0) |
| 4 | AMD | 11 | 0.9 (0.8 to 1), **missed** |
| 8 | AMD | 10 |  |

## Others

| x |
| --- |
| 1 |
`;

const SPEC = {
  title: "Speed",
  note: "a note",
  file: "page",
  heading: "Results",
  has: "/ other",
  label: (row) => `n = ${row.n}`,
  series: (row) => row.machine,
  columns: ["/ other"],
};

test("tables of a page", () => {
  const [first, second] = tablesOf(PAGE);
  assert.deepEqual([first.heading, first.rows.length], ["Results", 3]);
  assert.deepEqual([second.heading, second.rows], ["Others", [{ x: "1" }]]);
  assert.deepEqual(first.rows[2], { n: "8", machine: "AMD", speed: "10", "/ other": "" });
});

test("cells with ratios", () => {
  assert.deepEqual(ratioOf("1.5 (1.2 to 2.0)"), { value: 1.5, lo: 1.2, hi: 2, missed: false });
  assert.deepEqual(ratioOf("0.9 (0.8 to 1), **missed**"), { value: 0.9, lo: 0.8, hi: 1, missed: true });
  assert.deepEqual(ratioOf("2.194 at 7"), { value: 2.194, lo: 2.194, hi: 2.194, missed: false });
  assert.equal(ratioOf(""), null);
  assert.equal(ratioOf("not measured"), null);
});

test("a figure has a row for each case, and a mark for each series", () => {
  const figure = figureOf(SPEC, PAGE);
  assert.deepEqual(figure.series, ["Intel", "AMD"]);
  assert.deepEqual(figure.rows.map(({ label, ratios }) => [label, ratios["/ other"].map((r) => r.series)]), [
    ["n = 4", [0, 1]],
    ["n = 8", []],
  ]);
  const apart = figureOf({ ...SPEC, columns: ["speed"], spread: "/ other" }, PAGE).rows[0].ratios.speed[0].ratio;
  assert.deepEqual(apart, { value: 12, lo: 1.2, hi: 2, missed: false });
  const svg = ratiosFigure(figure, "");
  assert.equal(svg.match(/class="ratio"/g).length, 1);
  assert.equal(svg.match(/class="ratio missed"/g).length, 1);
  assert.match(svg, /<title>AMD 0.9<\/title>/);
  assert.throws(() => figureOf({ ...SPEC, has: "/ none" }, PAGE), /page has no table with \/ none below the heading/);
});

test("scales contain 1 and the spreads, and ticks are apart", () => {
  const { x, ticks } = scaleOf([{ value: 3, lo: 2, hi: 80 }], 200);
  assert.ok(ticks.includes(1) && ticks.includes(10));
  assert.ok(x(1) > 0 && x(80) < 200);
  const places = ticks.map(x).sort((a, b) => a - b);
  places.slice(1).forEach((place, n) => assert.ok(place - places[n] >= 27));
});

test("every figure is drawn from its page", () => {
  for (const name of Object.keys(FIGURES)) {
    const svg = draw(name);
    assert.doesNotMatch(svg, /NaN|undefined|Infinity/, name);
    assert.deepEqual(svg.match(/https?:[^"]*/g), ["http://www.w3.org/2000/svg"], name);
  }
});
