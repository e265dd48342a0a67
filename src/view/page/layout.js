// Where the processors of a machine are drawn. A level of up to two dimensions is a grid, one of three a stack of
// grids seen from above, and further dimensions, like the levels of a hierarchy, are grids of grids.
import { coordinatesOf, drawnLevels, processorsOf } from "./machine.js";

const GAP = 0.8; // between nodes, in sizes of a node
const DEPTH = { x: 1.35, y: 1.15 }; // the step along a third dimension, in sizes of what lies there

// The extents of nested grids, outermost first, with at most three dimensions each.
function nests(levels) {
  const out = [];
  for (const level of levels) {
    const outer = level.length > 3 ? level.slice(0, level.length - 2) : [];
    for (let d = 0; d < outer.length; d += 2) out.push(outer.slice(d, d + 2));
    out.push(outer.length > 0 ? level.slice(outer.length) : level);
  }
  return out;
}

// One nest: the step from cell to cell, down, right and to the rear, and the size of a cell and of the whole.
function nestOf(extents, inner) {
  const [rows, columns, depth = 1] = extents.length === 1 ? [1, extents[0]] : extents;
  const rear = { x: DEPTH.x * inner.w, y: -DEPTH.y * inner.h };
  const step = { x: inner.w + GAP + (depth - 1) * rear.x, y: inner.h + GAP - (depth - 1) * rear.y };
  const whole = {
    w: (columns - 1) * step.x + (depth - 1) * rear.x + inner.w,
    h: (rows - 1) * step.y - (depth - 1) * rear.y + inner.h,
  };
  return { extents, inner, step, rear, whole, top: -(depth - 1) * rear.y };
}

function cellAt({ step, rear, top }, at) {
  const [row, column, depth = 0] = at.length === 1 ? [0, at[0]] : at;
  return { x: column * step.x + depth * rear.x, y: top + row * step.y + depth * rear.y };
}

// Positions in units of a node, and the size of all: {nodes: [{x, y}], width, height, groups: [{x, y, w, h}]}.
export function layoutOf(machine) {
  const levels = drawnLevels(machine);
  let whole = { w: 1, h: 1 };
  const stack = nests(levels)
    .reverse()
    .map((extents, n) => {
      const room = n === 0 ? 0 : GAP / 2; // around the group that a cell is
      const nest = nestOf(extents, { w: whole.w + room, h: whole.h + room });
      nest.size = whole;
      whole = nest.whole;
      return nest;
    })
    .reverse();
  const groups = new Map();
  const nodes = [];
  for (let p = 0; p < processorsOf(levels); ++p) nodes.push(place(levels, stack, p, groups));
  if (machine.length === 2 && levels.length === 1) rowGroups(levels[0], nodes, groups);
  return { nodes, width: whole.w, height: whole.h, groups: [...groups.values()] };
}

// Each row of a grid of two levels.
function rowGroups([rows, columns], nodes, groups) {
  for (let row = 0; row < rows; ++row) {
    const { x, y } = nodes[row * columns];
    groups.set(String(row), { x, y, w: nodes[columns - 1].x + 1 - x, h: 1 });
  }
}

function place(levels, stack, processor, groups) {
  const coordinates = coordinatesOf(levels, processor);
  let d = 0;
  let at = { x: 0, y: 0 };
  stack.forEach((nest, n) => {
    const here = coordinates.slice(d, d + nest.extents.length);
    d += nest.extents.length;
    const cell = cellAt(nest, here);
    at = { x: at.x + cell.x, y: at.y + cell.y };
    if (n + 1 < stack.length) {
      groups.set(coordinates.slice(0, d).join(), { ...at, ...nest.size });
    }
  });
  return at;
}
