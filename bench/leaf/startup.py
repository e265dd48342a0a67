"""What a first run costs beyond the work: every measurement is a new process with a cache folder of its own."""

import os
import tempfile
from pathlib import Path

from measure import say
from workers import Worker


def extents(sizes):
    return ",".join(f"{index}={n}" for index, n in sizes.items())


def files(folder):
    return sum(1 for path in Path(folder).rglob("*") if path.is_file())


def beyond_a_run(answer):
    first, following = map(float, answer.split())
    return first - following


def started(command, cache):
    return Worker("distal", command, {**os.environ, "DISTAL_CACHE": str(cache)})


def measure_start(start, command, rounds):
    """(cold, warm, resized, new files): seconds of each round, and what new sizes added to the cache."""
    cold, warm, resized, new_files = [], [], [], 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for times in (cold, warm):
                worker = started(command, cache)
                times.append(beyond_a_run(worker.ask("start", extents(start.sizes), start.statement)))
                if times is warm:
                    before = files(cache)
                    resized.append(beyond_a_run(worker.ask("resize", extents(start.other))))
                    new_files += files(cache) - before
                worker.close()
        say(f"{start.name}: cold {cold[-1]:.3f} s, warm {warm[-1]:.5f} s, new size {resized[-1]:.5f} s")
    return cold, warm, resized, new_files
