#!/usr/bin/env python3
"""Shows where a run on Legion spends its time: in leaves, in other tasks, or waiting.

    bench/legion/profile.py summa ni=4096,nj=4096,nk=4096,gx=2,gy=1,chunk=1024

runs the program of algorithms/ with Legion's profiler, and shows the last repetition of its statement.
"""

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from run import run

ROOT = Path(__file__).resolve().parents[2]
# The numbers of a task record: operation, task, variant, processor, created, ready, started, stopped.
TASK = re.compile(r"Prof Task Info \w+ (\w+) \w+ (\w+) (\d+) (\d+) (\d+) (\d+)")
NAME = re.compile(r"Prof Task Variant (\d+) \d+ (.+)")
COPY = re.compile(r"Prof (?:Copy|Fill) Info \w+ \d+ (\d+) (\d+) (\d+) (\d+)")
META = re.compile(r"Prof Meta Info \w+ \d+ \w+ (\d+) (\d+) (\d+) (\d+)")


@dataclass
class Task:
    name: str
    processor: str
    ready: int
    started: int
    stopped: int

    def is_leaf(self):
        return "=" in self.name  # the statement is the name of its leaf tasks

    def duration(self):
        return self.stopped - self.started


def profiled(options):
    """The report of a run and the text of its profile."""
    with tempfile.TemporaryDirectory() as folder:
        report = run(options, "legion", options.program, options.settings, env={
            "LEGION_DEFAULT_ARGS": "-lg:prof 1 -lg:serializer ascii -lg:prof_logfile unused",
            "REALM_DEFAULT_ARGS": f"-logfile {folder}/profile_%.txt",
        })
        return report, "".join(path.read_text(encoding="utf-8") for path in Path(folder).glob("profile_*"))


def tasks_in(text):
    names = dict(NAME.findall(text))
    return [Task(names.get(kind, kind), processor, int(ready), int(started), int(stopped))
            for kind, processor, _, ready, started, stopped in TASK.findall(text)]


def last_repetition(leaves, repetitions):
    """The leaves of the last repetition by processor. All repetitions have the same number of leaves."""
    by_processor = defaultdict(list)
    for task in sorted(leaves, key=lambda t: t.started):
        by_processor[task.processor].append(task)
    return {p: tasks[-(len(tasks) // repetitions):] for p, tasks in by_processor.items()}


def time_between(pattern, text, begin, end):
    """The total time of the records of one kind between two times."""
    return sum(max(0, min(int(stopped), end) - max(int(started), begin))
               for *_, started, stopped in pattern.findall(text))


def milliseconds(nanoseconds):
    return f"{nanoseconds / 1e6:.1f} ms"


def lines(options):
    threads = run(options, "threads", options.program, options.settings)
    report, text = profiled(options)
    tasks = tasks_in(text)
    leaves = [t for t in tasks if t.is_leaf()]
    if not leaves:
        sys.exit("profile.py: Legion wrote no profile of tasks")
    last = last_repetition(leaves, options.reps)
    begin = min(t.started for tasks in last.values() for t in tasks)
    end = max(t.stopped for tasks in last.values() for t in tasks)
    yield f"{options.program} {options.settings}, the last of {options.reps} repetitions"
    yield f"  threads engine, best          {milliseconds(1e9 * threads['seconds_min'])}"
    yield f"  Legion with profiler, best    {milliseconds(1e9 * report['seconds_min'])}"
    yield f"  first to last leaf            {milliseconds(end - begin)}"
    for processor, on_processor in sorted(last.items()):
        busy = sum(t.duration() for t in on_processor)
        late = sum(max(0, t.started - t.ready) for t in on_processor[1:])
        yield (f"  processor {processor[-2:]}: {len(on_processor)} leaves take {milliseconds(busy)}, "
               f"{100 * busy / (end - begin):.1f} % of that; ready but not started {milliseconds(late)}")
    others = [t for t in tasks if not t.is_leaf() and begin <= t.started < end]
    yield f"  other tasks meanwhile         {milliseconds(sum(t.duration() for t in others))} in {len(others)}"
    yield f"  copies and fills meanwhile    {milliseconds(time_between(COPY, text, begin, end))}"
    yield f"  Legion's own work meanwhile   {milliseconds(time_between(META, text, begin, end))}, on other threads"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="a program of algorithms/")
    parser.add_argument("settings", help="the params of the program")
    parser.add_argument("--distal", type=Path, default=ROOT / "build" / "distal")
    parser.add_argument("--reps", type=int, default=4)
    for line in lines(parser.parse_args()):
        print(line)


if __name__ == "__main__":
    main()
