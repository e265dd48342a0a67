// The figures of the benchmarks: each is made from one table of a page with results. README.md explains the members.

const FASTER =
  "Speed of DISTAL / speed of the other, medians with the smallest and the largest round. " +
  "Right of the red line DISTAL is faster; a hollow mark misses its target.";

export const FIGURES = {
  "mpi-gemm": {
    title: "Matrix multiplication on ranks",
    note: FASTER,
    file: "bench/mpi/RESULTS.md",
    heading: "Targets: square GEMM",
    has: "/ ScaLAPACK",
    label: (row) => `n = ${row.n}, ${row.ranks} ranks`,
    series: (row) => row.machine,
    columns: ["/ limit", "/ COSMA", "/ ScaLAPACK", "/ CTF"],
    isCommon: true,
  },
  "mpi-algorithms": {
    title: "Six algorithms / COSMA, on ranks",
    note: FASTER,
    file: "bench/mpi/RESULTS.md",
    heading: "Targets: square GEMM",
    has: "solomonik",
    label: (row) => `n = ${row.n}, ${row.ranks} ranks`,
    series: (row) => row.machine,
    columns: ["cannon", "pumma", "summa", "johnson", "solomonik", "cosma"],
    isCommon: true,
  },
  "mpi-tensors": {
    title: "Tensor kernels on ranks",
    note: FASTER,
    file: "bench/mpi/RESULTS.md",
    heading: "Tensor kernels",
    has: "DISTAL / CTF",
    label: (row) => `${row.kernel}, ${row.ranks} ranks`,
    series: (row) => row.machine,
    columns: ["DISTAL / CTF", "DISTAL / reading"],
  },
  leaf: {
    title: "Kernels in one process",
    note: "Speed of DISTAL / speed of the other, medians. Right of the red line DISTAL is faster.",
    file: "bench/leaf/RESULTS.md",
    heading: "Kernels",
    has: "/ BLAS",
    label: (row) => row.kernel,
    series: (row) => row.grid,
    columns: ["/ limit", "/ BLAS", "/ hand", "/ numpy", "/ jax", "/ TACO"],
  },
  legion: {
    title: "Legion / threads, one process",
    note: "Speed of Legion / speed of threads, medians with the smallest and the largest round.",
    file: "bench/legion/RESULTS.md",
    heading: "Programs",
    has: "Legion / threads",
    label: (row) => row.program.replace(/ \(.*/, ""),
    series: () => "",
    columns: ["Legion / threads"],
    spread: "spread",
  },
  optimality: {
    title: "Exchanged bytes / lower bound, for every number of processors",
    note:
      "At the red line no schedule exchanges less. " +
      "A mark is the median, what 90 % are below, or the worst, over the numbers of processors.",
    file: "docs/optimality.md",
    heading: "How far from the least communication",
    has: "median",
    label: (row) => `${row.statement}, P = ${row.processors}`,
    series: () => "",
    columns: ["median", "90 % are below", "worst"],
    isCommon: true,
  },
};
