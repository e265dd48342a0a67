"""Rounds of measurements: in each, every competitor computes the same once, one after the other."""

import dataclasses
import random
import statistics
import sys
import time

from workers import NoForm

# Before each turn. The threads of a BLAS wait awake for some 30 ms after a call, and would take the next one's cores.
PAUSE = 0.06
TOLERANCE = {"double": 1e-12, "float": 1e-5}


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class Competitor:
    """A variant of a worker."""

    worker: object
    variant: str

    def is_right(self, kernel):
        """Whether it has the kernel; an error if it computes something else."""
        try:
            error = self.worker.check(self.variant)
        except NoForm:
            return False
        if not error <= TOLERANCE[kernel.type]:
            raise RuntimeError(f"{self.worker.name} {self.variant} is wrong in {kernel.name}: error {error}")
        return True


def rates_of(rounds, work):
    """Speeds in units of work a second, a list a competitor, from rounds of timings."""
    return {
        name: [(timings[name].work or work) / timings[name].best for timings in rounds if name in timings]
        for name in rounds[0]
    }


def ratios(rates, name, other):
    """How much faster `name` is than `other`, by round."""
    return [a / b for a, b in zip(rates[name], rates[other])]


def ratio(rates, name, other):
    """The median of the rounds."""
    return statistics.median(ratios(rates, name, other))


@dataclasses.dataclass(frozen=True)
class Effort:
    """How long to measure: rounds of all, then more of those that a target compares, and the time of one's turn."""

    rounds: int
    close_seconds: float
    seconds: float


def one_round(competitors, names, number, seconds):
    """In an order that each round draws anew (and every run alike), so that nobody always follows the same one."""
    out = {}
    for name in random.Random(number).sample(names, len(names)):
        time.sleep(PAUSE)
        out[name] = competitors[name].worker.time(competitors[name].variant, seconds)
    return out


def run_rounds(kernel, sizes, competitors, close, effort):
    """The timings of each round, by competitor. Those in `close` go on alone after the rounds of all: the more rounds,
    the less a busy neighbour weighs."""
    workers = list({id(c.worker): c.worker for c in competitors.values()}.values())
    for worker in workers:
        worker.prepare(kernel, sizes)
    able = [name for name, c in competitors.items() if c.is_right(kernel)]
    out = []
    for number in range(effort.rounds):
        out.append(one_round(competitors, able, number, effort.seconds))
        say(f"{kernel.name} round {number + 1}: " + ", ".join(f"{n} {out[-1][n].best:.4g} s" for n in able))
    few, end = [name for name in able if name in close], time.monotonic() + effort.close_seconds
    while time.monotonic() < end:
        out.append(one_round(competitors, few, len(out), effort.seconds))
    for worker in workers:
        worker.drop()
    return out
