#!/usr/bin/env python3
"""Compares the Legion engine with the threads engine: the same programs on the same two processors, in turn.

In a round each engine runs each program several times and reports its best time. The first table has the medians over
the rounds, and the median of the ratios of speeds in the same round. The last table shows the overhead of Legion:
programs of many small steps whose leaves do almost nothing. `bench/legion/run.py --output bench/legion/RESULTS.md`
writes the report.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench" / "leaf"))
from machine import cpu, first_line  # noqa: E402

PROGRAMS = [
    ("GEMM 4096, SUMMA", "summa", "ni=4096,nj=4096,nk=4096,gx=2,gy=1,chunk=1024"),
    ("GEMM 4096, Johnson", "johnson", "ni=4096,nj=4096,nk=4096,gx=1,gy=1,gz=2"),
    ("TTV 512", "ttv", "ni=512,nj=512,nk=512,gx=2,gy=1"),
    ("inner product 512", "innerprod", "ni=512,nj=512,nk=512,gx=2,gy=1"),
    ("TTM 512 x 64", "ttm", "ni=512,nj=512,nk=512,nl=64,gx=2"),
    ("MTTKRP 512, rank 64", "mttkrp", "ni=512,nj=512,nk=512,nl=64,gx=2,gy=1,gz=1"),
    ("4-index contraction 40", "contraction4", "ni=40,nj=40,nk=40,nl=40,nm=40,nn=40,gx=2,gy=1"),
]
STEPS = [
    ("one process, 32 launches of 2 tasks", 1, "ni=2,nj=2,nk=32,gx=2,gy=1,chunk=1"),
    ("one process, 512 launches of 2 tasks", 1, "ni=2,nj=2,nk=512,gx=2,gy=1,chunk=1"),
    ("one process, 512 launches of 4 tasks", 1, "ni=2,nj=2,nk=512,gx=2,gy=2,chunk=1"),
    ("two processes, 512 launches of 2 tasks", 2, "ni=2,nj=2,nk=512,gx=2,gy=1,chunk=1"),
]
TARGET = 0.9


def run(options, engine, name, settings, ranks=1, env=None):
    command = [options.distal, "run", ROOT / "algorithms" / f"{name}.distal", "--set", settings, "--engine", engine,
               "--reps", options.reps, "--json", "--ranks", ranks]
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", timeout=600, check=False,
                          env={**os.environ, **(env or {})})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def compare(options):
    yield "| program | threads | Legion | Legion / threads | spread | target |  |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for title, name, settings in PROGRAMS:
        times = {"threads": [], "legion": []}
        for round_ in range(options.rounds):
            for engine in sorted(times, reverse=round_ % 2 == 1):
                times[engine].append(run(options, engine, name, settings)["seconds_min"])
        ratios = [a / b for a, b in zip(times["threads"], times["legion"])]
        ratio = statistics.median(ratios)
        shown = [f"{1e3 * statistics.median(times[engine]):.1f} ms" for engine in ("threads", "legion")]
        spread = f"{min(ratios):.3g} to {max(ratios):.3g}"
        met = "met" if ratio >= TARGET else "missed"
        yield f"| {title} (`{settings}`) | {shown[0]} | {shown[1]} | {ratio:.3g} | {spread} | >= {TARGET} | {met} |"


def overhead(options):
    yield "| program | per task | per launch |"
    yield "| --- | --- | --- |"
    for title, ranks, settings in STEPS:
        reports = [run(options, "legion", "summa", settings, ranks) for _ in range(options.rounds)]
        task = statistics.median(r["seconds_min"] / r["tasks"] for r in reports)
        launches = int(settings.split("nk=")[1].split(",")[0])
        launch = statistics.median(r["seconds_min"] / launches for r in reports)
        yield f"| {title} | {1e6 * task:.0f} us | {1e6 * launch:.0f} us |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distal", type=Path, default=ROOT / "build" / "distal")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reps", type=int, default=4, help="runs of a program in a round")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lines = []
    head = ["# Results: Legion engine", "",
            f"- CPU: {cpu()}",
            f"- cores: {os.cpu_count()}, load at the start: {os.getloadavg()[0]:.2f}",
            f"- commit: {first_line(['git', '-C', str(ROOT), 'describe', '--always', '--dirty'])}",
            f"- command: bench/legion/run.py --rounds {options.rounds} --reps {options.reps}",
            f"- date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC", ""]
    programs = ["## Programs", "", "Times are medians; the ratio compares speeds. Above 1 Legion is faster.", ""]
    small_steps = ["", "## Overhead of small steps", ""]
    for part in (head, programs, compare(options), small_steps, overhead(options)):
        for line in part:
            print(line, flush=True)
            lines.append(line)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
