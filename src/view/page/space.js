// The execution space of a statement: each processor's work as a box in the space of three indices, and its shadows on
// the tensors' planes. The shadow is what the processor needs of the tensor; planes have the colours of the owners.
import { dimensionOn, passes } from "./axes.js";
import { ranges } from "./blocks.js";
import { colourOf, inkOn } from "./colour.js";
import { processorName, setName } from "./machine.js";
import { brick, byDepth, facet, frameOf, hides, onPage } from "./solid.js";
import { element, group, label, polygon } from "./svg.js";

const SHORTEST = 0.3; // of an axis, in lengths of the longest
const THIN = 0.08; // the extent along an axis that the statement does not have
const BANNER = 0.3; // the height of a tensor that shares one axis with the picture
const BANNER_GAP = 0.1;
const MOST_BRICKS = 64; // of one processor; more are drawn as the box around them
const MOST_CELLS = 6000;
const MOST_OVERLAPS = 200_000; // of cells and shadows that are compared
const MOST_OUTLINES = 300; // of shadows

class Space {
  constructor(data, state) {
    this.data = data;
    this.state = state;
    this.statement = data.statements[state.statement];
    this.axes = state.axes;
    this.levels = data.machines[this.statement.machine];
    const extents = this.axes.map((axis) => Math.max(1, this.statement.indices[axis].extent));
    const longest = Math.max(1, ...extents);
    this.units = [0, 1, 2].map((d) => (d < extents.length ? Math.max(SHORTEST, extents[d] / longest) / extents[d] : 0));
    this.lengths = [0, 1, 2].map((d) => (d < extents.length ? this.units[d] * extents[d] : THIN));
  }

  colour(processor) {
    return colourOf(this.levels, [processor]);
  }

  // [lo, hi] along the d-th axis of the picture, in units of the picture.
  extent(d, [lo, hi]) {
    return [lo * this.units[d], hi * this.units[d]];
  }

  rangesOn(block, d) {
    if (d >= this.axes.length) return [[0, THIN]];
    return ranges(this.data, this.data.blocks[block][this.axes[d]]).map((r) => this.extent(d, r));
  }

  // The boxes of a block of work.
  boxes(block) {
    let lists = [0, 1, 2].map((d) => this.rangesOn(block, d));
    const count = lists.reduce((n, list) => n * list.length, 1);
    if (count > MOST_BRICKS) lists = lists.map((list) => [[list[0][0], list[list.length - 1][1]]]);
    const out = [];
    for (const a of lists[0]) {
      for (const b of lists[1]) {
        for (const c of lists[2]) out.push({ lo: [a[0], b[0], c[0]], hi: [a[1], b[1], c[1]] });
      }
    }
    return out;
  }

  everyIndex() {
    return this.statement.indices.map((_, i) => i);
  }

  // The work of this frame that the picture shows: [{processor, block}].
  work() {
    const { frame, fixed } = this.state;
    return frame.work
      .map((block, processor) => ({ block, processor }))
      .filter(({ block }) => block >= 0 && passes(this.data, block, this.everyIndex(), this.axes, fixed));
  }
}

// How a tensor lies around the box: {origin, u, v, list(block) -> ranges along u and v}. Null if it shares no axis with
// the picture, or fills it.
function planeOf(space, access, side = 0) {
  const shown = [0, 1, 2].filter((d) => d < space.axes.length && dimensionOn(access, space.axes[d]) >= 0);
  if (shown.length === 2) return facePlane(space, access, shown, side);
  if (shown.length === 1) return bannerPlane(space, access, shown[0]);
  return null;
}

// `side` is 0 before the box and 1 behind it.
function facePlane(space, access, [u, v], side) {
  const missing = 3 - u - v;
  const away = 1.06 * Math.min(space.lengths[u], space.lengths[v]) + 0.04;
  const origin = [0, 0, 0];
  const isLow = (missing === 0) === (side === 0);
  origin[missing] = isLow ? -away : space.lengths[missing] + away;
  return {
    origin,
    u,
    v,
    missing,
    side,
    sides: [space.lengths[u], space.lengths[v]],
    rangesU: axisRanges(space, access, u),
    rangesV: axisRanges(space, access, v),
    needU: needRanges(space, access, u),
    needV: needRanges(space, access, v),
  };
}

const axisRanges = (space, access, d) => (block) =>
  ranges(space.data, space.data.blocks[block][dimensionOn(access, space.axes[d])]).map((r) => space.extent(d, r));

// The same of a block of work, whose dimensions are the statement's indices.
const needRanges = (space, access, d) => (block) =>
  ranges(space.data, space.data.blocks[block][space.axes[d]]).map((r) => space.extent(d, r));

// A tensor with one axis of the picture hangs from an edge of the box, with its next dimension downwards.
function bannerPlane(space, access, u) {
  const gap = BANNER_GAP;
  const [a, , c] = space.lengths;
  const origins = [[0, 0, c + gap], [a + gap, 0, c], [a + gap, space.lengths[1], 0]];
  const other = access.indices.findIndex((index) => index !== space.axes[u]);
  const extent = other < 0 ? 1 : Math.max(1, space.statement.indices[access.indices[other]].extent);
  const squeezed = (list) => list.map(([lo, hi]) => [(lo / extent) * BANNER, (hi / extent) * BANNER]);
  const across = (block, d) => (d < 0 ? [[0, BANNER]] : squeezed(ranges(space.data, space.data.blocks[block][d])));
  return {
    origin: origins[u],
    u,
    v: u === 0 ? 2 : 0,
    missing: -1,
    sides: [space.lengths[u], BANNER],
    rangesU: axisRanges(space, access, u),
    rangesV: (block) => across(block, other),
    needU: needRanges(space, access, u),
    needV: (block) => across(block, other < 0 ? -1 : access.indices[other]),
  };
}

function cellPath(plane, scaled, [lo, hi], [from, to]) {
  const origin = [...plane.origin];
  origin[plane.u] += lo;
  origin[plane.v] += from;
  return facet(origin, plane.u, hi - lo, plane.v, to - from).map(scaled);
}

const product = (listU, listV) => listU.flatMap((u) => listV.map((v) => [u, v]));

// The owners of each distinct piece: [{block, owners}].
function distinctPieces(space, tensor, access) {
  const owners = new Map();
  space.data.tensors[tensor].pieces.forEach((block, p) => {
    if (block < 0 || !passes(space.data, block, access.indices, space.axes, space.state.fixed)) return;
    if (!owners.has(block)) owners.set(block, []);
    owners.get(block).push(p);
  });
  return [...owners].map(([block, list]) => ({ block, owners: list }));
}

function overlapOf([a, b], [c, d]) {
  const [lo, hi] = [Math.max(a, c), Math.min(b, d)];
  return lo < hi ? [lo, hi] : null;
}

// The parts of the cells that lie in a shadow. Of many cells and shadows, those that coincide.
function neededParts(cells, shadows) {
  if (cells.length * shadows.length > MOST_OVERLAPS) {
    const keys = new Set(shadows.map(([u, v]) => `${u}|${v}`));
    return cells.filter(({ u, v }) => keys.has(`${u}|${v}`));
  }
  return cells.flatMap(({ u, v, owners }) =>
    shadows
      .map(([needU, needV]) => ({ u: overlapOf(u, needU), v: overlapOf(v, needV), owners }))
      .filter((part) => part.u && part.v),
  );
}

const covers = ([a, b], [c, d]) => a <= c && d <= b;

// The parts of the plane that the shown work needs: distinct [rangeU, rangeV].
function shadowsOn(plane, work) {
  const seen = new Map();
  for (const { block } of work) {
    for (const [u, v] of product(plane.needU(block), plane.needV(block))) seen.set(`${u}|${v}`, [u, v]);
  }
  return [...seen.values()];
}

function drawPlane(space, access, plane, work, scaled, unit) {
  const { data } = space;
  const tensor = data.tensors[access.tensor];
  const levels = data.machines[tensor.machine];
  const pieces = distinctPieces(space, access.tensor, access);
  const cells = pieces.flatMap(({ block, owners }) =>
    product(plane.rangesU(block), plane.rangesV(block)).map(([u, v]) => ({ u, v, owners })),
  );
  const shadows = shadowsOn(plane, work);
  const out = [];
  const drawCell = (u, v, owners, opacity) => {
    const fill = colourOf(levels, owners);
    const who = owners.length <= 8 ? owners.map((p) => `p${p}`).join(" ") : `p${owners[0]}`;
    const attributes = { fill, "fill-opacity": opacity, class: cells.length > 600 ? `cell plain ${who}` : `cell ${who}`, "data-tensor": access.tensor };
    attributes["data-owner"] = owners[0];
    return polygon(cellPath(plane, scaled, u, v), attributes);
  };
  if (cells.length <= MOST_CELLS) {
    for (const { u, v, owners } of cells) out.push(drawCell(u, v, owners, 0.22));
    for (const { u, v, owners } of neededParts(cells, shadows)) out.push(drawCell(u, v, owners, 0.95));
    if (cells.length <= 100) {
      for (const cell of cells) {
        const used = shadows.some(([u, v]) => covers(u, cell.u) && covers(v, cell.v));
        const ink = used ? inkOn(colourOf(levels, cell.owners)) : undefined;
        out.push(cellLabel(plane, scaled, cell, setName(levels, cell.owners), unit, ink));
      }
    }
  }
  const whole = cellPath(plane, scaled, [0, plane.sides[0]], [0, plane.sides[1]]);
  out.push(polygon(whole, { class: "edge", fill: "none" }));
  for (const [u, v] of shadows.length <= MOST_OUTLINES ? shadows : []) {
    out.push(polygon(cellPath(plane, scaled, u, v), { class: "shadow", fill: "none" }));
  }
  out.push(planeName(space, access, plane, whole));
  return out.join("");
}

function cellLabel(plane, scaled, { u, v, owners }, text, unit, ink) {
  const corners = cellPath(plane, scaled, u, v);
  const [x, y] = [0, 1].map((d) => corners.reduce((sum, c) => sum + c[d], 0) / 4);
  const room = Math.min(u[1] - u[0], v[1] - v[0]) * unit;
  const size = Math.min(13, room * 0.42, (1.5 * (room * 0.95)) / Math.max(2, text.length));
  if (size < 5.5 || owners.length === 0) return "";
  return label(x, y, text, { class: "on", "font-size": size, style: ink && `fill:${ink}` });
}

function planeName(space, access, plane, corners) {
  const tensor = space.data.tensors[access.tensor];
  const names = access.indices.map((i) => space.statement.indices[i].name).join(", ");
  const text = `${tensor.name}(${names})`;
  const output = access === space.statement.accesses[0] && space.statement.accesses.length > 1;
  const lowest = corners.reduce((best, c) => (c[1] > best[1] ? c : best));
  const highest = corners.reduce((best, c) => (c[1] < best[1] ? c : best));
  const attributes = { class: output ? "name output" : "name", "data-tensor": access.tensor };
  if (plane.missing < 0 && plane.u > 0) {
    const [x, y] = corners[3];
    return label(x, y + 18, text, attributes);
  }
  if ((plane.missing === 0) === (plane.side === 0)) return label(highest[0], highest[1] - 8, text, attributes);
  return label(lowest[0], lowest[1] + 18, text, attributes);
}

// Lines from the corners of the selected processor's boxes to the corners of their shadow.
function rays(space, plane, work, scaled) {
  if (plane.missing < 0 || work.length !== 1) return "";
  const boxes = space.boxes(work[0].block);
  if (boxes.length > 1) return "";
  const { lo, hi } = boxes[0];
  const near = (plane.missing === 0) === (plane.side === 0) ? lo[plane.missing] : hi[plane.missing];
  const out = [];
  for (const x of [lo[plane.u], hi[plane.u]]) {
    for (const y of [lo[plane.v], hi[plane.v]]) {
      const from = [0, 0, 0];
      from[plane.u] = x;
      from[plane.v] = y;
      const to = [...from];
      from[plane.missing] = near;
      to[plane.missing] = plane.origin[plane.missing];
      const [x1, y1] = scaled(onPage(from));
      const [x2, y2] = scaled(onPage(to));
      out.push(element("line", { x1, y1, x2, y2, class: "ray" }));
    }
  }
  return out.join("");
}

// The names of the axes stand at the edges of the box, outside the banners that hang there.
function axisNames(space, planes, scaled) {
  const [a, b, c] = space.lengths;
  const past = (d) => (planes.some(({ plane }) => plane.missing < 0 && plane.u === d) ? BANNER + BANNER_GAP : 0);
  const spots = [
    { at: [a / 2, 0, c + past(0)], dx: -10, dy: 4, anchor: "end" },
    { at: [a + past(1), b / 2, c], dx: -6, dy: 16, anchor: "end" },
    { at: [a + past(2), b, c / 2], dx: 6, dy: 16, anchor: "start" },
  ];
  return space.axes
    .map((axis, d) => {
      const { at, dx, dy, anchor } = spots[d];
      const [x, y] = scaled(onPage(at));
      const { name, extent } = space.statement.indices[axis];
      return label(x + dx, y + dy, `${name}: ${extent}`, { class: "axis", style: `text-anchor:${anchor}` });
    })
    .join("");
}

function drawBricks(space, work, scaled, unit) {
  const selected = space.state.processor;
  const all = work.flatMap(({ block, processor }) => space.boxes(block).map((box) => ({ box, processor })));
  all.sort(byDepth);
  const plain = all.length > 600;
  const faded = (processor) => selected !== null && processor !== selected;
  const bricks = all.map(({ box, processor }) => {
    const classes = ["brick", `p${processor}`, faded(processor) && "faded", plain && "plain"];
    const attributes = { class: classes.filter(Boolean).join(" "), "data-p": processor };
    return brick(box, space.colour(processor), scaled, attributes);
  });
  if (plain) return bricks.join("");
  const labels = all.map(({ box, processor }, n) =>
    faded(processor) ? "" : brickLabel(space, box, processor, all.slice(n + 1), scaled, unit),
  );
  return bricks.join("") + labels.join("");
}

// The name of the processor on the left or the upper side of its box, unless a nearer box hides both.
function brickLabel(space, box, processor, nearer, scaled, unit) {
  const text = processorName(space.levels, processor);
  const sides = [0, 1, 2].map((d) => (box.hi[d] - box.lo[d]) * unit);
  const sizeOn = (room) => Math.min(14, (1.6 * room) / Math.max(3, text.length));
  const middle = box.lo.map((lo, d) => (lo + box.hi[d]) / 2);
  const spots = [
    { point: onPage([middle[0], middle[1], box.hi[2]]), size: sizeOn(Math.min(sides[0], sides[1])) },
    { point: onPage([box.lo[0], middle[1], middle[2]]), size: sizeOn(Math.min(sides[1], sides[2])) },
  ];
  const isFree = ({ point: [x, y], size }) => {
    const [w, h] = [(0.28 * size * text.length) / unit, (0.4 * size) / unit];
    const points = [[x, y], [x - w, y - h], [x + w, y - h], [x - w, y + h], [x + w, y + h]];
    return size >= 6.5 && !nearer.some(({ box: other }) => points.some((point) => hides(other, point)));
  };
  const spot = spots.find(isFree);
  if (!spot) return "";
  const [x, y] = scaled(spot.point);
  const ink = inkOn(space.colour(processor));
  return label(x, y, text, { class: "on", style: `fill:${ink}`, "font-size": spot.size });
}

// The accesses that are drawn: up to two for each pair of axes, before the box and behind it. A chosen tensor goes
// before others.
function drawnAccesses(space) {
  const chosen = space.state.tensor;
  const accesses = [...space.statement.accesses];
  if (chosen !== null) accesses.sort((x, y) => (y.tensor === chosen) - (x.tensor === chosen));
  const used = new Map();
  const out = [];
  for (const access of accesses) {
    const first = planeOf(space, access);
    if (!first) continue;
    const key = `${first.missing}|${first.u}`;
    const before = used.get(key) ?? 0;
    used.set(key, before + 1);
    if (before > (first.missing < 0 ? 0 : 1)) continue;
    out.push({ access, plane: before === 0 ? first : planeOf(space, access, 1) });
  }
  return out;
}

// Tensors that have all axes of the picture are the box itself.
function fillers(space) {
  return space.statement.accesses.filter(
    (access) => space.axes.length === 3 && space.axes.every((axis) => dimensionOn(access, axis) >= 0),
  );
}

// {content, width, height}. `state` has statement, frame, axes, fixed, processor (or null) and tensor (or null).
export function spaceView(data, state, width, height) {
  const space = new Space(data, state);
  const work = space.work();
  const planes = drawnAccesses(space);
  const [a, b, c] = space.lengths;
  const corners = [0, a].flatMap((x) => [0, b].flatMap((y) => [0, c].map((z) => onPage([x, y, z]))));
  for (const { plane } of planes) {
    corners.push(...facet(plane.origin, plane.u, plane.sides[0], plane.v, plane.sides[1]));
  }
  const span = [0, 1].map((d) => [Math.min(...corners.map((p) => p[d])), Math.max(...corners.map((p) => p[d]))]);
  const margin = { x: 50, y: 30 };
  const unit = Math.min(
    (width - 2 * margin.x) / (span[0][1] - span[0][0]),
    (height - 2 * margin.y) / (span[1][1] - span[1][0]),
  );
  const scaled = ([x, y]) => [
    width / 2 + (x - (span[0][0] + span[0][1]) / 2) * unit,
    height / 2 + (y - (span[1][0] + span[1][1]) / 2) * unit,
  ];
  const shown = state.processor === null ? work : work.filter(({ processor }) => processor === state.processor);
  const box = { lo: [0, 0, 0], hi: [a, b, c] };
  const hidden = facet([a, 0, 0], 1, b, 2, c).map(scaled);
  const content = [
    polygon(hidden, { class: "far", fill: "none" }),
    ...planes.map(({ access, plane }) => drawPlane(space, access, plane, shown, scaled, unit)),
    drawBricks(space, work, scaled, unit),
    frameOf(box, scaled, { class: "edge" }),
    ...planes.map(({ plane }) => rays(space, plane, shown, scaled)),
    axisNames(space, planes, scaled),
  ];
  const whole = fillers(space).map((access) => data.tensors[access.tensor].name);
  if (whole.length > 0) {
    const text = `the box is ${[...new Set(whole)].join(" and ")} itself`;
    content.push(label(width / 2, height - 6, text, { class: "note" }));
  }
  if (work.length === 0) content.push(label(width / 2, height - 6, "nothing is computed at this step", { class: "note" }));
  return { content: group({ class: "space" }, content), width, height };
}
