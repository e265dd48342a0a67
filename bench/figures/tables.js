// The tables of a Markdown file, as rows of cells by the names of the columns.

const cellsOf = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());

// [{heading, columns, rows: [{column: cell}]}], in the order of the file. `heading` is the nearest one above.
export function tablesOf(text) {
  const out = [];
  let heading = "";
  let open = null;
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) heading = line.replace(/^#+ */, "");
    if (!line.startsWith("|")) {
      open = null;
    } else if (!open) {
      open = { heading, columns: cellsOf(line), rows: [] };
      out.push(open);
    } else if (!/^[|\s:-]+$/.test(line)) {
      const cells = cellsOf(line);
      open.rows.push(Object.fromEntries(open.columns.map((column, n) => [column, cells[n] ?? ""])));
    }
  }
  return out;
}

const NUMBER = String.raw`(\d+(?:\.\d+)?)`;

// A measured ratio: "1.244 (1.04 to 1.65), **missed**" is {value, lo, hi, missed}. Without a spread, lo and hi are the
// value. Null for a cell without a number.
export function ratioOf(cell, spread = cell) {
  const value = cell.match(new RegExp(`^${NUMBER}`));
  if (!value) return null;
  const range = spread.match(new RegExp(`${NUMBER} to ${NUMBER}`));
  const middle = Number(value[1]);
  const [lo, hi] = range ? [Number(range[1]), Number(range[2])] : [middle, middle];
  return { value: middle, lo, hi, missed: /missed/.test(cell) };
}
