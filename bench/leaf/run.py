#!/usr/bin/env python3
"""Measures leaves of DISTAL beside its peers and the limits of the machine.

In a round every competitor computes the same kernel. A ratio is the median of the ratios of the rounds. See README.md.
"""

import argparse
import dataclasses
import os
import re
import sys
from pathlib import Path

import machine
import report
from kernels import KERNELS, OVERHEADS, STARTS
from measure import Competitor, Effort, rates_of, run_rounds, say
from startup import measure_start
from workers import Worker

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GRIDS = (1, 2)
BUSY = 0.5  # the load above which other processes disturb a measurement
NOTE = """\
`DISTAL` is the median speed over the rounds. `/ limit` and `/ PEER` are medians of the ratios of speeds in the same
round: above 1 DISTAL is faster. `spread` is the smallest and the largest ratio to the competitor of the target.

- Bytes count every tensor once. `read` and `triad` are bandwidths of the machine; `peak` is the best GEMM of the BLAS.
- `Grid(1)` is one processor, `Grid(2)` two. All competitors use the same cores.
- `hand` is the fastest of the kernels written by hand for this benchmark, with plain threads and without DISTAL.
- `TACO` is the better of its own loops and a schedule with the last index innermost."""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--only", default="", metavar="REGEX", help="only the kernels whose name matches")
    parser.add_argument("--rounds", type=int, help="default 5, or 2 with --quick")
    parser.add_argument("--close", type=float, metavar="SECONDS", help="the time of further rounds of each kernel, for "
                        "DISTAL and the competitors that a target compares; default 15, or 0 with --quick")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to test that everything works")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--peers", default="blas,hand,triad,numpy,jax,taco",
                        help="the peers that take part, if they are available")
    parser.add_argument("--output", type=Path, help="a file for the report; a full run writes bench/leaf/RESULTS.md")
    options = parser.parse_args()
    options.rounds = options.rounds or (2 if options.quick else 5)
    options.close = (0 if options.quick else 15) if options.close is None else options.close
    options.effort = Effort(options.rounds, options.close, 0.002 if options.quick else 0.3)
    if options.output is None and not options.quick and not options.only:
        options.output = HERE / "RESULTS.md"
    return options


def start_workers(options):
    """The available workers by name."""
    folder = options.build / "bench" / "leaf"
    threads = str(options.threads)
    bytes_of_limits = 1 << 20 if options.quick else 1 << 31
    peaks = [96] if options.quick else [2048, 4096]
    env = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    env.setdefault("TACO_CFLAGS", "-O3 -march=native -ffast-math -std=c99")
    workers = {
        "distal": Worker("distal", [folder / "leaf_distal"]),
        "direct": Worker("direct", [folder / "leaf_direct", threads, str(bytes_of_limits), *map(str, peaks)]),
    }
    if "hand" in options.peers:
        workers["hand"] = Worker("hand", [folder / "leaf_hand", threads])
    python = os.environ.get("PEERS_PYTHON", "python3")
    if re.search("numpy|jax", options.peers) and machine.first_line([python, "-c", "import numpy; print(1)"]) == "1":
        workers["python"] = Worker("python", [python, "-B", HERE / "peers.py"], env)
    if "taco" in options.peers and (folder / "leaf_taco").exists():
        # TACO does not free results.
        workers["taco"] = Worker("taco", [folder / "leaf_taco", threads], env, leaks=True)
    return workers


def competitors(kernel, workers, options):
    """The competitors of a kernel by name."""
    wanted = set(kernel.peers) & set(options.peers.split(","))
    out = {"distal-1": Competitor(workers["distal"], "1")}
    for name in sorted({kernel.limit} | wanted & {"blas", "triad"}):
        out[name] = Competitor(workers["direct"], name)
    out["distal-2"] = Competitor(workers["distal"], "2")
    if "hand" in workers and "hand" in wanted:
        out["hand"] = Competitor(workers["hand"], "hand")
    if "python" in workers:
        out.update({name: Competitor(workers["python"], name) for name in sorted(wanted & {"numpy", "jax"})})
    if "taco" in workers and "taco" in wanted:
        out.update({f"taco-{variant}": Competitor(workers["taco"], variant) for variant in ("default", "scheduled")})
    return out


def with_best_taco(rates):
    """Replaces the variants of TACO by the better one of each round."""
    variants = [rates.pop(name) for name in list(rates) if name.startswith("taco-")]
    if variants:
        rates["taco"] = [max(speeds) for speeds in zip(*variants)]
    return rates


def measure_kernel(kernel, workers, options):
    sizes = kernel.quick if options.quick else kernel.sizes
    found = competitors(kernel, workers, options)
    close = [name for name in found if name.split("-")[0] in {"distal", "hand", kernel.limit, kernel.target[0]}]
    rounds = run_rounds(kernel, sizes, found, close, options.effort)
    rates = with_best_taco(rates_of(rounds, kernel.work(sizes)))
    return [report.kernel_row(kernel, sizes, grid, rates) for grid in GRIDS]


def measure_overhead(overhead, workers, options):
    both = {"distal-1": Competitor(workers["distal"], "1"), "blas": Competitor(workers["direct"], "blas")}
    effort = dataclasses.replace(options.effort, close_seconds=0)
    rounds = run_rounds(overhead.kernel, overhead.kernel.sizes, both, both, effort)
    return [report.overhead_row(overhead, rounds)]


def measure_start_up(start, options):
    command = [options.build / "bench" / "leaf" / "leaf_distal"]
    return report.start_rows(start, *measure_start(start, command, 1 if options.quick else options.rounds))


def tables(workers, options):
    """Yields the lines of the report as they are measured."""
    yield from ["# Results: leaves", "", *machine.describe(options.threads, workers), "", NOTE, ""]
    sections = [
        (KERNELS, report.heading, lambda k: measure_kernel(k, workers, options)),
        (OVERHEADS, report.overhead_heading, lambda o: measure_overhead(o, workers, options)),
        (STARTS, report.start_heading, lambda s: measure_start_up(s, options)),
    ]
    for entries, heading, measure in sections:
        chosen = [entry for entry in entries if re.search(options.only, entry.name)]
        if chosen:
            yield from heading()
        for entry in chosen:
            yield from measure(entry)
        if chosen:
            yield ""


def run(options):
    """Prints each line of the report as it is measured, and writes the file at the end."""
    # All workers inherit this affinity, so they find the same number of cores.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    if os.getloadavg()[0] > BUSY and not options.quick:
        say(f"run.py: the machine is busy, load {os.getloadavg()[0]:.1f}: ratios will have a wide spread")
    workers = start_workers(options)
    lines = []
    for text in tables(workers, options):
        print(text, flush=True)
        lines.append(text)
    for worker in workers.values():
        worker.close()
    if options.output:
        options.output.write_text("\n".join(lines), encoding="utf-8")
        say(f"written to {options.output}")


def main():
    try:
        run(arguments())
    except RuntimeError as error:  # a result is wrong, or a worker ended
        say(f"run.py: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
