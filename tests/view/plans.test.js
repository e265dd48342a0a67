// What the page computes from the data of real plans, against what the compiler counts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { allFrames, bytesOverTime, exchangedOverTime } from "../../src/view/page/film.js";
import { trafficMatrix } from "../../src/view/page/charts.js";
import { spaceView } from "../../src/view/page/space.js";
import { stateOf, svgFile, VIEWS } from "../../src/view/page/views.js";
import { style } from "./support.js";

const distal = process.env.DISTAL_BINARY;
const root = new URL("../../", import.meta.url);
const programs = [
  ...readdirSync(new URL("algorithms", root))
    .filter((name) => name.endsWith(".distal"))
    .map((name) => `algorithms/${name}`),
  "docs/pictures/two-levels.distal",
  "docs/pictures/copy.distal",
  "docs/pictures/found.distal",
];

const json = (...words) => JSON.parse(execFileSync(distal, words, { cwd: root, maxBuffer: 1 << 28 }));

// What the page adds up for a plan is what explain counts.
function checkTotals(data, told, program) {
  assert.equal(bytesOverTime(data).at(-1)?.soFar ?? 0, told.bytes_moved, program);
  assert.equal(trafficMatrix(data).flat().reduce((a, b) => a + b, 0), told.bytes_moved, program);
  const exchanged = exchangedOverTime(data);
  data.statements.forEach((statement, s) => {
    const end = allFrames(data).findLastIndex((f) => f.statement === s);
    // A statement of tensors without elements has no steps.
    if (end < 0) return assert.equal(told.certificates[s].exchanged_bytes, 0, program);
    assert.equal(exchanged[end].most, told.certificates[s].exchanged_bytes, program);
    assert.equal(exchanged[end].bound, told.certificates[s].lower_bound_bytes, program);
  });
}

function checkViews(data, program) {
  for (const view of Object.keys(VIEWS)) {
    for (const choice of [{ step: 1 }, { step: 0 }, { step: 1, processor: data.processors - 1 }]) {
      const file = svgFile(data, stateOf(data, choice), view, style);
      assert.doesNotMatch(file, /NaN|undefined|Infinity/, `${program} ${view}`);
    }
  }
}

test("all programs are drawn, with the totals of explain", { skip: !distal }, () => {
  for (const program of programs) {
    const data = json("draw", program, "--json");
    checkTotals(data, json("explain", program, "--json"), program);
    checkViews(data, program);
  }
});

test("random programs are drawn, with the totals of explain", { skip: !distal || !process.env.PYTHON }, () => {
  const script = fileURLToPath(new URL("random_programs.py", import.meta.url));
  const texts = JSON.parse(execFileSync(process.env.PYTHON, ["-B", script, "1", "60"], { maxBuffer: 1 << 26 }));
  const folder = mkdtempSync(join(tmpdir(), "distal-draw-"));
  const file = join(folder, "random.distal");
  try {
    for (const text of texts) {
      writeFileSync(file, text);
      const data = json("draw", file, "--json");
      checkTotals(data, json("explain", file, "--json"), text);
      checkViews(data, text);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// A step of SUMMA needs all of A, a column of B and a row of C; the rest is pale.
test("strong colours are what the step needs", { skip: !distal }, () => {
  const data = json("draw", "algorithms/summa.distal", "--set", "gx=4,gy=4", "--json");
  const { content } = spaceView(data, stateOf(data, { step: 2 }), 600, 500);
  const strong = [...content.matchAll(/fill-opacity="0.95"[^>]*data-tensor="(\d)"/g)].map(([, tensor]) => tensor);
  const count = (tensor) => strong.filter((t) => t === tensor).length;
  assert.deepEqual(["0", "1", "2"].map(count), [16, 4, 4]);
});
