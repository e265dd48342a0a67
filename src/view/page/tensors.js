// Where tensors live: each tensor as its pieces, in the colours of their owners.
import { contains, listContains, ranges, rangesWithin } from "./blocks.js";
import { colourOf, inkOn, tensorColour } from "./colour.js";
import { copiesOf, movingBlocks } from "./film.js";
import { leader, setName } from "./machine.js";
import { brick, byDepth, faces, onPage } from "./solid.js";
import { element, group, label, polygon } from "./svg.js";
import { shortened } from "./text.js";

const MOST_RANGES = 64; // of one dimension; a tensor with more is cut off after these
const SHORTEST_SIDE = 0.22;

// The pieces of a tensor with the processors that have them: [{block, owners}].
export function pieces(data, tensor) {
  const owners = new Map();
  data.tensors[tensor].pieces.forEach((block, p) => {
    if (block < 0) return;
    if (!owners.has(block)) owners.set(block, []);
    owners.get(block).push(p);
  });
  return [...owners].map(([block, list]) => ({ block, owners: list }));
}

// The processors that have an element.
export function ownersOf(data, tensor, point) {
  return pieces(data, tensor)
    .filter(({ block }) => contains(data, block, point))
    .flatMap(({ owners }) => owners)
    .sort((a, b) => a - b);
}

// The distinct lists of ranges of a dimension.
function listsOf(data, tensor, d) {
  return new Set(data.tensors[tensor].pieces.filter((b) => b >= 0).map((b) => data.blocks[b][d]));
}

// The dimensions that a picture shows, up to three: all if there are no more, otherwise first those that are cut.
export function shownDimensions(data, tensor) {
  const numbers = data.tensors[tensor].shape.map((_, d) => d);
  if (numbers.length <= 3) return numbers;
  const cut = numbers.filter((d) => listsOf(data, tensor, d).size > 1);
  const uncut = numbers.filter((d) => !cut.includes(d));
  return [...cut, ...uncut].slice(0, Math.max(2, Math.min(3, cut.length))).sort((x, y) => x - y);
}

const MOST_MULTIPLES = 16;

// The dimensions that a picture cannot show although they are cut.
const hiddenCuts = (data, tensor) => {
  const shown = shownDimensions(data, tensor);
  const numbers = data.tensors[tensor].shape.map((_, d) => d);
  return numbers.filter((d) => !shown.includes(d) && listsOf(data, tensor, d).size > 1);
};

// The pictures that together show all pieces of a tensor. Each is a list of [dimension, lo, hi]: the parts of the
// hidden dimensions that it shows. The list of a single picture that shows all is empty. There are at most 16 pictures.
export function multiplesOf(data, tensor) {
  let out = [[]];
  for (const d of hiddenCuts(data, tensor)) {
    const parts = new Map();
    for (const list of listsOf(data, tensor, d)) for (const [lo, hi] of ranges(data, list)) parts.set(lo, [d, lo, hi]);
    const sorted = [...parts.values()].sort(([, p], [, q]) => p - q);
    out = out.flatMap((before) => sorted.map((part) => [...before, part])).slice(0, MOST_MULTIPLES);
  }
  return out;
}

// The end of the part of a dimension that is drawn.
export function windowEnd(data, tensor, d) {
  const all = [...listsOf(data, tensor, d)].flatMap((list) => ranges(data, list)).map(([, hi]) => hi);
  all.sort((x, y) => x - y);
  const extent = Math.max(1, data.tensors[tensor].shape[d]);
  return all.length > MOST_RANGES ? Math.min(extent, all[MOST_RANGES - 1]) : extent;
}

const FORMAT_SIZE = 11; // of the font of a format
const LEAST_FORMAT_SIZE = 8;
const MOST_FORMAT_LINES = 3;

// A format as lines that are not wider than the panel, and the size of their font. A format that is too long ends in
// an ellipsis.
function formatLines(text, width) {
  const size = Math.max(LEAST_FORMAT_SIZE, fitting(text, width, FORMAT_SIZE));
  const most = Math.floor((1.65 * width) / size);
  const lines = [""];
  for (const word of text.split(/(?<= )/)) {
    if (lines.at(-1).length + word.trimEnd().length > most && lines.at(-1) !== "") lines.push("");
    lines[lines.length - 1] += word;
  }
  const kept = lines.slice(0, MOST_FORMAT_LINES).map((line) => line.trimEnd());
  if (lines.length > MOST_FORMAT_LINES) kept[MOST_FORMAT_LINES - 1] += " …";
  return { lines: kept, size };
}

class Panel {
  constructor(data, tensor, width, height) {
    this.data = data;
    this.tensor = tensor;
    this.value = data.tensors[tensor];
    this.levels = data.machines[this.value.machine];
    this.dimensions = shownDimensions(data, tensor);
    this.ends = this.dimensions.map((d) => windowEnd(data, tensor, d));
    const longest = Math.max(1, ...this.ends);
    this.lengths = this.ends.map((end) => Math.max(SHORTEST_SIDE, end / longest));
    this.width = width;
    this.height = height;
    this.format = formatLines(this.value.format || "on the first processor", width - 8);
    this.top = 28 + 12 * this.format.lines.length;
    this.fit();
  }

  get isSolid() {
    return this.dimensions.length === 3;
  }

  get isEmpty() {
    return this.value.shape.includes(0);
  }

  fit() {
    const room = { x: this.width - 24, y: this.height - this.top - 18 };
    if (this.isSolid) {
      const [a, b, c] = this.lengths;
      const corners = [0, a].flatMap((x) => [0, b].flatMap((y) => [0, c].map((z) => onPage([x, y, z]))));
      const low = [0, 1].map((d) => Math.min(...corners.map((p) => p[d])));
      const high = [0, 1].map((d) => Math.max(...corners.map((p) => p[d])));
      this.unit = Math.min(room.x / (high[0] - low[0]), room.y / (high[1] - low[1]));
      this.scaled = ([x, y]) => [
        this.width / 2 + (x - (low[0] + high[0]) / 2) * this.unit,
        this.top + (y - low[1]) * this.unit,
      ];
      return;
    }
    const across = this.dimensions.length === 2 ? this.lengths[1] : (this.lengths[0] ?? 0.3);
    const down = this.dimensions.length === 2 ? this.lengths[0] : 0.18;
    this.unit = Math.min(room.x / across, room.y / down);
    this.left = (this.width - across * this.unit) / 2;
    this.down = down;
    this.across = across;
  }

  // The ranges of a block in the n-th shown dimension, in units of the picture.
  spans(block, n) {
    const scale = this.lengths[n] / this.ends[n];
    return rangesWithin(this.data, this.data.blocks[block][this.dimensions[n]], [0, this.ends[n]]).map(([lo, hi]) => [
      lo * scale,
      hi * scale,
    ]);
  }

  // Flat rectangles of a block: [{x, y, w, h}].
  rectangles(block) {
    const whole = [[0, this.down]];
    const rows = this.dimensions.length === 2 ? this.spans(block, 0) : whole;
    let columns = [[0, this.across]];
    if (this.dimensions.length > 0) columns = this.spans(block, this.dimensions.length === 2 ? 1 : 0);
    return rows.flatMap(([y0, y1]) =>
      columns.map(([x0, x1]) => ({
        x: this.left + x0 * this.unit,
        y: this.top + y0 * this.unit,
        w: (x1 - x0) * this.unit,
        h: (y1 - y0) * this.unit,
      })),
    );
  }

  // Where the elements of a flat picture are: "left,top,width,height" of the first one, as elementAt reads it.
  elementSize() {
    if (this.isSolid || this.isEmpty) return undefined;
    const sizes = this.lengths.map((length, n) => (length * this.unit) / this.ends[n]);
    const [down, across] = sizes.length === 2 ? sizes : [0, sizes[0] ?? 0];
    return [this.left, this.top, across, down].join();
  }

  boxes(block) {
    const [as, bs, cs] = [0, 1, 2].map((n) => this.spans(block, n));
    return as.flatMap((a) => bs.flatMap((b) => cs.map((c) => ({ lo: [a[0], b[0], c[0]], hi: [a[1], b[1], c[1]] }))));
  }

  colour(owners) {
    return colourOf(this.levels, owners);
  }
}

const ownerClasses = (owners) => (owners.length <= 64 ? owners : owners.slice(0, 1)).map((p) => `p${p}`).join(" ");

function cellText(x, y, w, h, text, ink) {
  const size = Math.min(14, h * 0.5, (1.6 * w) / Math.max(2, text.length));
  if (size < 6) return "";
  return label(x, y, text, { class: "on", "font-size": size, style: `fill:${ink}` });
}

function flatCells(panel, all) {
  const plain = all.length > 600 ? "plain " : "";
  return all.flatMap(({ block, owners }) =>
    panel.rectangles(block).map(({ x, y, w, h }) => {
      const fill = panel.colour(owners);
      const attributes = { x, y, width: w, height: h, fill, class: `cell ${plain}${ownerClasses(owners)}` };
      attributes["data-tensor"] = panel.tensor;
      attributes["data-owner"] = owners[0];
      attributes["data-block"] = block;
      const name = setName(panel.levels, owners);
      return element("rect", attributes) + cellText(x + w / 2, y + h / 2, w, h, name, inkOn(fill));
    }),
  );
}

function solidCells(panel, all) {
  const boxes = all.flatMap(({ block, owners }) => panel.boxes(block).map((box) => ({ box, owners, block })));
  boxes.sort(byDepth);
  return boxes.map(({ box, owners, block }) => {
    const fill = panel.colour(owners);
    const attributes = { class: `cell ${ownerClasses(owners)}`, "data-tensor": panel.tensor };
    attributes["data-owner"] = owners[0];
    attributes["data-block"] = block;
    const drawn = brick(box, fill, panel.scaled, attributes);
    const corners = faces(box).left.map(panel.scaled);
    const [x, y] = [0, 1].map((d) => corners.reduce((sum, c) => sum + c[d], 0) / 4);
    const [w, h] = [box.hi[1] - box.lo[1], box.hi[0] - box.lo[0]].map((side) => side * panel.unit);
    return drawn + cellText(x, y, w * 0.8, h, setName(panel.levels, owners), inkOn(fill));
  });
}

const SMALL_CELL = 14;

// Marks blocks that a processor has copies of, or that move. Small cells have thin frames without gaps.
function marked(panel, blocks, attributes) {
  return blocks.flatMap((block) => {
    if (!panel.isSolid) {
      return panel.rectangles(block).map(({ x, y, w, h }) => {
        const style = Math.min(w, h) < SMALL_CELL ? "stroke-width:1.2px;stroke-dasharray:none" : undefined;
        const size = { width: Math.max(0, w - 2), height: Math.max(0, h - 2) };
        return element("rect", { x: x + 1, y: y + 1, ...size, ...attributes, style });
      });
    }
    return panel
      .boxes(block)
      .flatMap((box) => Object.values(faces(box)).map((f) => polygon(f.map(panel.scaled), attributes)));
  });
}

// The outline of a tensor without elements.
function emptyOutline(panel) {
  if (panel.isSolid) {
    const box = { lo: [0, 0, 0], hi: panel.lengths };
    return Object.values(faces(box)).map((f) => polygon(f.map(panel.scaled), { class: "far", fill: "none" }));
  }
  const size = { width: panel.across * panel.unit, height: panel.down * panel.unit };
  return [element("rect", { x: panel.left, y: panel.top, ...size, class: "far", fill: "none" })];
}

function notes(panel, parts) {
  const { shape } = panel.value;
  if (panel.isEmpty) return "no elements";
  const isPart = (d) => parts.some(([dimension]) => dimension === d);
  const hidden = shape.map((_, d) => d).filter((d) => !panel.dimensions.includes(d) && !isPart(d));
  const out = parts.map(([d, lo, hi]) => `dimension ${d}: ${lo} to ${hi - 1}`);
  if (hidden.length > 0) {
    const isCut = hidden.some((d) => listsOf(panel.data, panel.tensor, d).size > 1);
    out.push(`${isCut ? "not shown" : "uncut"}: dimension${hidden.length > 1 ? "s" : ""} ${hidden.join(", ")}`);
  }
  panel.ends.forEach((end, n) => {
    if (end < shape[panel.dimensions[n]]) out.push(`the first ${end} of ${shape[panel.dimensions[n]]}`);
  });
  return [...new Set(out)].join("; ");
}

// The largest font, up to `most`, in which a text is at most this wide.
const fitting = (text, width, most) => Math.min(most, (1.65 * width) / Math.max(1, text.length));

const LEAST_TITLE_SIZE = 9;

// The name and the shape. A name that would need too small a font is cut off.
function titleOf(name, shape, width) {
  const sizes = shape.length > 0 ? `(${shape.join(", ")})` : "";
  const most = Math.floor((1.65 * width) / LEAST_TITLE_SIZE) - sizes.length;
  return shortened(name, Math.max(4, most)) + sizes;
}

// One tensor: {content, width, height}. `overlay` has blocks to mark: held and moving. Of a tensor that needs several
// pictures, `parts` says which one this is.
export function tensorPanel(data, tensor, width, height, overlay = {}, parts = []) {
  const panel = new Panel(data, tensor, width, height);
  const { name, shape } = panel.value;
  const isShown = ({ block }) => parts.every(([d, lo]) => listContains(data, data.blocks[block][d], lo));
  const all = pieces(data, tensor).filter(isShown);
  const title = titleOf(name, shape, width - 8);
  const note = notes(panel, parts);
  const sized = (text, most) => ({ style: `font-size:${fitting(text, width - 8, most).toFixed(1)}px` });
  const content = [
    label(width / 2, 15, title, { class: "name", ...sized(title, 14) }),
    ...panel.format.lines.map((line, n) =>
      label(width / 2, 30 + 12 * n, line, { class: "small", style: `font-size:${panel.format.size.toFixed(1)}px` }),
    ),
    ...(panel.isEmpty ? emptyOutline(panel) : []),
    ...(panel.isSolid ? solidCells(panel, all) : flatCells(panel, all)),
    ...marked(panel, overlay.held ?? [], { class: "held", fill: "none" }),
    ...marked(panel, overlay.moving ?? [], { class: "moving", fill: "none", stroke: tensorColour(tensor) }),
    note && label(width / 2, height - 4, note, { class: "note", ...sized(note, 11) }),
  ];
  const attributes = { class: "tensor", "data-elements": panel.elementSize() };
  return { content: group(attributes, content), width, height };
}

// The element at a place of a tensor's flat picture, one coordinate or null for each dimension of the tensor: those
// that the picture does not show are null.
export function elementAt(data, tensor, elements, x, y) {
  const [left, top, width, height] = elements.split(",").map(Number);
  const shown = shownDimensions(data, tensor);
  const out = data.tensors[tensor].shape.map(() => null);
  if (shown.length === 2) out[shown[0]] = Math.floor((y - top) / height);
  if (shown.length > 0) out[shown.at(-1)] = Math.floor((x - left) / width);
  return out;
}

// What a film step marks on a tensor: what the chosen processor holds, or what moves.
export function overlayOf(data, state, held, tensor) {
  const { statement, processor } = state;
  const moving = movingBlocks(state, tensor);
  if (processor === null) return { moving: moving.length <= 400 ? moving : [] };
  const levels = data.machines[data.statements[statement].machine];
  const blocks = new Set();
  for (let shared = 1; shared <= levels.length; ++shared) {
    for (const b of copiesOf(data, statement, held, tensor, leader(levels, shared, processor))) blocks.add(b);
  }
  return { held: [...blocks], moving };
}
