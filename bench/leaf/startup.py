"""Measures start-up times: each measurement is a new process with its own cache folder."""

import os
import tempfile
from pathlib import Path

from measure import say
from workers import Worker


def extents(sizes):
    return ",".join(f"{index}={n}" for index, n in sizes.items())


def count_files(folder):
    return sum(1 for path in Path(folder).rglob("*") if path.is_file())


def start_up_seconds(answer):
    """The time of the first run minus the best time of later runs."""
    first, later = map(float, answer.split())
    return first - later


def start_worker(command, cache):
    return Worker("distal", command, {**os.environ, "DISTAL_CACHE": str(cache)})


def measure_start(start, command, rounds):
    """(cold, warm, resized, new_files): start-up seconds of each round, and the number of files that new sizes added to
    the cache."""
    cold, warm, resized, new_files = [], [], [], 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for times in (cold, warm):
                worker = start_worker(command, cache)
                times.append(start_up_seconds(worker.ask("start", extents(start.sizes), start.statement)))
                if times is warm:
                    before = count_files(cache)
                    resized.append(start_up_seconds(worker.ask("resize", extents(start.other))))
                    new_files += count_files(cache) - before
                worker.close()
        say(f"{start.name}: cold {cold[-1]:.3f} s, warm {warm[-1]:.5f} s, new size {resized[-1]:.5f} s")
    return cold, warm, resized, new_files
