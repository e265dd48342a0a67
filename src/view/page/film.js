// The state of a plan at a frame of the film, by playing the frames up to it.
import { volume } from "./blocks.js";

// All frames of all statements, in order: [{statement, index, frame}].
export function allFrames(data) {
  return data.statements.flatMap((statement, s) =>
    statement.frames.map((frame, index) => ({ statement: s, index, frame })),
  );
}

// The copies after a frame: by acquire, a map from place to blocks.
function heldAfter(before, frame) {
  const held = new Map(before);
  for (const { acquire, copies } of frame.held) {
    const places = new Map(held.get(acquire));
    const fresh = new Set();
    for (let c = 0; c < copies.length; c += 2) {
      const [place, block] = [copies[c], copies[c + 1]];
      if (block < 0) places.delete(place);
      else if (fresh.has(place)) places.get(place).push(block);
      else places.set(place, [block]);
      fresh.add(place);
    }
    held.set(acquire, places);
  }
  return held;
}

// What is held at a frame of a statement: by acquire, a map from place to blocks.
export function heldAt(data, statement, index) {
  let held = new Map();
  data.statements[statement].frames.slice(0, index + 1).forEach((frame) => {
    held = heldAfter(held, frame);
  });
  return held;
}

// The blocks of copies of a tensor at a place.
export function copiesOf(data, statement, held, tensor, place) {
  const out = [];
  data.statements[statement].acquires.forEach((acquire, a) => {
    if (acquire.tensor === tensor) out.push(...(held.get(a)?.get(place) ?? []));
  });
  return out;
}

export function homeBytes(data) {
  const out = new Array(data.processors).fill(0);
  for (const tensor of data.tensors) {
    tensor.pieces.forEach((block, p) => {
      if (block >= 0) out[p] += volume(data, block) * tensor.element_bytes;
    });
  }
  return out;
}

// Bytes held by every processor at every frame: [frame][processor].
export function memoryOverTime(data) {
  const home = homeBytes(data);
  const volumes = data.blocks.map((_, block) => volume(data, block));
  const out = [];
  for (const statement of data.statements) {
    const bytes = (acquire, blocks) =>
      blocks.reduce((sum, b) => sum + volumes[b], 0) * data.tensors[statement.acquires[acquire].tensor].element_bytes;
    let held = new Map();
    let now = home.slice();
    for (const frame of statement.frames) {
      const after = heldAfter(held, frame);
      now = now.slice();
      for (const { acquire, copies } of frame.held) {
        const changed = new Set();
        for (let c = 0; c < copies.length; c += 2) changed.add(copies[c]);
        for (const place of changed) {
          now[place] += bytes(acquire, after.get(acquire).get(place) ?? []);
          now[place] -= bytes(acquire, held.get(acquire)?.get(place) ?? []);
        }
      }
      held = after;
      out.push(now);
    }
  }
  return out;
}

const memories = new WeakMap();

// Bytes held by every processor at one frame. Computes them once for all frames.
export function memoryAt(data, frame) {
  if (!memories.has(data)) memories.set(data, memoryOverTime(data));
  return memories.get(data)[frame] ?? homeBytes(data);
}

// The bytes that all tensors move at each frame and up to it: [{byTensor: {A: bytes}, bytes, soFar}].
export function bytesOverTime(data) {
  let soFar = 0;
  return allFrames(data).map(({ frame }) => {
    const byTensor = {};
    let bytes = 0;
    for (const [name, moved] of Object.entries(frame.moved)) {
      byTensor[name] = moved.bytes;
      bytes += moved.bytes;
    }
    soFar += bytes;
    return { byTensor, bytes, soFar };
  });
}

// By frame: the bytes that the processor that exchanges most has exchanged so far in the statement, and the lower
// bound: [{most, bound}]. Both are counted as in the certificate.
export function exchangedOverTime(data) {
  return data.statements.flatMap(({ frames, certificate }) =>
    frames.map((frame) => ({ most: frame.exchanged_bytes, bound: certificate.lower_bound_bytes })),
  );
}

// The messages of a frame: [{source, destination, block, tensor, bytes, kind, pattern, acquire}]. Sums over groups of
// processors have the first processors of the groups, and no block.
export function messagesOf(data, frame) {
  const out = [];
  for (const move of frame.moves) {
    const list = move.messages ?? move.groups.messages;
    const size = move.groups?.size ?? 1;
    const elementBytes = data.tensors[move.tensor].element_bytes;
    for (let m = 0; m < list.length; m += 3) {
      out.push({
        source: list[m] * size,
        destination: list[m + 1] * size,
        block: move.groups ? undefined : list[m + 2],
        bytes: move.groups ? list[m + 2] : volume(data, list[m + 2]) * elementBytes,
        tensor: move.tensor,
        kind: move.kind,
        pattern: move.pattern,
        acquire: move.acquire,
      });
    }
  }
  return out;
}

// The distinct blocks of a tensor that move at the frame, to or from the chosen processor.
export function movingBlocks({ frame, processor }, tensor) {
  const moving = new Set();
  for (const move of frame.moves) {
    if (move.tensor !== tensor || !move.messages) continue;
    for (let m = 0; m < move.messages.length; m += 3) {
      const [source, destination, block] = move.messages.slice(m, m + 3);
      if (processor === null || source === processor || destination === processor) moving.add(block);
    }
  }
  return [...moving];
}
