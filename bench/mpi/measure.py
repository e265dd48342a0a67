"""Runs competitors in rounds and keeps their results."""

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
    """Runs the command and returns the last line of its output, parsed as JSON."""
    command = list(map(str, competitor.command))
    env = {**os.environ, **competitor.env}
    done = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", timeout=TIMEOUT, check=False)
    if done.returncode != 0 or not done.stdout.strip():
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def descendants(pid):
    """The pids of all child processes, recursively."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        own = [int(word) for word in children.read_text(encoding="utf-8").split()]
    except OSError:
        return []
    return own + [p for child in own for p in descendants(child)]


def proportional_bytes(pid):
    """The memory of a process (Pss): a page that n processes share counts 1/n."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def run_with_memory(competitor):
    """Like run_once, and adds `job_bytes`: the peak memory of all processes of the run together."""
    peak, ended = [0], threading.Event()

    def watch():
        while not ended.wait(0.3):
            peak[0] = max(peak[0], sum(map(proportional_bytes, descendants(os.getpid()))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return {**run_once(competitor), "job_bytes": peak[0]}
    finally:
        ended.set()
        watcher.join()


class Results:
    """Results of all rounds by comparison title and competitor name. They are kept in the file `path`, if given, so
    that a later run continues the measurement."""

    def __init__(self, path):
        self.path = path
        self.by_title = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}

    def add(self, title, round_):
        """Adds one round: the result of each competitor by name."""
        for name, result in round_.items():
            self.by_title.setdefault(title, {}).setdefault(name, []).append(result)
        if self.path:
            self.path.write_text(json.dumps(self.by_title), encoding="utf-8")

    def rounds(self, title):
        """The number of rounds, including those in which only some competitors took part."""
        return max(map(len, self.by_title.get(title, {}).values()), default=0)

    def common_rounds(self, title):
        """The number of rounds in which all competitors took part."""
        return min(map(len, self.by_title.get(title, {}).values()), default=0)

    def __contains__(self, title):
        return title in self.by_title

    def seconds(self, title, name):
        """The time of each round; empty if the competitor was not measured."""
        return [result["seconds_min"] for result in self.by_title.get(title, {}).get(name, [])]


def ratios(times, other_times):
    """The ratio of speeds in each round: above 1 where `times` is faster."""
    return [other / time for time, other in zip(times, other_times)]


def median(values):
    return statistics.median(values)


def run_rounds(results, title, competitors, rounds, run=run_once):
    """Runs the rounds that `results` lacks. The order is reversed from round to round."""
    known = results.by_title.get(title, competitors)
    new = sorted(competitors.keys() - known.keys())
    if new and results.rounds(title) < rounds:  # ratios pair rounds by their number
        raise RuntimeError(f"{title}: the kept file has no rounds of {', '.join(new)}; measure into another file")
    for round_ in range(results.rounds(title), rounds):
        say(f"{title}: round {round_ + 1} of {rounds}")
        names = sorted(competitors, reverse=round_ % 2 == 1)
        results.add(title, {name: run(competitors[name]) for name in names})
