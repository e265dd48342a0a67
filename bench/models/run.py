#!/usr/bin/env python3
"""Measures the constants of a machine model, and prints a file for `--model`. See README.md.

    bench/models/run.py --engine mpi > here.model
    distal run program.distal --engine mpi --model here.model

All processors work at once, as in a real program, and each constant is what one of them gets.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench" / "leaf"))
from machine import cpu  # noqa: E402

# Every processor multiplies rows of its own: nothing moves.
PRODUCT = """param n = 1, p = 1
machine M = Grid(p)
tensor A(n, n) : xy -> x on M
tensor B(n, n) : xy -> x on M
tensor C(n, n) : xy -> * on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({i}, {io}, {ii}, M)
  communicate({A, B, C}, io)
"""
# Every processor reads rows of its own, once.
READING = """param n = 1, p = 1
machine M = Grid(p)
tensor a(n) : x -> x on M
tensor B(n, n) : xy -> x on M
tensor c(n) : x -> * on M
a(i) = B(i, j) * c(j)
schedule
  distribute({i}, {io}, {ii}, M)
  communicate({a, B, c}, io)
"""
# Every processor copies rows; from `y` they come from all others, from `x` they are its own.
COPY = """param n = 1, p = 1
machine M = Grid(p)
tensor A(n, n) : xy -> x on M
tensor B(n, n) : xy -> FROM on M
A(i, j) = B(i, j)
schedule
  distribute({i}, {io}, {ii}, M)
  communicate({A, B}, io)
"""
# A sum in n steps. In each step every processor gets one element of C, from one of the others or from itself.
STEPS = """param n = 1, p = 1
machine M = Grid(p)
tensor A(p, p) : xy -> x on M
tensor B(p, n) : xy -> x on M
tensor C(n, p) : xy -> x cyclic(x = 1) on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({i}, {io}, {ii}, M)
  divide(k, ko, ki, n)
  reorder({io, ko, ii, j, ki})
  communicate({A, B}, io)
  communicate(C, ko)
"""
# The same without messages.
STEPS_ALONE = STEPS.replace("tensor C(n, p) : xy -> x cyclic(x = 1)", "tensor C(n, p) : xy -> *")


@dataclass(frozen=True)
class Sizes:
    product: int
    reading: int
    copy: int
    steps: int


FULL = Sizes(product=2048, reading=8192, copy=6144, steps=4000)
QUICK = Sizes(product=32, reading=48, copy=48, steps=24)


class Runner:
    """Runs programs on the processors of an engine, and has the median of their best times."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = Path(folder)

    def once(self, name, text, n):
        path = self.folder / f"{name}.distal"
        path.write_text(text, encoding="utf-8")
        words = [self.options.build / "distal", "run", path, "--set", f"n={n},p={self.options.processors}", "--reps", 5,
                 "--no-check", "--json", "--engine", self.options.engine]
        if self.options.engine == "mpi":
            words += ["--ranks", self.options.processors, "--threads", 1]
        done = subprocess.run(list(map(str, words)), capture_output=True, encoding="utf-8", timeout=600, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def report(self, name, text, n):
        """The last report, with the median time of all starts."""
        reports = [self.once(name, text, n) for _ in range(self.options.rounds)]
        return {**reports[-1], "seconds": statistics.median(r["seconds_min"] for r in reports)}


def constants(measured, sizes, processors):
    """The constants, of the reports by program."""
    product, reading = measured["product"], measured["reading"]
    flops = 2 * sizes.product**3 / processors / product["seconds"]
    memory = 8 * sizes.reading**2 / processors / reading["seconds"]
    return {"flops_per_second": flops, "link_bytes_per_second": link(measured, sizes, processors, memory),
            "memory_bytes_per_second": memory, "seconds_per_message": latency(measured, processors)}


def link(measured, sizes, processors, memory):
    """Bytes from others in the time that a copy of one's own does not take. Where that is no time, they come as fast as
    memory."""
    exchanged = 8 * sizes.copy**2 * (processors - 1) / processors**2
    extra = measured["from others"]["seconds"] - measured["from itself"]["seconds"]
    return min(memory, exchanged / extra) if extra > 0 else memory


def latency(measured, processors):
    """The time of a step with a message, above that of a step without. At least a nanosecond: a model has no zeros."""
    steps, alone = measured["steps"], measured["steps alone"]
    messages = max(1, steps["messages"] / processors)
    return max(1e-9, (steps["seconds"] - alone["seconds"]) / messages)


def measure(options):
    sizes = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, folder)
        measured = {
            "product": runner.report("product", PRODUCT, sizes.product),
            "reading": runner.report("reading", READING, sizes.reading),
            "from others": runner.report("others", COPY.replace("FROM", "y"), sizes.copy),
            "from itself": runner.report("itself", COPY.replace("FROM", "x"), sizes.copy),
            "steps": runner.report("steps", STEPS, sizes.steps),
            "steps alone": runner.report("alone", STEPS_ALONE, sizes.steps),
        }
    return constants(measured, sizes, options.processors)


def model_text(options, values):
    yield f"# The {options.engine} engine, {options.processors} processors, {datetime.date.today()}"
    yield f"# {cpu()}, {os.cpu_count()} cores"
    yield f"# bench/models/run.py --engine {options.engine} --processors {options.processors}"
    width = max(map(len, values))
    for name, value in values.items():
        yield f"{name:{width}} = {value:.3g}"


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("threads", "mpi"), default="threads")
    parser.add_argument("--processors", type=int, default=max(2, len(os.sched_getaffinity(0))),
                        help="that work at once; by default one for each core, and at least 2")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--rounds", type=int, default=3, help="starts of each program; the median counts")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows only that everything works")
    return parser.parse_args(words)


def main():
    options = parse(sys.argv[1:])
    print("\n".join(model_text(options, measure(options))))


if __name__ == "__main__":
    main()
