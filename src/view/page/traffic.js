// The machine, and the messages of a step on it. A shift is a plain arrow; a broadcast leaves a source that is marked
// by a disc; a reduction is dashed and ends in a circled plus; a gather is dotted.
import { messagesOf } from "./film.js";
import { colourOf, inkOn, tensorColour } from "./colour.js";
import { coordinatesOf, leader, processorName } from "./machine.js";
import { layoutOf } from "./layout.js";
import { element, group, label, short } from "./svg.js";
import { withCommas } from "./text.js";

const MOST_ARROWS = 200; // with more, only those of some senders or receivers are drawn
const MOST_OF_CHOSEN = 3000; // arrows of a chosen processor
const PITCH = 1.8; // from node to node, in sizes of a node
const HIGHEST_ARC = 0.62; // in pitches
const ARC_ROOM = 0.7; // beside the outermost nodes, in sizes of a node

// How a message is drawn.
export function styleOf(message) {
  if (message.kind.startsWith("add")) return "reduce";
  if (message.kind === "replicate") return "broadcast";
  return ["broadcast", "gather"].includes(message.pattern) ? message.pattern : "shift";
}

// The course of an arrow from one node to another: neighbours are joined by a straight line, others by an arc, so that
// arrows along one row can be told apart. No arc reaches the next row.
function curve(from, to, node, areNeighbours) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const distance = Math.hypot(dx, dy) || 1;
  const highest = HIGHEST_ARC * PITCH * node;
  const bend = areNeighbours ? 0.06 * distance : highest * Math.tanh((0.2 * distance) / highest);
  const normal = { x: dy / distance, y: -dx / distance };
  const control = { x: (from.x + to.x) / 2 + normal.x * bend * 2, y: (from.y + to.y) / 2 + normal.y * bend * 2 };
  const start = towards(from, control, node * 0.62);
  const end = towards(to, control, node * 0.72);
  return { start, control, end };
}

// Whether two processors are one step apart along one dimension of the innermost level.
export function areNeighbours(levels, p, q) {
  if (leader(levels, levels.length - 1, p) !== leader(levels, levels.length - 1, q)) return false;
  const other = coordinatesOf(levels, q);
  return coordinatesOf(levels, p).reduce((sum, c, d) => sum + Math.abs(c - other[d]), 0) === 1;
}

function towards(point, target, by) {
  const distance = Math.hypot(target.x - point.x, target.y - point.y) || 1;
  return { x: point.x + ((target.x - point.x) / distance) * by, y: point.y + ((target.y - point.y) / distance) * by };
}

function arrowHead({ control, end }, size, colour) {
  const angle = Math.atan2(end.y - control.y, end.x - control.x);
  const corner = (turn) => [end.x - size * Math.cos(angle + turn), end.y - size * Math.sin(angle + turn)];
  const points = [[end.x, end.y], corner(0.45), corner(-0.45)].map((p) => p.map(short).join(" "));
  return element("path", { d: `M${points.join("L")}Z`, fill: colour, class: "head" });
}

function arrow(message, places, node, levels) {
  const near = areNeighbours(levels, message.source, message.destination);
  const c = curve(places[message.source], places[message.destination], node, near);
  const colour = tensorColour(message.tensor);
  const style = styleOf(message);
  const at = ({ x, y }) => `${short(x)} ${short(y)}`;
  const d = `M${at(c.start)}Q${at(c.control)} ${at(c.end)}`;
  const attributes = {
    class: `arrow ${style} from${message.source} to${message.destination}`,
    "data-from": message.source,
    "data-to": message.destination,
    "data-tensor": message.tensor,
  };
  return group(attributes, [
    element("path", { d, stroke: colour, fill: "none", class: "line" }),
    arrowHead(c, Math.min(9, 3 + node * 0.16), colour),
  ]);
}

// Marks at nodes that send to many, or add up what they receive.
function marks(messages, at, node) {
  const seen = new Map();
  for (const m of messages) {
    const style = styleOf(m);
    if (style === "broadcast") seen.set(`b${m.source}|${m.tensor}`, { p: m.source, tensor: m.tensor, style });
    if (style === "reduce") seen.set(`r${m.destination}|${m.tensor}`, { p: m.destination, tensor: m.tensor, style });
  }
  const perNode = new Map();
  return [...seen.values()].map(({ p, tensor, style }) => {
    const count = perNode.get(p) ?? 0;
    perNode.set(p, count + 1);
    const r = Math.max(1.2, node * 0.14);
    const x = at[p].x - node * 0.42 + count * 2.2 * r;
    const y = at[p].y - node * 0.42;
    const colour = tensorColour(tensor);
    if (style === "broadcast") return element("circle", { cx: x, cy: y, r, fill: colour, class: "disc" });
    const half = Math.max(3, r);
    const plus = `M${short(x - half)} ${short(y)}h${short(2 * half)}M${short(x)} ${short(y - half)}v${short(2 * half)}`;
    const thin = half > r ? "stroke-width:1px" : undefined;
    return (
      element("circle", { cx: x, cy: y, r: half * 1.25, class: "sum", stroke: colour, style: thin }) +
      element("path", { d: plus, stroke: colour, class: "plus", style: thin })
    );
  });
}

function nodeOf(data, levels, processor, at, size, state, hollow) {
  const fill = colourOf(levels, [processor]);
  const name = processorName(levels, processor);
  const selected = state.processor === processor ? " selected" : "";
  const text = Math.min(14, (1.7 * size) / Math.max(3, name.length));
  const rect = element("rect", {
    x: at.x - size / 2,
    y: at.y - size / 2,
    width: size,
    height: size,
    rx: size * 0.12,
    fill: hollow ? "none" : fill,
    class: `node p${processor}${selected}`,
    "data-p": processor,
  });
  if (text < 5.5) return rect;
  const ink = hollow ? undefined : `fill:${inkOn(fill)}`;
  return rect + label(at.x, at.y, name, { class: "on", "font-size": text, style: ink });
}

// Every n-th of a list, so that at most `most` are left.
export function sample(list, most) {
  const every = Math.max(1, Math.ceil(list.length / most));
  return list.filter((_, n) => n % every === 0);
}

// All messages if they are at most `most`. Otherwise, for each tensor, all messages of some senders, or, in a reduction
// or a gather, of some receivers.
export function representatives(messages, most) {
  if (messages.length <= most) return messages;
  const byTensor = new Map();
  for (const m of messages) {
    const meets = ["reduce", "gather"].includes(styleOf(m));
    const key = meets ? `to ${m.destination}` : `from ${m.source}`;
    const families = byTensor.get(m.tensor) ?? byTensor.set(m.tensor, new Map()).get(m.tensor);
    if (!families.has(key)) families.set(key, []);
    families.get(key).push(m);
  }
  const room = most / byTensor.size;
  return [...byTensor.values()].flatMap((families) => {
    const lists = [...families.values()];
    const size = lists.reduce((sum, list) => sum + list.length, 0) / lists.length;
    const count = Math.min(lists.length, Math.max(2, Math.floor(room / size)));
    const chosen = Array.from({ length: count }, (_, n) => lists[Math.floor(((n + 0.5) * lists.length) / count)]);
    return chosen.flatMap((list) => sample(list, room / count));
  });
}

// {content, width, height}. With a chosen processor, only the messages from and to it are drawn.
export function machineView(data, state, width, height, options = {}) {
  const levels = options.levels ?? data.machines[data.statements[state.statement].machine];
  const layout = layoutOf(levels);
  const messages = options.messages ?? shownMessages(data, state, layout.nodes.length);
  const drawn = representatives(messages, state.processor === null ? MOST_ARROWS : MOST_OF_CHOSEN);
  const margin = { x: 12, top: 12, bottom: messages.length > drawn.length ? 44 : 26 };
  const size = Math.min(
    64,
    (width - 2 * margin.x) / (Math.max(1, layout.width) + 2 * ARC_ROOM),
    (height - margin.top - margin.bottom) / (Math.max(1, layout.height) + 2 * ARC_ROOM),
  );
  const left = (width - layout.width * size) / 2;
  const top = margin.top + (height - margin.top - margin.bottom - layout.height * size) / 2;
  const at = layout.nodes.map(({ x, y }) => ({ x: left + (x + 0.5) * size, y: top + (y + 0.5) * size }));
  const node = size * 0.92;
  const hollow = options.hollow ?? (() => false);
  const content = [
    ...layout.groups.map(({ x, y, w, h }) =>
      element("rect", {
        x: left + (x - 0.22) * size,
        y: top + (y - 0.22) * size,
        width: (w + 0.44) * size,
        height: (h + 0.44) * size,
        rx: 8,
        class: "group",
      }),
    ),
    // An arrow passes behind the nodes on its way.
    ...drawn.map((m) => arrow(m, at, node, levels)),
    ...at.map((_, i) => at.length - 1 - i).map((p) => nodeOf(data, levels, p, at[p], node, state, hollow(p))),
    ...marks(drawn, at, node),
  ];
  if (drawn.length < messages.length) {
    const counts = `${withCommas(drawn.length)} of ${withCommas(messages.length)} messages`;
    const text = `${counts} are drawn; choose a processor for its own`;
    content.push(label(width / 2, height - 26, text, { class: "note" }));
  }
  return { content: group({ class: size < 14 ? "machine fine" : "machine" }, content), width, height };
}

// The messages of a frame that are drawn: of the chosen processor and tensor, within the machine.
export function shownMessages(data, state, nodes) {
  return messagesOf(data, state.frame).filter(
    (m) =>
      m.source < nodes &&
      m.destination < nodes &&
      (state.processor === null || m.source === state.processor || m.destination === state.processor) &&
      (state.tensor === null || m.tensor === state.tensor),
  );
}
