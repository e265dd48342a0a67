// Which indices of a statement the film shows as axes, and which values of the other indices are chosen.
import { listContains } from "./blocks.js";

// The numbers of up to three indices: first those along which the work of processors or steps differs, and among these
// the first ones; in the order of the statement.
export function defaultAxes(data, statement) {
  const s = data.statements[statement];
  const lists = s.indices.map(() => new Set());
  for (const frame of s.frames) {
    for (const block of frame.work) {
      if (block >= 0) data.blocks[block].forEach((list, d) => lists[d].add(list));
    }
  }
  const numbers = s.indices.map((_, number) => number);
  const differ = numbers.filter((number) => lists[number].size > 1);
  const same = numbers.filter((number) => lists[number].size <= 1);
  return [...differ, ...same].slice(0, 3).sort((x, y) => x - y);
}

// Whether a block contains the chosen values of the indices that are no axes. `fixed` has a value, or null for all
// values, by index. `indices` says which index each dimension of the block has.
export function passes(data, block, indices, axes, fixed) {
  return data.blocks[block].every((list, d) => {
    const index = indices[d];
    const value = fixed[index];
    return axes.includes(index) || value === null || value === undefined || listContains(data, list, value);
  });
}

// The dimension of a tensor's access that an axis shows, or -1.
export const dimensionOn = (access, axis) => access.indices.indexOf(axis);
