#!/usr/bin/env python3
"""Compares what DISTAL finds with the best hand-written schedule of algorithms/, on threads and on ranks.

Every hand-written schedule runs once on every grid of its processors. The fastest ones of each case, the finalists,
then run beside the found one: in a round each of them starts once, in an order that changes from round to round, and
reports its best time. A ratio is hand-written / found of one round, so above 1 the found one is faster. `--keep FILE`
splits a measurement: what FILE has is not run again. See README.md.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import cases

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench" / "leaf"))
from machine import cpu  # noqa: E402

FOUND = "found"
NUMPY = "numpy.einsum"
GOAL = 0.95
GOAL_NUMPY = 1 / 1.5
# Times the call that a user of NumPy writes; prints the best of many.
TIME_NUMPY = """
import json, sys, time
import numpy as np
n, subscripts = int(sys.argv[1]), sys.argv[2]
random = np.random.default_rng(1)
terms = subscripts.split("->")[0].split(",")
arrays = [random.random((n,) * len(term)) for term in terms]
times, begin = [], time.perf_counter()
while len(times) < 5 or time.perf_counter() - begin < 0.5:
    before = time.perf_counter()
    np.einsum(subscripts, *arrays, optimize=True)
    times.append(time.perf_counter() - before)
print(json.dumps({"seconds_min": min(times)}))
"""


@dataclass
class Case:
    """One row of the table: a kernel in one place."""

    title: str
    commands: dict  # by competitor
    goal: float = GOAL


def settings_text(values):
    return ",".join(f"{name}={value}" for name, value in values.items())


def places(options):
    """Where a case runs: its name, the number of processors and the options of `run`."""
    yield f"{options.cores} threads", options.cores, []
    for ranks in options.ranks:
        yield f"{ranks} ranks", ranks, ["--engine", "mpi", "--ranks", str(ranks), "--threads", "1"]


def run_words(options, program, values, more):
    return [options.build / "distal", "run", program, "--set", settings_text(values), "--reps", options.reps,
            "--no-check", "--json", *more]


def free_program(folder, kernel, processors):
    path = folder / f"{kernel.title.replace(' ', '_')}_{processors}.distal"
    path.write_text(kernel.free_text(processors), encoding="utf-8")
    return path


def case_of(options, folder, kernel, place, processors, more):
    sizes = kernel.of_sizes(options.quick)
    commands = {FOUND: run_words(options, free_program(folder, kernel, processors), sizes, more)}
    for program, grids in kernel.hand_written:
        for values in grids(sizes, processors):
            name = f"{program} {settings_text(values)}"
            commands[name] = run_words(options, ROOT / "algorithms" / f"{program}.distal", {**sizes, **values}, more)
    return Case(f"{kernel.title}, {place}", commands)


def orbitals(options, folder):
    sizes = cases.ORBITALS.of_sizes(options.quick)
    commands = {FOUND: run_words(options, free_program(folder, cases.ORBITALS, 1), sizes, []),
                NUMPY: [options.python, "-c", TIME_NUMPY, sizes["n"], cases.ORBITALS_OF_NUMPY]}
    return Case(f"{cases.ORBITALS.title}, {options.cores} threads", commands, GOAL_NUMPY)


def all_cases(options, folder):
    made = [case_of(options, folder, kernel, place, processors, more)
            for kernel in cases.KERNELS for place, processors, more in places(options)]
    if has_numpy(options.python):
        made.append(orbitals(options, folder))
    return [case for case in made if re.search(options.only, case.title)]


def has_numpy(python):
    try:
        return subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def seconds_of(command):
    """The best time that a program reports."""
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])["seconds_min"]


class Measurement:
    """What was measured so far, in a file if there is one. `tried` has the first time of every hand-written schedule,
    by case and name; `rounds` has lists of times of the competitors."""

    def __init__(self, options):
        self.options = options
        self.file = Path(options.keep) if options.keep else None
        kept = json.loads(self.file.read_text(encoding="utf-8")) if self.file and self.file.exists() else {}
        self.tried = kept.get("tried", {})
        self.rounds = kept.get("rounds", {})
        self.end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")

    def is_over(self):
        return time.monotonic() > self.end

    def keep(self):
        if self.file:
            self.file.write_text(json.dumps({"tried": self.tried, "rounds": self.rounds}), encoding="utf-8")

    def try_all(self, case):
        tried = self.tried.setdefault(case.title, {})
        for name, command in case.commands.items():
            if name != FOUND and name not in tried and not self.is_over():
                tried[name] = seconds_of(command)
                self.keep()

    def finalists(self, case):
        tried = self.tried.get(case.title, {})
        return sorted(tried, key=tried.get)[: self.options.finalists]

    def run_round(self, case, number):
        """Does nothing if the round is there already."""
        names = [FOUND, *self.finalists(case)]
        times = self.rounds.setdefault(case.title, {})
        for name in sorted(names, key=lambda name: (names.index(name) + number) % len(names)):
            mine = times.setdefault(name, [])
            if len(mine) <= number and not self.is_over():
                mine.append(seconds_of(case.commands[name]))
        self.keep()

    def run(self, all_of_them):
        for case in all_of_them:
            self.try_all(case)
        for number in range(self.options.rounds):
            for case in all_of_them:
                if not self.is_over():
                    self.run_round(case, number)


def text_of(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def verdict(goal, ratios, found, best):
    """Spreads that overlap are no difference."""
    if statistics.median(ratios) >= goal:
        return "yes"
    return "spreads overlap" if min(found) * goal <= max(best) and min(best) <= max(found) else "no"


def row(title, goal, times):
    """A row of the table; nothing if no round is complete."""
    found = times.get(FOUND, [])
    others = {name: mine for name, mine in times.items() if name != FOUND and mine}
    if not found or not others:
        return None
    best = min(others, key=lambda name: statistics.median(others[name]))
    ratios = [hand / mine for hand, mine in zip(others[best], found)]
    return (f"| {title} | {text_of(statistics.median(found))} | {best} | {text_of(statistics.median(others[best]))} "
            f"| {statistics.median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f} | {len(ratios)} "
            f"| {goal:.2f} | {verdict(goal, ratios, found, others[best])} |")


def table(rounds, goals):
    yield ("| case | found | best hand-written | its time | hand-written / found | smallest to largest | rounds | goal "
           "| met |")
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for title, times in rounds.items():
        line = row(title, goals.get(title, GOAL), times)
        if line:
            yield line


def report(options, measurement, all_of_them):
    goals = {case.title: case.goal for case in all_of_them}
    yield "# Results: found and hand-written schedules"
    yield ""
    yield f"- version: {version(options.build)}"
    yield "- command: `bench/auto/run.py`"
    yield f"- machine: {cpu()}, {os.cpu_count()} cores"
    yield f"- date: {datetime.date.today()}"
    yield "- times are medians over the rounds, of the best run of each start"
    if not has_numpy(options.python):
        yield f"- {cases.ORBITALS.title} was not measured: {options.python} has no NumPy"
    yield ""
    yield from table(measurement.rounds, goals)


def version(build):
    done = subprocess.run([build / "distal", "--version"], capture_output=True, encoding="utf-8", check=False)
    return (done.stdout.splitlines() or ["unknown"])[0]


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks; empty: threads only")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reps", type=int, default=4, help="runs of a program in a start; the best time counts")
    parser.add_argument("--finalists", type=int, default=1,
                        help="hand-written schedules of a case that run in all rounds")
    parser.add_argument("--only", default="", metavar="REGEX", help="the cases whose title matches")
    parser.add_argument("--keep", metavar="FILE", help="what was measured so far")
    parser.add_argument("--minutes", type=float, default=0, help="begin nothing further after this")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows only that everything works")
    parser.add_argument("--python", default=sys.executable, help="a Python that has NumPy")
    parser.add_argument("--output", metavar="FILE", help="where the report goes; by default it is printed")
    options = parser.parse_args(words)
    options.ranks = [int(word) for word in options.ranks.split(",") if word]
    options.cores = len(os.sched_getaffinity(0))
    return options


def main():
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        all_of_them = all_cases(options, Path(folder))
        measurement = Measurement(options)
        measurement.run(all_of_them)
        text = "\n".join(report(options, measurement, all_of_them)) + "\n"
    if options.output:
        Path(options.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
