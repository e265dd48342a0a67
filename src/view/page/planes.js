// The tensors around the execution space: each in the plane of the two axes that it shares with the picture, in the
// colours of its owners, with the shadows of the work on it.
import { dimensionOn, passes } from "./axes.js";
import { ranges } from "./blocks.js";
import { colourOf, inkOn } from "./colour.js";
import { movingBlocks } from "./film.js";
import { setName } from "./machine.js";
import { facet, onPage } from "./solid.js";
import { element, label, polygon, short } from "./svg.js";
import { shortened } from "./text.js";

export const BANNER = 0.3; // the height of a tensor that shares one axis with the picture
export const BANNER_GAP = 0.1;
const MOST_CELLS = 6000;
const MOST_OUTLINED_CELLS = 600;
const MOST_OVERLAPS = 200_000; // of cells and shadows that are compared
const MOST_OUTLINES = 300; // of shadows
const BOLD_LETTER = 0.6; // the width of a letter of a name, in sizes of its font
const LEAST_NAME_SIZE = 10;

// How a tensor lies around the box: {origin, u, v, list(block) -> ranges along u and v}. Null if it shares no axis with
// the picture, or fills it.
function planeOf(space, access, side = 0) {
  const shown = shownAxes(space, access);
  if (shown.length === 2) return facePlane(space, access, shown, side);
  if (shown.length === 1) return bannerPlane(space, access, shown[0], side);
  return null;
}

const shownAxes = (space, access) =>
  [0, 1, 2].filter((d) => d < space.axes.length && dimensionOn(access, space.axes[d]) >= 0);

const isSame = (a, b) => a.tensor === b.tensor && a.indices.join() === b.indices.join();

// The accesses of a statement, each of them once.
const distinctAccesses = ({ accesses }) => accesses.filter((a, n) => accesses.findIndex((b) => isSame(a, b)) === n);

const MOST_SIDES = 2; // before the box and behind it, or one banner outside of the other

// The room that the banners along an axis take beside the box.
export function bannerRoom(space, d) {
  const banners = distinctAccesses(space.statement).filter((access) => shownAxes(space, access).join() === String(d));
  return Math.min(MOST_SIDES, banners.length) * (BANNER + BANNER_GAP);
}

// `side` is 0 before the box and 1 behind it.
function facePlane(space, access, [u, v], side) {
  const missing = 3 - u - v;
  // The banners along the first axis hang on the side of the plane of the first two.
  const banners = missing === 2 && side === 0 ? bannerRoom(space, 0) : 0;
  const away = 1.06 * Math.min(space.lengths[u], space.lengths[v]) + 0.04 + banners;
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
function bannerPlane(space, access, u, side) {
  const gap = BANNER_GAP + side * (BANNER + BANNER_GAP);
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

// The parts of the cells that lie in a shadow. If there are many cells and shadows, only those that coincide.
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

// The parts of the plane that the shown work needs: distinct [rangeU, rangeV]. If the frame computes nothing, the parts
// that move.
function shadowsOn(space, access, plane, work) {
  const seen = new Map();
  const add = (listU, listV) => product(listU, listV).forEach(([u, v]) => seen.set(`${u}|${v}`, [u, v]));
  for (const { block } of work) add(plane.needU(block), plane.needV(block));
  if (space.isComputing()) return [...seen.values()];
  for (const block of movingBlocks(space.state, access.tensor)) add(plane.rangesU(block), plane.rangesV(block));
  return [...seen.values()];
}

export function drawPlane(space, access, plane, work, scaled, unit) {
  const { data } = space;
  const tensor = data.tensors[access.tensor];
  const levels = data.machines[tensor.machine];
  const pieces = distinctPieces(space, access.tensor, access);
  const cells = pieces.flatMap(({ block, owners }) =>
    product(plane.rangesU(block), plane.rangesV(block)).map(([u, v]) => ({ u, v, owners })),
  );
  const shadows = shadowsOn(space, access, plane, work);
  const out = [];
  const plain = cells.length > MOST_OUTLINED_CELLS ? "plain " : "";
  const drawCell = (u, v, owners, opacity) => {
    const fill = colourOf(levels, owners);
    const who = owners.length <= 8 ? owners.map((p) => `p${p}`).join(" ") : `p${owners[0]}`;
    const attributes = { fill, "fill-opacity": opacity, class: `cell ${plain}${who}` };
    attributes["data-tensor"] = access.tensor;
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

// How a tensor's access is written in this room: in a smaller font, without its indices, or cut off.
function fittedName(name, indices, room) {
  const sizeOf = (text) => Math.min(14, room / (BOLD_LETTER * text.length));
  const text = [`${name}(${indices})`, name].find((t) => sizeOf(t) >= LEAST_NAME_SIZE);
  if (text !== undefined) return { text, size: sizeOf(text) };
  const most = Math.floor(room / (BOLD_LETTER * LEAST_NAME_SIZE));
  return { text: shortened(name, Math.max(3, most)), size: LEAST_NAME_SIZE };
}

// Beside the end of the banner that points away from the box.
function bannerName(space, { u }, corners, fitted, attributes) {
  const [x, y] = corners[u === 0 ? 3 : u === 1 ? 3 : 0];
  const { text, size } = fitted(u === 2 ? space.width - x - 12 : x - 12);
  const style = `text-anchor:${u === 2 ? "start" : "end"};font-size:${short(size)}px`;
  return label(x + (u === 2 ? 8 : -8), y + 4, text, { ...attributes, style });
}

// A name near x, within [lo, hi].
function nameWithin([lo, hi], x, y, { text, size }, attributes) {
  const half = (BOLD_LETTER * size * text.length) / 2;
  const middle = Math.max(lo + half, Math.min(hi - half, x));
  return label(middle, y, text, { ...attributes, style: size < 14 ? `font-size:${short(size)}px` : undefined });
}

function planeName(space, access, plane, corners) {
  const tensor = space.data.tensors[access.tensor];
  const names = access.indices.map((i) => space.statement.indices[i].name).join(", ");
  const fitted = (room) => fittedName(tensor.name, names, room);
  const output = access === space.statement.accesses[0] && space.statement.accesses.length > 1;
  const lowest = corners.reduce((best, c) => (c[1] > best[1] ? c : best));
  const highest = corners.reduce((best, c) => (c[1] < best[1] ? c : best));
  const attributes = { class: output ? "name output" : "name", "data-tensor": access.tensor };
  if (plane.missing < 0) return bannerName(space, plane, corners, fitted, attributes);
  const [whole, half] = [[4, space.width - 4], space.width / 2];
  if ((plane.missing === 0) === (plane.side === 0)) {
    const name = fitted(space.width - 8);
    const aside = plane.side === 1 ? (BOLD_LETTER * name.size * name.text.length) / 2 : 0; // away from the upper plane
    return nameWithin(whole, highest[0] + aside, highest[1] - 8, name, attributes);
  }
  // Two such planes lie side by side.
  const part = lowest[0] < half ? [4, half - 4] : [half + 4, space.width - 4];
  return nameWithin(part, lowest[0], lowest[1] + 18, fitted(half - 8), attributes);
}

// Lines from the corners of the selected processor's boxes to the corners of their shadow.
export function rays(space, plane, work, scaled) {
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

// The accesses that are drawn: up to two for each axis and each pair of axes. A chosen tensor has precedence.
export function drawnAccesses(space) {
  const chosen = space.state.tensor;
  const accesses = distinctAccesses(space.statement);
  if (chosen !== null) accesses.sort((x, y) => (y.tensor === chosen) - (x.tensor === chosen));
  const used = new Map();
  const out = [];
  for (const access of accesses) {
    const first = planeOf(space, access);
    if (!first) continue;
    const key = `${first.missing}|${first.u}`;
    const before = used.get(key) ?? 0;
    used.set(key, before + 1);
    if (before >= MOST_SIDES) continue;
    out.push({ access, plane: before === 0 ? first : planeOf(space, access, 1) });
  }
  return out;
}
