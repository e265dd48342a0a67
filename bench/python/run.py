#!/usr/bin/env python3
"""Measures the Python package beside the C++ interface, NumPy and JAX.

In a round every competitor computes the same product, in an order that changes from round to round. A ratio is of times
of the same round: above 1, distal.einsum is faster. Each competitor has a process of its own.
"""

import argparse
import os
import re
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "bench" / "leaf"))
import machine  # noqa: E402
from kernels import GEMM, TTV, Kernel  # noqa: E402
from measure import Competitor, Effort, run_rounds, say  # noqa: E402
from workers import Timing, Worker  # noqa: E402

TTM = "A(i,j,l) = B(i,j,k) * C(k,l)"
MTTKRP = "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)"
AO_TO_MO = "A(i,j,k,l) = B(p,q,r,s) * C(p,i) * D(q,j) * E(r,k) * F(s,l)"
EINSUM_LIMIT = 15.0  # microseconds of an einsum of tiny arrays
KERNEL_LIMIT = 5.0  # microseconds of a kept kernel above the run in C++


def case(name, statement, sizes, quick):
    return Kernel(name, statement, sizes, quick, "peak", ("cpp", 1))


def cube(name, statement, letters):
    return case(name, statement, {x: 64 if x == "l" else 512 for x in letters}, {x: 6 for x in letters})


TINY = [
    case("tiny-gemm", GEMM, dict.fromkeys("ijk", 4), dict.fromkeys("ijk", 4)),
    case("tiny-ttv", TTV, dict.fromkeys("ijk", 4), dict.fromkeys("ijk", 4)),
    case("tiny-mttkrp", MTTKRP, dict.fromkeys("ijkl", 3), dict.fromkeys("ijkl", 3)),
]
LARGE = [
    case("gemm", GEMM, dict.fromkeys("ijk", 2048), dict.fromkeys("ijk", 12)),
    cube("ttv", TTV, "ijk"),
    cube("ttm", TTM, "ijkl"),
    cube("mttkrp", MTTKRP, "ijkl"),
    case("ao-to-mo", AO_TO_MO, dict.fromkeys("pqrsijkl", 64), dict.fromkeys("pqrsijkl", 4)),
]


class Steps:
    """The C++ interface on the statements that distal.einsum computes one after the other: a worker for each."""

    name = "cpp"

    def __init__(self, command, python):
        self._command = command
        self._python = python
        self._workers = []

    def prepare(self, kernel, sizes):
        for number, statement in enumerate(self._python.ask("steps").split("; ")):
            own = {x: sizes[x] for x in dict.fromkeys(re.findall(r"\b[a-z]\b", statement))}
            step = case(f"{kernel.name}-{number}", statement, own, own)
            self._workers.append(Worker("cpp", self._command))
            self._workers[-1].prepare(step, own)

    def check(self, variant):
        return max(worker.check(variant) for worker in self._workers)

    def time(self, variant, seconds):
        share = seconds / len(self._workers)
        return added([worker.time(variant, share) for worker in self._workers])

    def drop(self):
        self.close()

    def close(self):
        for worker in self._workers:
            worker.close()
        self._workers = []


def added(timings):
    """Jobs that follow each other as one."""
    return Timing(sum(t.best for t in timings), sum(t.median for t in timings), min(t.repetitions for t in timings), 0)


def competitors(options):
    threads = str(len(os.sched_getaffinity(0)))
    env = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    python = Worker("python", [options.python, "-B", HERE / "worker.py"], env)
    peers = Worker("peers", [options.python, "-B", HERE / "worker.py"], env)
    out = {"einsum": Competitor(python, "einsum"), "kernel": Competitor(python, "kernel"),
           "cpp": Competitor(Steps([options.build / "bench" / "leaf" / "leaf_distal"], python), "1"),
           "numpy": Competitor(peers, "numpy"), "jax": Competitor(peers, "jax")}
    return {name: one for name, one in out.items() if name in ("einsum", *options.peers.split(","))}


def rounds_of(kernel, found, options):
    """The timings of the rounds. The kernel in one loop nest takes part where einsum computes in one."""
    several = kernel.name == "ao-to-mo"
    found = {name: one for name, one in found.items() if not (several and name == "kernel")}
    sizes = kernel.quick if options.quick else kernel.sizes
    rounds = 1 if options.quick else options.rounds
    return run_rounds(kernel, sizes, found, [], Effort(rounds, 0, 0.002 if options.quick else options.seconds))


def spread_text(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def row_of(cells):
    return "| " + " | ".join(cells) + " |"


def cell(numbers, text):
    """A cell of a table; empty where nothing was measured."""
    return text(numbers) if numbers else ""


def micros(rounds, name):
    return [1e6 * timings[name].median for timings in rounds if name in timings]


def tiny_heading():
    yield "| case | einsum | limit | NumPy | JAX | kept kernel above C++ | limit |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"


def tiny_row(kernel, rounds):
    """Median times of a call. The kernel has the difference to the C++ interface in the same round."""
    einsum = micros(rounds, "einsum")
    above = [k - c for k, c in zip(micros(rounds, "kernel"), micros(rounds, "cpp"))]
    peers = [cell(micros(rounds, name), lambda us: f"{statistics.median(us):.2f} µs") for name in ("numpy", "jax")]
    cells = [kernel.name, spread_text(einsum) + " µs", limit_text(einsum, EINSUM_LIMIT), *peers]
    cells += [cell(above, lambda us: spread_text(us) + " µs"), cell(above, lambda us: limit_text(us, KERNEL_LIMIT))]
    return row_of(cells)


def limit_text(values, limit):
    return f"below {limit:g} µs: {'met' if statistics.median(values) < limit else 'missed'}"


def ratios(rounds, other, name="einsum"):
    """Time of the other / time of `name`, by round, from the best times of each."""
    return [t[other].best / t[name].best for t in rounds if other in t and name in t]


def large_heading():
    columns = ["case", "sizes", "einsum", "C++ / einsum", "C++ / kernel", "NumPy / einsum", "JAX / einsum",
               "beside C++", "beside peers"]
    yield row_of(columns)
    yield row_of(["---"] * len(columns))


def beside_cpp(rounds):
    """Whether the spreads of the times of einsum and of C++ overlap, or einsum is ahead."""
    mine, cpp = ([t[name].best for t in rounds if name in t] for name in ("einsum", "cpp"))
    if not cpp:
        return ""
    return "within its spread" if min(mine) <= max(cpp) else "slower"


def beside_peers(rounds):
    """Ahead or level: no peer is faster in all rounds."""
    found = [ratios(rounds, peer) for peer in ("numpy", "jax")]
    if not any(found):
        return ""
    return "ahead or level" if all(max(r) >= 1 for r in found if r) else "behind"


def large_row(kernel, sizes, rounds):
    time_text = f"{1e3 * statistics.median(t['einsum'].best for t in rounds):.3g} ms"
    cells = [cell(ratios(rounds, "cpp"), spread_text), cell(ratios(rounds, "cpp", "kernel"), spread_text),
             cell(ratios(rounds, "numpy"), spread_text), cell(ratios(rounds, "jax"), spread_text)]
    extents = " ".join(f"{x}={n}" for x, n in sizes.items())
    return row_of([kernel.name, extents, time_text, *cells, beside_cpp(rounds), beside_peers(rounds)])


def head(options, found):
    yield "# Results: the Python package"
    yield ""
    yield f"- CPU: {machine.cpu()}"
    yield f"- cores: {len(os.sched_getaffinity(0))}, load at the start: {os.getloadavg()[0]:.2f}"
    yield f"- versions: {found['einsum'].worker.ask('about')}"
    yield f"- commit: {machine.first_line(['git', '-C', str(ROOT), 'describe', '--always', '--dirty'])}"
    yield f"- command: `bench/python/{' '.join([Path(sys.argv[0]).name, *sys.argv[1:]])}`"
    yield f"- date: {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC"
    yield ""
    yield "Each cell has the median over the rounds, and the smallest and the largest."
    yield "`C++` runs the statements that `distal.einsum` computes, with the C++ interface on arrays that are kept;"
    yield "`kernel` is a `distal.Kernel`."
    yield "A ratio above 1: Python is faster."
    yield "The JAX function is compiled by `jax.jit` before it is timed."
    yield ""


def lines(options):
    """The lines of the report, as they are measured."""
    found = competitors(options)
    yield from head(options, found)
    end = time.monotonic() + 60 * options.minutes
    for title, heading, row, kernels in (("Tiny arrays", tiny_heading, lambda k, _, r: tiny_row(k, r), TINY),
                                         ("Large arrays", large_heading, large_row, LARGE)):
        yield from (f"## {title}", "", *heading())
        for kernel in kernels:
            if re.search(options.only, kernel.name) and time.monotonic() < end:
                sizes = kernel.quick if options.quick else kernel.sizes
                yield row(kernel, sizes, rounds_of(kernel, found, options))
        yield ""
    for worker in {id(c.worker): c.worker for c in found.values()}.values():
        worker.close()


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="a build folder with the C++ benchmark")
    parser.add_argument("--python", default=sys.executable, help="a Python with the package, NumPy and JAX")
    parser.add_argument("--only", default="", metavar="REGEX", help="only the cases whose name matches")
    parser.add_argument("--peers", default="kernel,cpp,numpy,jax", help="who takes part beside distal.einsum")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.3, help="of one competitor in a round")
    parser.add_argument("--minutes", type=float, default=6, help="begin no further case after this")
    parser.add_argument("--quick", action="store_true", help="tiny sizes and one round, to test that everything works")
    parser.add_argument("--output", type=Path, help="where the report goes; a full run writes bench/python/RESULTS.md")
    return parser.parse_args(words)


def main():
    options = parse(sys.argv[1:])
    if options.output is None and not options.quick and not options.only:
        options.output = HERE / "RESULTS.md"
    text = []
    try:
        for line in lines(options):
            print(line, flush=True)
            text.append(line)
    except RuntimeError as error:  # a result is wrong, or a worker ended
        say(f"run.py: {error}")
        return 1
    if options.output:
        options.output.write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
