// Draws the figures of the benchmarks again, from the pages with their results.
// Usage: node bench/figures/draw.js [--check]
// With --check nothing is written; the exit status is 1 if a figure differs from the one that is checked in.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FIGURES } from "./list.js";
import { ratiosFigure } from "./ratios.js";
import { ratioOf, tablesOf } from "./tables.js";

const ROOT = new URL("../../", import.meta.url);
const FOLDER = new URL("bench/pictures/", ROOT);
const LARGEST = 100_000; // bytes, so that a page loads fast

const read = (name) => readFileSync(new URL(name, ROOT), "utf8");

// The rows of a figure, from the text of its page. Cases of several series share a row.
export function figureOf(spec, text) {
  const table = tablesOf(text).find(({ heading, columns }) => heading === spec.heading && columns.includes(spec.has));
  if (!table) throw new Error(`${spec.file} has no table with ${spec.has} below the heading ${spec.heading}`);
  const series = [...new Set(table.rows.map(spec.series))];
  const rows = new Map();
  for (const row of table.rows) {
    const name = spec.label(row);
    if (!rows.has(name)) {
      rows.set(name, { label: name, ratios: Object.fromEntries(spec.columns.map((column) => [column, []])) });
    }
    for (const column of spec.columns) {
      const ratio = ratioOf(row[column], spec.spread ? row[spec.spread] : row[column]);
      if (ratio) rows.get(name).ratios[column].push({ series: series.indexOf(spec.series(row)), ratio });
    }
  }
  return { ...spec, series, rows: [...rows.values()] };
}

export function draw(name) {
  const style = read("src/view/page/drawing.css") + read("bench/figures/figures.css");
  return ratiosFigure(figureOf(FIGURES[name], read(FIGURES[name].file)), style);
}

// What is wrong with the figures that are checked in, as lines.
function mistakes() {
  const out = [];
  for (const name of Object.keys(FIGURES)) {
    const file = new URL(`${name}.svg`, FOLDER);
    const drawn = draw(name);
    if (!existsSync(file) || readFileSync(file, "utf8") !== drawn) {
      const again = "node bench/figures/draw.js draws it again";
      out.push(`bench/pictures/${name}.svg is not what ${FIGURES[name].file} says; ${again}`);
    }
    if (drawn.length >= LARGEST) out.push(`bench/pictures/${name}.svg has ${drawn.length} bytes; at most ${LARGEST}`);
  }
  for (const kept of readdirSync(FOLDER)) {
    if (!FIGURES[kept.replace(/\.svg$/, "")]) out.push(`bench/pictures/${kept} is in no list`);
  }
  return out;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes("--check")) {
    const found = mistakes();
    console.log(found.length > 0 ? found.join("\n") : `${Object.keys(FIGURES).length} figures are as drawn`);
    process.exitCode = found.length > 0 ? 1 : 0;
  } else {
    mkdirSync(FOLDER, { recursive: true });
    for (const name of Object.keys(FIGURES)) writeFileSync(new URL(`${name}.svg`, FOLDER), draw(name));
  }
}
