// Pictures for the tests, small enough to write down.
import { readFileSync } from "node:fs";

// A 4×6 matrix, dealt out cyclically in blocks of 1×2 to a machine Grid(2, 2), and a vector that all processors have.
export const small = {
  form: 1,
  title: "small.distal",
  program: "",
  params: {},
  processors: 4,
  machines: [[[2, 2]]],
  // Even rows, odd rows, the columns of one and the other, everything.
  runs: [[0, 1, 2, 2], [1, 1, 2, 2], [0, 2, 4, 2], [2, 2, 2, 1], [0, 6, 6, 1], [0, 4, 4, 1]],
  blocks: [[0, 2], [0, 3], [1, 2], [1, 3], [4], [5, 4]],
  tensors: [
    { name: "A", shape: [4, 6], format: "xy -> xy", element_bytes: 8, machine: 0, pieces: [0, 1, 2, 3] },
    { name: "b", shape: [6], format: "x -> **", element_bytes: 8, machine: 0, pieces: [4, 4, 4, 4] },
  ],
  statements: [
    {
      text: "A(i, j) = b(j)",
      machine: 0,
      schedule: [],
      indices: [
        { name: "i", extent: 4, summed: false },
        { name: "j", extent: 6, summed: false },
      ],
      accesses: [
        { tensor: 0, indices: [0, 1] },
        { tensor: 1, indices: [1] },
      ],
      acquires: [{ tensor: 1, at: "jo", privilege: "read", levels: 1 }],
      certificate: { unit: 1, exchanged_bytes: 64, lower_bound_bytes: 40, optimality: 1.6 },
      frames_in_all: 2,
      every: 1,
      frames: [
        {
          frame: 0,
          loops: { ko: 0 },
          work: [0, 1, 2, 3],
          moves: [{ tensor: 1, acquire: 0, kind: "fetch", pattern: "broadcast", messages: [0, 1, 4, 0, 2, 4] }],
          held: [{ acquire: 0, copies: [1, 4, 2, 4] }],
          exchanged_bytes: 48,
          moved: { b: { bytes: 96, messages: 2, pattern: "broadcast" } },
        },
        {
          frame: 1,
          loops: { ko: 1 },
          work: [0, 1, 2, -1],
          moves: [{ tensor: 0, acquire: -1, kind: "add", pattern: "reduce", messages: [3, 0, 0] }],
          held: [{ acquire: 0, copies: [1, -1] }],
          exchanged_bytes: 64,
          moved: { A: { bytes: 64, messages: 1, pattern: "reduce" } },
        },
      ],
    },
  ],
  bytes_moved: 160,
  messages: 3,
  peak_bytes: [120, 130, 170, 90],
};

export const style = readFileSync(new URL("../../src/view/page/drawing.css", import.meta.url), "utf8");
