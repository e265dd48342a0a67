// Machines: processors in row-major order over the dimensions of all levels.

export const extentsOf = (levels) => levels.flat();
export const processorsOf = (levels) => extentsOf(levels).reduce((a, b) => a * b, 1);

export function coordinatesOf(levels, processor) {
  const extents = extentsOf(levels);
  const out = new Array(extents.length);
  let rest = processor;
  for (let d = extents.length - 1; d >= 0; --d) {
    out[d] = rest % extents[d];
    rest = Math.floor(rest / extents[d]);
  }
  return out;
}

// Two or three levels that are lines are drawn like one grid. Other machines are drawn level by level.
export function drawnLevels(levels) {
  const areLines = levels.length > 1 && levels.length <= 3 && levels.every((level) => level.length === 1);
  return areLines ? [levels.flat()] : levels;
}

// "0,1", and "0,1|3" in a hierarchy. A processor that the machine does not have is shown by its number.
export function processorName(levels, processor) {
  if (processor >= processorsOf(levels)) return `#${processor}`;
  return levelText(levels, coordinatesOf(levels, processor));
}

function levelText(levels, coordinates) {
  let d = 0;
  return levels.map((level) => level.map(() => coordinates[d++]).join(",")).join("|");
}

// A name for a set of processors, such as "0,*": a star stands for all values of a coordinate. If the set is not such
// a product, the name has its first processor and the number of the others.
export function setName(levels, processors) {
  if (processors.length === 0) return "nobody";
  const extents = extentsOf(levels);
  const values = extents.map(() => new Set());
  for (const p of processors) coordinatesOf(levels, p).forEach((c, d) => values[d].add(c));
  const product = values.reduce((n, set) => n * set.size, 1);
  const simple = values.every((set, d) => set.size === 1 || set.size === extents[d]);
  if (simple && product === processors.length) {
    return levelText(
      levels,
      values.map((set, d) => (set.size === extents[d] && extents[d] > 1 ? "*" : [...set][0])),
    );
  }
  return `${processorName(levels, processors[0])} +${processors.length - 1}`;
}

// The first of the processors that share the coordinates of the outermost `shared` levels.
export function leader(levels, shared, processor) {
  const size = processorsOf(levels.slice(shared));
  return processor - (processor % size);
}
