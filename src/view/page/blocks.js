// Blocks: sets of elements that are the product of one list of ranges for each dimension.
// A list of ranges is written as quadruples (lo, length, stride, count).

// The ranges [lo, hi) of a list, ascending.
export function ranges(data, list) {
  const out = [];
  const quadruples = data.runs[list];
  for (let q = 0; q < quadruples.length; q += 4) {
    const [lo, length, stride, count] = quadruples.slice(q, q + 4);
    for (let i = 0; i < count; ++i) out.push([lo + i * stride, lo + i * stride + length]);
  }
  return out;
}

function listLength(data, list) {
  const quadruples = data.runs[list];
  let sum = 0;
  for (let q = 0; q < quadruples.length; q += 4) sum += quadruples[q + 1] * quadruples[q + 3];
  return sum;
}

// The number of elements.
export function volume(data, block) {
  return data.blocks[block].reduce((product, list) => product * listLength(data, list), 1);
}

export function listContains(data, list, x) {
  const quadruples = data.runs[list];
  for (let q = 0; q < quadruples.length; q += 4) {
    const [lo, length, stride, count] = quadruples.slice(q, q + 4);
    const from = x - lo;
    if (from < 0 || stride === 0) continue;
    const number = count === 1 ? 0 : Math.floor(from / stride);
    if (number < count && from - number * stride < length) return true;
  }
  return false;
}

export function contains(data, block, point) {
  return data.blocks[block].every((list, d) => listContains(data, list, point[d]));
}

// [lo, hi) of the ranges in the given dimension, within a window [lo, hi).
export function rangesWithin(data, list, [lo, hi]) {
  return ranges(data, list)
    .map(([a, b]) => [Math.max(a, lo), Math.min(b, hi)])
    .filter(([a, b]) => a < b);
}

// The whole of a dimension of `extent` coordinates.
export const full = (extent) => [0, extent];
