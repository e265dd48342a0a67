// The functions of the page, each by itself.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { byteTicks, LINE_HEIGHT, spreadHeights } from "../../src/view/page/axis_labels.js";
import { defaultAxes, passes } from "../../src/view/page/axes.js";
import { contains, ranges, rangesWithin, volume } from "../../src/view/page/blocks.js";
import { planRows, stepNumbers, stepsInAll, trafficMatrix } from "../../src/view/page/charts.js";
import { candidateName } from "../../src/view/page/choice.js";
import { colourOf, hexOf, inkOn } from "../../src/view/page/colour.js";
import { blockText, describe } from "../../src/view/page/describe.js";
import { bytesOverTime, exchangedOverTime, heldAt, homeBytes } from "../../src/view/page/film.js";
import { memoryOverTime, messagesOf } from "../../src/view/page/film.js";
import { layoutOf } from "../../src/view/page/layout.js";
import { coordinatesOf, leader, processorName, setName } from "../../src/view/page/machine.js";
import { memoryCurves } from "../../src/view/page/memory.js";
import { byDepth, hides, onPage } from "../../src/view/page/solid.js";
import { element, escaped } from "../../src/view/page/svg.js";
import { elementAt, multiplesOf, ownersOf, shownDimensions, tensorPanel } from "../../src/view/page/tensors.js";
import { bytesText, counted, withCommas } from "../../src/view/page/text.js";
import { areNeighbours, representatives, sample, styleOf } from "../../src/view/page/traffic.js";
import { captionOf, frameAtStep, stateOf, svgFile, VIEWS } from "../../src/view/page/views.js";
import { small, style } from "./support.js";

// The build joins the modules in one scope.
test("names at the top of modules are unique", () => {
  const folder = new URL("../../src/view/page/", import.meta.url);
  const modules = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const owners = new Map();
  for (const name of modules) {
    const text = readFileSync(new URL(name, folder), "utf8");
    for (const [, found] of text.matchAll(/^(?:export )?(?:function|const|let|class) (\w+)/gm)) {
      if (name === "command.js" || name === "main.js") continue;
      assert.ok(!owners.has(found), `${found} is in ${owners.get(found)} and in ${name}`);
      owners.set(found, name);
    }
  }
  for (const name of ["command.js", "main.js"]) {
    const text = readFileSync(new URL(name, folder), "utf8");
    for (const [, found] of text.matchAll(/^(?:export )?(?:function|const|let|class) (\w+)/gm)) {
      assert.ok(!owners.has(found), `${found} is in ${owners.get(found)} and in ${name}`);
    }
  }
});

test("what was weighed", () => {
  const candidate = (exchanged, memory, reason) => ({
    grid: [{ index: "i", processors: 4, tile: 2 }, { index: null, processors: 2, tile: 0 }],
    loops: [{ index: "k", steps: 3 }],
    exchanged_bytes: exchanged,
    peak_bytes_per_processor: memory,
    seconds: 2e-3,
    reason,
  });
  const alternatives = [candidate(2048, 512, "it moves more")];
  const choice = { statement: "A(i) = b(i)", ...candidate(1024, 4096), alternatives, lower_bound_bytes: 1000 };
  const weighed = { ...small, choices: [choice] };
  const state = stateOf(weighed);
  assert.equal(candidateName(choice), "i 4, k in 3 steps");
  assert.deepEqual(describe(weighed, state, { choice: "0,1" }), [
    "i 4, k in 3 steps",
    "the busiest processor exchanges 2.0 KiB",
    "a processor needs at most 512 B",
    "modelled time 2.00 ms",
    "it moves more",
  ]);
  const { content } = VIEWS.choice(weighed, state);
  assert.equal(content.match(/class="chosen"/g).length, 1);
  assert.equal(content.match(/class="weighed"/g).length, 1);
  assert.match(content, /class="limit"/);
  assert.doesNotMatch(content, /NaN|undefined/);
  assert.match(VIEWS.choice(small, stateOf(small)).content, /leaves nothing out/);
});

test("blocks are products of ranges", () => {
  assert.deepEqual(ranges(small, 2), [[0, 2], [4, 6]]);
  assert.deepEqual(rangesWithin(small, 2, [1, 5]), [[1, 2], [4, 5]]);
  assert.equal(volume(small, 0), 8);
  assert.equal(volume(small, 3), 4);
  const inBlock0 = (row, column) => row % 2 === 0 && column % 4 < 2;
  for (let row = 0; row < 4; ++row) {
    for (let column = 0; column < 6; ++column) {
      assert.equal(contains(small, 0, [row, column]), inBlock0(row, column), `${row}, ${column}`);
    }
  }
});

test("every element has the owner of a block-cyclic distribution", () => {
  for (let row = 0; row < 4; ++row) {
    for (let column = 0; column < 6; ++column) {
      const owner = 2 * (row % 2) + (Math.floor(column / 2) % 2);
      assert.deepEqual(ownersOf(small, 0, [row, column]), [owner]);
      assert.deepEqual(ownersOf(small, 1, [column]), [0, 1, 2, 3]);
    }
  }
});

test("the place of an element in a flat picture tells its coordinates", () => {
  const { content } = tensorPanel(small, 0, 200, 200);
  const [, elements] = content.match(/data-elements="([^"]*)"/);
  const [left, top, width, height] = elements.split(",").map(Number);
  const at = (row, column) => elementAt(small, 0, elements, left + (column + 0.5) * width, top + (row + 0.5) * height);
  for (let row = 0; row < 4; ++row) {
    for (let column = 0; column < 6; ++column) assert.deepEqual(at(row, column), [row, column]);
  }
  const state = stateOf(small);
  assert.deepEqual(describe(small, state, { tensor: "0", block: "3", element: [1, 3] }), [
    "A(1, 3) lives on 1,1",
    "in the piece A[1:2+3:4, 2:4]",
  ]);
  const other = describe(small, state, { tensor: "0", block: "3", element: [0, 0] });
  assert.deepEqual(other, ["A[1:2+3:4, 2:4] lives on 1,1"]);
  const [, line] = tensorPanel(small, 1, 200, 200).content.match(/data-elements="([^"]*)"/);
  const [x, , wide] = line.split(",").map(Number);
  assert.deepEqual(elementAt(small, 1, line, x + 4.5 * wide, 50), [4]);
});

test("a tensor without elements has an outline", () => {
  const data = structuredClone(small);
  Object.assign(data.tensors[0], { shape: [0, 6], pieces: [-1, -1, -1, -1] });
  const { content } = tensorPanel(data, 0, 200, 200);
  assert.match(content, /class="far"/);
  assert.match(content, />no elements</);
  assert.doesNotMatch(content, /NaN|undefined|Infinity|data-elements/);
});

test("a tensor that is cut along four dimensions has several pictures", () => {
  const data = structuredClone(small);
  data.runs = [[0, 2, 2, 1], [2, 2, 2, 1]];
  const numbers = Array.from({ length: 16 }, (_, p) => p);
  data.blocks = numbers.map((p) => [p >> 3, (p >> 2) & 1, (p >> 1) & 1, p & 1]);
  data.machines = [[[2, 2], [2, 2]]];
  data.tensors = [{ ...data.tensors[0], shape: [4, 4, 4, 4], format: "", pieces: numbers }];
  assert.deepEqual(multiplesOf(data, 0), [[[3, 0, 2]], [[3, 2, 4]]]);
  const shown = multiplesOf(data, 0).map((parts) => {
    const { content } = tensorPanel(data, 0, 200, 200, {}, parts);
    return [...new Set([...content.matchAll(/data-block="(\d+)"/g)].map(([, block]) => Number(block)))];
  });
  assert.deepEqual(shown.map((blocks) => blocks.sort((a, b) => a - b)), [
    numbers.filter((p) => p % 2 === 0),
    numbers.filter((p) => p % 2 === 1),
  ]);
  assert.match(tensorPanel(data, 0, 200, 200, {}, [[3, 2, 4]]).content, />dimension 3: 2 to 3</);
  assert.deepEqual(multiplesOf(small, 0), [[]]);
});

test("a long format is set in lines that can be read", () => {
  const data = structuredClone(small);
  data.tensors[0].format =
    "ik -> i, ik -> i, ik -> k cyclic(k = ceildiv(n, 16)*4), ik -> k, ik -> k cyclic(k = 2) on M";
  const { content } = tensorPanel(data, 0, 130, 200);
  const lines = [...content.matchAll(/style="font-size:([\d.]+)px">([^<]*)</g)].slice(1);
  assert.equal(lines.length, 3);
  assert.ok(lines.every(([, size]) => Number(size) >= 8));
  assert.match(lines[2][2], / …$/);
});

test("lines of text stay apart and within their room", () => {
  assert.deepEqual(spreadHeights([50, 20], 10, 90), [50, 20]);
  for (const wanted of [[0, 0, 0], [88, 90, 95], [40, 41, 42, 43], [90, 0]]) {
    const sorted = spreadHeights(wanted, 10, 90).sort((a, b) => a - b);
    assert.ok(sorted[0] >= 10 && sorted.at(-1) <= 90, `${wanted}`);
    sorted.slice(1).forEach((h, n) => assert.ok(h - sorted[n] >= LINE_HEIGHT, `${wanted}`));
  }
});

test("ticks are round numbers of bytes", () => {
  assert.deepEqual(byteTicks(100, 5), [0, 32, 64, 96]);
  assert.deepEqual(byteTicks(5 << 20, 6), [0, 1, 2, 3, 4, 5].map((n) => n << 20));
  assert.deepEqual(byteTicks(0, 5), [0]);
});

test("processors that hold the same share a curve", () => {
  const curves = memoryCurves([[1, 2, 1], [3, 3, 3]], 3);
  assert.deepEqual(curves, [{ processors: [0, 2], values: [1, 3] }, { processors: [1], values: [2, 3] }]);
});

test("of many messages, some senders or receivers stand for all", () => {
  const message = (source, destination, tensor, pattern, kind = "fetch") => {
    return { source, destination, tensor, pattern, kind };
  };
  const broadcasts = [];
  for (let row = 0; row < 64; ++row) {
    for (let column = 1; column < 64; ++column) broadcasts.push(message(64 * row, 64 * row + column, 0, "broadcast"));
  }
  const shown = representatives(broadcasts, 200);
  const senders = new Set(shown.map((m) => m.source));
  assert.equal(senders.size, 3);
  assert.equal(shown.length, 3 * 63);
  const sums = broadcasts.map((m) => message(m.destination, m.source, 1, "reduce", "add"));
  assert.deepEqual(new Set(representatives(sums, 200).map((m) => m.destination)), senders);
  const shifts = Array.from({ length: 4096 }, (_, p) => message(p, (p + 1) % 4096, 2, "shift"));
  assert.equal(representatives(shifts, 200).length, 200);
  const mixed = representatives([...broadcasts, ...sums, ...shifts], 300);
  assert.ok(mixed.length <= 300);
  assert.deepEqual([0, 1, 2].map((t) => new Set(mixed.filter((m) => m.tensor === t).map((m) => m.source)).size > 1), [
    true,
    true,
    true,
  ]);
  assert.equal(representatives(shifts.slice(0, 200), 200).length, 200);
});

test("processors have coordinates and names", () => {
  const levels = [[2, 3], [4]];
  assert.deepEqual(coordinatesOf(levels, 23), [1, 2, 3]);
  assert.equal(processorName(levels, 6), "0,1|2");
  assert.equal(processorName(levels, 24), "#24");
  assert.equal(leader(levels, 1, 7), 4);
  assert.equal(leader(levels, 2, 7), 7);
  assert.equal(setName([[2, 2]], [0, 1]), "0,*");
  assert.equal(setName([[2, 2]], [1, 3]), "*,1");
  assert.equal(setName([[2, 2]], [0, 3]), "0,0 +1");
  assert.equal(setName([[2, 2]], []), "nobody");
});

test("processors of any machine have places of their own", () => {
  const machines = [
    ...[[[1]], [[7]], [[3, 4]], [[2, 3, 4]], [[2, 2, 2, 3]]],
    ...[[[2, 2], [2, 2]], [[2], [3, 2, 2], [2, 2]], [[4], [4], [4]], [[3], [4]]],
  ];
  for (const levels of [...machines, [[2, 2, 2, 2, 2]]]) {
    const { nodes, width, height } = layoutOf(levels);
    assert.equal(nodes.length, levels.flat().reduce((a, b) => a * b, 1));
    nodes.forEach(({ x, y }, n) => {
      assert.ok(x >= -1e-9 && x + 1 <= width + 1e-9, `${JSON.stringify(levels)} ${n}: x ${x} of ${width}`);
      assert.ok(y >= -1e-9 && y + 1 <= height + 1e-9, `${JSON.stringify(levels)} ${n}: y ${y} of ${height}`);
      for (const other of nodes.slice(0, n)) {
        const apart = Math.abs(other.x - x) >= 1 || Math.abs(other.y - y) >= 1;
        assert.ok(apart, `${JSON.stringify(levels)}: ${n} lies on another`);
      }
    });
  }
});

test("two or three levels that are lines lie like one grid", () => {
  const { nodes } = layoutOf([[3, 4, 2]]);
  assert.deepEqual(layoutOf([[3], [4], [2]]).nodes, nodes);
  const { groups } = layoutOf([[3], [4]]);
  assert.equal(groups.length, 3);
  assert.equal(colourOf([[3], [4]], [5]), colourOf([[3, 4]], [5]));
  assert.equal(layoutOf([[2, 2], [4]]).groups.length, 4);
});

test("neighbours are one step apart in the innermost level", () => {
  assert.ok(areNeighbours([[2, 3]], 0, 1));
  assert.ok(areNeighbours([[2, 3]], 0, 3));
  assert.ok(!areNeighbours([[2, 3]], 0, 2));
  assert.ok(!areNeighbours([[2, 3]], 0, 4));
  assert.ok(!areNeighbours([[2], [2]], 0, 2));
});

test("colours of a grid differ, and text on them can be read", () => {
  for (const levels of [[[8]], [[4, 4]], [[2, 2, 2]], [[2, 2], [2, 2]]]) {
    const total = levels.flat().reduce((a, b) => a * b, 1);
    const colours = Array.from({ length: total }, (_, p) => colourOf(levels, [p]));
    assert.equal(new Set(colours).size, total, JSON.stringify(levels));
  }
  assert.equal(hexOf(1, 0, 0), "#ffffff");
  assert.equal(hexOf(0, 0, 0), "#000000");
  assert.equal(inkOn("#ffffff"), "#1a1a1a");
  assert.equal(inkOn("#002050"), "#ffffff");
});

test("copies are held from their fetch until they are given up", () => {
  assert.deepEqual([...heldAt(small, 0, 0).get(0)], [[1, [4]], [2, [4]]]);
  assert.deepEqual([...heldAt(small, 0, 1).get(0)], [[2, [4]]]);
  assert.deepEqual(homeBytes(small), [112, 80, 112, 80]);
  assert.deepEqual(memoryOverTime(small), [[112, 128, 160, 80], [112, 80, 160, 80]]);
});

test("bytes add up", () => {
  assert.deepEqual(
    bytesOverTime(small).map(({ bytes, soFar }) => [bytes, soFar]),
    [[96, 96], [64, 160]],
  );
  const messages = messagesOf(small, small.statements[0].frames[0]);
  assert.deepEqual(messages.map((m) => [m.source, m.destination, m.bytes]), [[0, 1, 48], [0, 2, 48]]);
  assert.deepEqual(trafficMatrix(small), [[0, 48, 48, 0], [0, 0, 0, 0], [0, 0, 0, 0], [64, 0, 0, 0]]);
  assert.deepEqual(trafficMatrix(small, 2), [[48, 48], [64, 0]]);
});

test("the busiest processor stays above the bound", () => {
  assert.deepEqual(exchangedOverTime(small), [{ most: 48, bound: 40 }, { most: 64, bound: 40 }]);
});

test("messages between groups keep their bytes", () => {
  const frame = { moves: [{ tensor: 0, kind: "fetch", pattern: "mixed", groups: { size: 2, messages: [0, 1, 24] } }] };
  const [message] = messagesOf(small, frame);
  assert.deepEqual([message.source, message.destination, message.bytes, message.block], [0, 2, 24, undefined]);
});

test("equal steps of the plan share a row", () => {
  const twice = structuredClone(small);
  const statement = twice.statements[0];
  statement.frames.push({ ...statement.frames[1], frame: 2 });
  statement.frames_in_all = 3;
  const rows = planRows(twice);
  assert.deepEqual(rows.map((r) => [r.first, r.last, r.tensor, r.why]), [
    [1, 1, "b", "needed by the computation"],
    [2, 3, "A", "partial sums go home"],
  ]);
  assert.deepEqual(stepNumbers(twice), [1, 2, 3]);
  assert.equal(stepsInAll(twice), 3);
});

test("steps count from 1 over all statements, also where frames are left out", () => {
  const sparse = structuredClone(small);
  sparse.statements[0].frames[1].frame = 9;
  sparse.statements[0].frames_in_all = 10;
  assert.equal(frameAtStep(sparse, 1), 0);
  assert.equal(frameAtStep(sparse, 2), 1);
  assert.equal(frameAtStep(sparse, 0), 1);
  assert.equal(frameAtStep(sparse, 99), 1);
});

test("axes are first the indices along which work differs", () => {
  assert.deepEqual(defaultAxes(small, 0), [0, 1]);
  const five = structuredClone(small);
  five.blocks = [[5, 0, 5, 0, 0], [5, 1, 5, 1, 1]];
  five.statements[0].indices = ["i", "j", "k", "l", "m"].map((name) => ({ name, extent: 4, summed: false }));
  five.statements[0].frames = [{ ...five.statements[0].frames[0], work: [0, 1] }];
  assert.deepEqual(defaultAxes(five, 0), [1, 3, 4]);
});

test("a slider's value selects the blocks that contain it", () => {
  assert.ok(passes(small, 0, [0, 1], [0], [null, 4]));
  assert.ok(!passes(small, 0, [0, 1], [0], [null, 2]));
  assert.ok(passes(small, 0, [0, 1], [0], [null, null]));
  assert.ok(passes(small, 0, [0, 1], [0, 1], [null, 2]));
});

test("nearer boxes are drawn later and hide points", () => {
  const box = (a, b, c) => ({ box: { lo: [a, b, c], hi: [a + 1, b + 1, c + 1] } });
  const boxes = [box(0, 1, 1), box(0, 0, 0), box(1, 0, 0)].sort(byDepth);
  assert.deepEqual(boxes.map(({ box: { lo } }) => lo), [[1, 0, 0], [0, 0, 0], [0, 1, 1]]);
  assert.ok(hides(box(0, 0, 0).box, onPage([0.5, 0.5, 1])));
  assert.ok(!hides(box(0, 0, 0).box, onPage([0, 3, 0])));
});

test("shift, broadcast, gather and reduction look different", () => {
  assert.equal(styleOf({ kind: "fetch", pattern: "shift" }), "shift");
  assert.equal(styleOf({ kind: "fetch", pattern: "broadcast" }), "broadcast");
  assert.equal(styleOf({ kind: "fetch", pattern: "gather" }), "gather");
  assert.equal(styleOf({ kind: "add to partial", pattern: "reduce" }), "reduce");
  assert.equal(styleOf({ kind: "replicate", pattern: "reduce" }), "broadcast");
});

test("what the pointer says", () => {
  const state = stateOf(small);
  assert.equal(blockText(small, 0), "[0:1+2:3, 0:2+4:6]");
  assert.deepEqual(describe(small, state, { p: "1" }), [
    "processor 0,1",
    "has A[0:1+2:3, 2:4]",
    "has b[0:6]",
    "computes (i, j) in [0:1+2:3, 2:4]",
    "receives b[0:6], 48 B, from 0,0",
  ]);
  assert.deepEqual(describe(small, state, { tensor: "0", owner: "2" }), ["A[1:2+3:4, 0:2+4:6] lives on 1,0"]);
  const everywhere = "b[0:6] lives on 0,0 and 0,1 and 1,0 and 1,1";
  assert.deepEqual(describe(small, state, { tensor: "1", block: "4" }), [everywhere]);
  assert.deepEqual(describe(small, state, { from: "0", to: "2" }), ["0,0 → 1,0: b[0:6], 48 B (broadcast)"]);
  assert.deepEqual(describe(small, state, { pair: "0,1,48" }), ["0,0 → 0,1: 48 B"]);
  assert.deepEqual(describe(small, state, {}), []);
});

test("captions", () => {
  const caption = captionOf(small, stateOf(small, { step: 2 }));
  assert.equal(caption.title, "Step 2 of 2 · ko = 1");
  assert.deepEqual(caption.moved, [{ tensor: 0, text: "A is reduced: 64 B in 1 message" }]);
  assert.equal(caption.total, "160 B of 160 B moved so far");
  assert.equal(caption.memory, "the fullest processor holds 160 B of 170 B reserved");
  const capped = { ...small, memory_bytes: 180 };
  const one = captionOf(capped, stateOf(capped, { step: 1, processor: 1 }));
  assert.equal(one.memory, "the chosen processor holds 128 B of 130 B reserved, 180 B allowed");

});

test("numbers", () => {
  assert.equal(withCommas(1234567), "1,234,567");
  assert.equal(bytesText(512), "512 B");
  assert.equal(bytesText(1536), "1.5 KiB");
  assert.equal(bytesText(300 * 1024), "300 KiB");
  assert.equal(counted(1, "message"), "1 message");
  assert.deepEqual(sample([1, 2, 3, 4, 5], 2), [1, 4]);
});

test("text is escaped", () => {
  assert.equal(escaped('<a & "b">'), "&lt;a &amp; &quot;b&quot;&gt;");
  const rect = element("rect", { width: 1.234567, class: "a<b", missing: undefined });
  assert.equal(rect, '<rect width="1.23" class="a&lt;b"/>');
});

test("programs without a step, or without a statement", () => {
  const still = structuredClone(small);
  still.statements[0].frames = [];
  still.statements[0].frames_in_all = 0;
  const empty = { ...structuredClone(small), statements: [] };
  for (const data of [still, empty]) {
    for (const view of Object.keys(VIEWS)) {
      assert.doesNotMatch(svgFile(data, stateOf(data), view, style), /NaN|undefined|Infinity/, view);
    }
  }
});

// The names of a picture with the largest font that is said for them.
const namesIn = (content) =>
  [...content.matchAll(/<text x="([^"]*)" [^>]*class="name[^"]*"[^>]*?(?:font-size:([\d.]+)px)?"?>([^<]*)</g)].map(
    ([, x, size, text]) => ({ x: Number(x), size: Number(size ?? 14), text }),
  );

test("long names stay within the picture", () => {
  const long = structuredClone(small);
  const name = "amplitudes_of_the_equation_of_coupled_cluster";
  long.tensors[0].name = name;
  long.statements[0].indices[0].name = "an_index_of_occupied_orbitals";
  long.statements[0].frames[0].moved = { [name]: { bytes: 96, messages: 2, pattern: "broadcast" } };
  for (const width of [380, 1040]) {
    const { content } = VIEWS.film(long, stateOf(long), width);
    assert.ok(!content.includes("an_index_of_occupied_orbitals: 4"), "axes have short names");
    assert.ok(content.includes(width < 500 ? "an_ind…: 4" : "an_index_of…: 4"));
    for (const { x, size, text } of namesIn(content)) {
      assert.ok(0.3 * size * text.length <= Math.min(x, width - x) + 8, `${text} at ${x} of ${width}`);
      assert.ok(size >= 9, text);
    }
  }
  const names = namesIn(VIEWS.film(long, stateOf(long), 1040).content);
  assert.ok(names.some(({ text }) => text.startsWith("amplitudes_of_")));
  const { content } = VIEWS.plan(long, stateOf(long), 1040);
  assert.ok(!content.includes(name), "columns are cut off");
});

test("two vectors along one axis hang beside each other", () => {
  const vectors = structuredClone(small);
  vectors.statements[0].accesses = [0, 1, 1].map((tensor) => ({ tensor, indices: tensor === 0 ? [0, 1] : [1] }));
  vectors.tensors.push({ ...vectors.tensors[1], name: "c" });
  vectors.statements[0].accesses.push({ tensor: 2, indices: [1] });
  const { content } = VIEWS.film(vectors, stateOf(vectors), 1040);
  const names = namesIn(content.slice(0, content.indexOf('class="machine'))).map(({ text }) => text);
  assert.deepEqual(names.sort(), ["A(i, j)", "b(j)", "c(j)"], "and each of them once");
});

test("all views draw the picture without a number that is none", () => {
  for (const view of Object.keys(VIEWS)) {
    for (const choice of [{}, { step: 0 }, { processor: 2 }, { axes: [1] }, { axes: [1, 0], tensor: 1 }]) {
      for (const width of [380, 1040]) {
        const { content, height } = VIEWS[view](small, stateOf(small, choice), width);
        assert.ok(height > 0);
        assert.doesNotMatch(content, /NaN|undefined|Infinity/, `${view} ${JSON.stringify(choice)}`);
      }
    }
    const file = svgFile(small, stateOf(small), view, style);
    assert.deepEqual(file.match(/https?:[^"]*/g), ["http://www.w3.org/2000/svg"]);
  }
});
