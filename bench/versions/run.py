#!/usr/bin/env python3
"""Compares two builds of DISTAL, of two versions: `bench/versions/run.py OLD NEW`, each a build folder.

In a round each build runs each case once, in an order that changes from round to round, and reports its best time. A
ratio is old / new of one round, so above 1 the new build is faster. `--keep FILE` splits a measurement: rounds that
FILE has are not run again. `--output FILE` writes the report.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench" / "leaf"))
from machine import cpu  # noqa: E402

SIDES = ("old", "new")


def gemm(n, ranks):
    grid = {1: "gx=1,gy=1", 2: "gx=2,gy=1", 4: "gx=2,gy=2"}[ranks]
    return program(f"GEMM {n}, {ranks} rank{'s' * (ranks > 1)}", "summa", f"ni={n},nj={n},nk={n},chunk={n // 4},{grid}",
                   ["--engine", "mpi", "--ranks", str(ranks), "--threads", "1"])


def program(title, name, settings, options=()):
    """A case that runs a program of algorithms/ and has the best time that it reports."""
    def seconds(build):
        words = ["run", ROOT / "algorithms" / f"{name}.distal", "--set", settings, "--reps", "5", "--json", *options]
        return json.loads(output_of([build / "distal", *words]))["seconds_min"]
    return title, seconds


def explain(title, name):
    """A case that times `distal explain` of a program, all of the process."""
    def seconds(build):
        def once():
            begin = time.perf_counter()
            output_of([build / "distal", "explain", ROOT / "algorithms" / f"{name}.distal"])
            return time.perf_counter() - begin
        return min(once() for _ in range(5))
    return title, seconds


def rerun(title, n):
    """A case that has the time of a small kernel that runs again, above that of the same call of BLAS."""
    def seconds(build):
        report = json.loads(output_of([build / "bench" / "bench_rerun", f"--benchmark_filter=/{n}$",
                                       "--benchmark_format=json", "--benchmark_min_time=0.2"]))
        times = {b["name"].split("/")[0]: b["cpu_time"] * 1e-9 for b in report["benchmarks"]}
        return times["kernel"] - times["blas"]
    return title, seconds


CASES = [
    *[gemm(n, ranks) for n in (2048, 4096) for ranks in (1, 2, 4)],
    program("TTV 512", "ttv", "ni=512,nj=512,nk=512,gx=2,gy=1"),
    program("TTM 512 x 64", "ttm", "ni=512,nj=512,nk=512,nl=64,gx=2"),
    program("MTTKRP 512, rank 64", "mttkrp", "ni=512,nj=512,nk=512,nl=64,gx=2,gy=1,gz=1"),
    explain("explain cosma.distal", "cosma"),
    rerun("small kernel above BLAS, n = 4", 4),
]


def output_of(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def measure(options):
    """The times of each side by case, a list with one number per round."""
    kept = Path(options.keep) if options.keep else None
    times = json.loads(kept.read_text()) if kept and kept.exists() else {}
    begin = time.monotonic()
    for title, seconds in CASES:
        if not re.search(options.only, title):
            continue
        sides = times.setdefault(title, {side: [] for side in SIDES})
        while len(sides["new"]) < options.rounds:
            if options.minutes and time.monotonic() - begin > 60 * options.minutes:
                return times
            for side in sorted(SIDES, reverse=len(sides["new"]) % 2 == 1):
                sides[side].append(seconds(getattr(options, side)))
            if kept:
                kept.write_text(json.dumps(times))
    return times


def table(times):
    yield "| case | old | new | old / new, median | smallest to largest | rounds |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for title, sides in times.items():
        ratios = [old / new for old, new in zip(sides["old"], sides["new"])]
        if not ratios:
            continue
        yield (f"| {title} | {text_of(statistics.median(sides['old']))} | {text_of(statistics.median(sides['new']))} "
               f"| {statistics.median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f} | {len(ratios)} |")


def text_of(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def report(times, options):
    yield "# Results: two versions of DISTAL"
    yield ""
    yield f"- versions: {options.names}"
    yield "- command: `bench/versions/run.py OLD NEW`, where OLD and NEW are build folders"
    yield f"- machine: {cpu()}, {os.cpu_count()} cores"
    yield f"- date: {datetime.date.today()}"
    yield ""
    yield from table(times)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", default="", metavar="REGEX", help="the cases whose title matches")
    parser.add_argument("--keep", metavar="FILE", help="what was measured so far")
    parser.add_argument("--minutes", type=float, default=0, help="begin no further round after this")
    parser.add_argument("--names", default="old and new", help="what the report says of the two versions")
    parser.add_argument("--output", metavar="FILE", help="where the report goes; by default it is printed")
    return parser.parse_args(words)


def main():
    options = parse(sys.argv[1:])
    text = "\n".join(report(measure(options), options)) + "\n"
    if options.output:
        Path(options.output).write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
