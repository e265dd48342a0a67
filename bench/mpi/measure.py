"""Competitors, rounds and what is kept of them."""

import json
import os
import re
import statistics
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT = 600
MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np")
MPIRUN_ON_CORES = ("mpirun", "--allow-run-as-root", "--map-by", "hwthread:OVERSUBSCRIBE", "--bind-to",
                   "hwthread:overload-allowed", "-np")


@dataclass
class Competitor:
    command: list
    env: dict = field(default_factory=dict)


def say(text):
    print(text, file=sys.stderr, flush=True)


def run_once(competitor):
    """What the last line of its output says, as JSON."""
    command = list(map(str, competitor.command))
    env = {**os.environ, **competitor.env}
    done = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", timeout=TIMEOUT, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def descendants(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        own = [int(word) for word in children.read_text(encoding="utf-8").split()]
    except OSError:
        return []
    return own + [p for child in own for p in descendants(child)]


def proportional_bytes(pid):
    """Of a process, where pages that several processes have are shared out among them."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def run_watched(competitor):
    """A run, with the most memory that its processes had together."""
    most, ended = [0], threading.Event()

    def watch():
        while not ended.wait(0.3):
            most[0] = max(most[0], sum(map(proportional_bytes, descendants(os.getpid()))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return {**run_once(competitor), "job_bytes": most[0]}
    finally:
        ended.set()
        watcher.join()


class Results:
    """By the title of a comparison; in a file, if there is one, so that a run can be continued."""

    def __init__(self, path):
        self.path = path
        self.by_title = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}

    def add(self, title, round_):
        """The results of a round, by name."""
        for name, result in round_.items():
            self.by_title.setdefault(title, {}).setdefault(name, []).append(result)
        if self.path:
            self.path.write_text(json.dumps(self.by_title), encoding="utf-8")

    def rounds(self, title):
        return max(map(len, self.by_title.get(title, {}).values()), default=0)

    def rounds_of_all(self, title):
        """Those in which everyone took part."""
        return min(map(len, self.by_title.get(title, {}).values()), default=0)

    def __contains__(self, title):
        return title in self.by_title

    def seconds(self, title, name):
        """Of each round, or nothing where it was not measured."""
        return [result["seconds_min"] for result in self.by_title.get(title, {}).get(name, [])]


def ratios(of, to):
    """Of the speeds of each round, from times."""
    return [b / a for a, b in zip(of, to)]


def median(values):
    return statistics.median(values)


def run_rounds(results, title, competitors, rounds, run=run_once):
    """Those that are still missing; the order turns from round to round."""
    known = results.by_title.get(title, competitors)
    new = sorted(competitors.keys() - known.keys())
    if new and results.rounds(title) < rounds:  # rounds are paired by their number
        raise RuntimeError(f"{title}: what was kept has no rounds of {', '.join(new)}; measure it into another file")
    for round_ in range(results.rounds(title), rounds):
        say(f"{title}: round {round_ + 1} of {rounds}")
        names = sorted(competitors, reverse=round_ % 2 == 1)
        results.add(title, {name: run(competitors[name]) for name in names})
