// The text about the element under the pointer.
import { listContains, ranges } from "./blocks.js";
import { describeCandidate } from "./choice.js";
import { messagesOf } from "./film.js";
import { processorName, setName } from "./machine.js";
import { pieces } from "./tensors.js";
import { bytesText } from "./text.js";

const MOST_RANGES_NAMED = 4;

// "[0:4, 8:12]"; several ranges of one dimension are joined by +.
export function blockText(data, block) {
  const dimension = (list) => {
    const all = ranges(data, list).map(([lo, hi]) => `${lo}:${hi}`);
    return all.length > MOST_RANGES_NAMED ? `${all.slice(0, MOST_RANGES_NAMED).join("+")}+…` : all.join("+");
  };
  return `[${data.blocks[block].map(dimension).join(", ")}]`;
}

// Several names, or their number if there are many.
function namesOf(levels, processors) {
  if (processors.length <= 6) return processors.map((p) => processorName(levels, p)).join(" and ");
  return `${setName(levels, processors)} (${processors.length} processors)`;
}

// The processors that have a block of a tensor.
export const ownersOfBlock = (data, tensor, block) =>
  pieces(data, tensor).find((piece) => piece.block === block).owners;

// The piece, preceded by its element under the pointer if that is known.
export function describeBlock(data, tensor, block, element) {
  const { name, machine } = data.tensors[tensor];
  const where = `lives on ${namesOf(data.machines[machine], ownersOfBlock(data, tensor, block))}`;
  const piece = `${name}${blockText(data, block)}`;
  const isInside = element?.every((x, d) => x === null || listContains(data, data.blocks[block][d], x));
  if (!isInside || element.length === 0) return [`${piece} ${where}`];
  return [`${name}(${element.map((x) => x ?? ":").join(", ")}) ${where}`, `in the piece ${piece}`];
}

function homeLines(data, processor) {
  return data.tensors
    .filter(({ pieces: all }) => (all[processor] ?? -1) >= 0)
    .map(({ name, pieces: all }) => `has ${name}${blockText(data, all[processor])}`);
}

function workLine(data, state, processor) {
  const block = state.frame.work[processor] ?? -1;
  if (block < 0) return [];
  const names = data.statements[state.statement].indices.map(({ name }) => name).join(", ");
  return [`computes (${names}) in ${blockText(data, block)}`];
}

function messageLines(data, state, processor, levels) {
  const lines = [];
  for (const m of messagesOf(data, state.frame)) {
    if (m.source !== processor && m.destination !== processor) continue;
    const sends = m.source === processor;
    const other = processorName(levels, sends ? m.destination : m.source);
    const what = data.tensors[m.tensor].name + (m.block === undefined ? "" : blockText(data, m.block));
    lines.push(`${sends ? "sends" : "receives"} ${what}, ${bytesText(m.bytes)}, ${sends ? "to" : "from"} ${other}`);
  }
  return lines.length > 12 ? [...lines.slice(0, 12), `and ${lines.length - 12} more messages`] : lines;
}

export function describeProcessor(data, state, processor) {
  const levels = data.machines[data.statements[state.statement]?.machine ?? 0];
  return [
    `processor ${processorName(levels, processor)}`,
    ...homeLines(data, processor),
    ...workLine(data, state, processor),
    ...messageLines(data, state, processor, levels),
  ];
}

export function describeMessage(data, state, source, destination) {
  const levels = data.machines[data.statements[state.statement].machine];
  return messagesOf(data, state.frame)
    .filter((m) => m.source === source && m.destination === destination)
    .map((m) => {
      const what = data.tensors[m.tensor].name + (m.block === undefined ? "" : blockText(data, m.block));
      const [from, to] = [source, destination].map((p) => processorName(levels, p));
      return `${from} → ${to}: ${what}, ${bytesText(m.bytes)} (${m.pattern})`;
    });
}

// The lines about an element of a picture, by its data-* attributes. Empty if there is nothing to say.
export function describe(data, state, { p, from, to, tensor, owner, block, pair, choice, element }) {
  const levels = data.machines[data.statements[state.statement]?.machine ?? 0];
  if (p !== undefined) return describeProcessor(data, state, Number(p));
  if (from !== undefined) return describeMessage(data, state, Number(from), Number(to));
  if (block !== undefined) return describeBlock(data, Number(tensor), Number(block), element);
  if (owner !== undefined) return describeBlock(data, Number(tensor), data.tensors[tensor].pieces[owner]);
  if (pair !== undefined) {
    const [source, destination, bytes] = pair.split(",").map(Number);
    return [`${processorName(levels, source)} → ${processorName(levels, destination)}: ${bytesText(bytes)}`];
  }
  if (choice !== undefined) {
    const [statement, number] = choice.split(",").map(Number);
    return describeCandidate(data.choices[statement], number);
  }
  return [];
}
