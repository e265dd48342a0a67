// What the page computes from the data of real plans, against what the compiler counts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { bytesOverTime, exchangedOverTime } from "../../src/view/page/film.js";
import { trafficMatrix } from "../../src/view/page/charts.js";
import { stateOf, svgFile, VIEWS } from "../../src/view/page/views.js";
import { allFrames } from "../../src/view/page/film.js";
import { style } from "./support.js";

const distal = process.env.DISTAL_BINARY;
const root = new URL("../../", import.meta.url);
const programs = [
  ...readdirSync(new URL("algorithms", root)).map((name) => `algorithms/${name}`),
  "docs/pictures/two-levels.distal",
  "docs/pictures/copy.distal",
];

const json = (...words) => JSON.parse(execFileSync(distal, words, { cwd: root, maxBuffer: 1 << 28 }));

test("totals of all programs are those of explain", { skip: !distal }, () => {
  for (const program of programs) {
    const data = json("draw", program, "--json");
    const told = json("explain", program, "--json");
    assert.equal(bytesOverTime(data).at(-1)?.soFar ?? 0, told.bytes_moved, program);
    assert.equal(trafficMatrix(data).flat().reduce((a, b) => a + b, 0), told.bytes_moved, program);
    const last = exchangedOverTime(data);
    data.statements.forEach((statement, s) => {
      const end = allFrames(data).findLastIndex((f) => f.statement === s);
      assert.equal(last[end].most, told.certificates[s].exchanged_bytes, program);
      assert.equal(last[end].bound, told.certificates[s].lower_bound_bytes, program);
    });
  }
});

test("all programs are drawn in all views", { skip: !distal }, () => {
  for (const program of programs) {
    const data = json("draw", program, "--json");
    for (const view of Object.keys(VIEWS)) {
      for (const choice of [{ step: 1 }, { step: 0 }, { step: 1, processor: data.processors - 1 }]) {
        const file = svgFile(data, stateOf(data, choice), view, style);
        assert.doesNotMatch(file, /NaN|undefined|Infinity/, `${program} ${view}`);
      }
    }
  }
});
