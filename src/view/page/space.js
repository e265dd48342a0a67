// The execution space of a statement: each processor's work as a box in the space of three indices, and its shadows on
// the tensors' planes. The shadow is what the processor needs of the tensor; planes have the colours of the owners.
import { dimensionOn, passes } from "./axes.js";
import { ranges } from "./blocks.js";
import { colourOf, inkOn } from "./colour.js";
import { processorName } from "./machine.js";
import { bannerRoom, drawnAccesses, drawPlane, rays } from "./planes.js";
import { brick, byDepth, facet, frameOf, hides, onPage } from "./solid.js";
import { group, label, polygon } from "./svg.js";
import { shortened } from "./text.js";

const SHORTEST = 0.3; // of an axis, in lengths of the longest
const THIN = 0.08; // the extent along an axis that the statement does not have
const MOST_LETTERS = { wide: 12, narrow: 7 }; // of the name of an axis
const NARROW = 500;
const MOST_BRICKS = 64; // of one processor; more are drawn as the box around them

class Space {
  constructor(data, state, width) {
    this.data = data;
    this.state = state;
    this.width = width;
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

  isComputing() {
    return this.state.frame.work.some((block) => block >= 0);
  }

  // The work of the last frame that computes something.
  workBefore() {
    const before = this.statement.frames.slice(0, this.state.index);
    return before.findLast(({ work }) => work.some((block) => block >= 0))?.work ?? [];
  }

  // The work of this frame that the picture shows: [{processor, block}].
  work(blocks = this.state.frame.work) {
    const { fixed } = this.state;
    return blocks
      .map((block, processor) => ({ block, processor }))
      .filter(({ block }) => block >= 0 && passes(this.data, block, this.everyIndex(), this.axes, fixed));
  }
}

// The names of the axes stand at the edges of the box, outside the banners that hang there.
function axisNames(space, scaled) {
  const [a, b, c] = space.lengths;
  const past = (d) => bannerRoom(space, d);
  const most = space.width < NARROW ? MOST_LETTERS.narrow : MOST_LETTERS.wide;
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
      const text = `${shortened(name, most)}: ${extent}`;
      return label(x + dx, y + dy, text, { class: "axis", style: `text-anchor:${anchor}` });
    })
    .join("");
}

function drawBricks(space, work, scaled, unit, allFaded) {
  const selected = space.state.processor;
  const all = work.flatMap(({ block, processor }) => space.boxes(block).map((box) => ({ box, processor })));
  all.sort(byDepth);
  const plain = all.length > 600;
  const faded = (processor) => allFaded || (selected !== null && processor !== selected);
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

// Tensors that have all axes of the picture are the box itself.
function fillers(space) {
  return space.statement.accesses.filter(
    (access) => space.axes.length === 3 && space.axes.every((axis) => dimensionOn(access, axis) >= 0),
  );
}

function noteOf(space, isComputing, work) {
  if (isComputing && work.length === 0) return "nothing is computed here at this step";
  const names = fillers(space).map((access) => space.data.tensors[access.tensor].name);
  return names.length > 0 ? `the box is ${[...new Set(names)].join(" and ")} itself` : "";
}

// {content, width, height}. `state` has statement, frame, axes, fixed, processor (or null) and tensor (or null).
export function spaceView(data, state, width, height) {
  const space = new Space(data, state, width);
  const work = space.work();
  const isComputing = space.isComputing();
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
    drawBricks(space, isComputing ? work : space.work(space.workBefore()), scaled, unit, !isComputing),
    frameOf(box, scaled, { class: "edge" }),
    ...planes.map(({ plane }) => rays(space, plane, shown, scaled)),
    axisNames(space, scaled),
  ];
  const note = noteOf(space, isComputing, work);
  if (note) content.push(label(width / 2, height - 6, note, { class: "note" }));
  return { content: group({ class: "space" }, content), width, height };
}
