"""Runs the competitors in rounds: in each round every competitor computes the same kernel, one after another."""

import dataclasses
import random
import statistics
import sys
import time

from workers import Unsupported

# Seconds before each measurement. The threads of a BLAS spin for some 30 ms after a call, and would take the cores of
# the next competitor.
PAUSE = 0.06
TOLERANCE = {"double": 1e-12, "float": 1e-5}


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class Competitor:
    """One variant of a worker."""

    worker: object
    variant: str

    def supports(self, kernel):
        """Whether the competitor supports the kernel. Raises an error if its result is wrong."""
        try:
            error = self.worker.check(self.variant)
        except Unsupported:
            return False
        if not error <= TOLERANCE[kernel.type]:
            raise RuntimeError(f"{self.worker.name} {self.variant} is wrong in {kernel.name}: error {error}")
        return True


def rates_of(rounds, work):
    """The speeds of each competitor in each round, in work per second."""
    return {
        name: [(timings[name].work or work) / timings[name].best for timings in rounds if name in timings]
        for name in rounds[0]
    }


def ratios(rates, name, other):
    """The speed of `name` / the speed of `other` in each round."""
    return [a / b for a, b in zip(rates[name], rates[other])]


def ratio(rates, name, other):
    """The median of the ratios over the rounds."""
    return statistics.median(ratios(rates, name, other))


@dataclasses.dataclass(frozen=True)
class Effort:
    """How long to measure.

    rounds: the rounds of all competitors
    close_seconds: the time of further rounds, of the competitors that a target compares
    seconds: the time of one competitor in a round
    """

    rounds: int
    close_seconds: float
    seconds: float


def one_round(competitors, names, number, seconds):
    """Runs one round. The order is random, so that no competitor always follows the same one; it depends only on
    `number`, so that it is the same in every run."""
    out = {}
    for name in random.Random(number).sample(names, len(names)):
        time.sleep(PAUSE)
        out[name] = competitors[name].worker.time(competitors[name].variant, seconds)
    return out


def run_rounds(kernel, sizes, competitors, close, effort):
    """The timings of each round by competitor. The competitors in `close` run further rounds after the rounds of all:
    more rounds reduce the effect of other load on the host."""
    workers = list({id(c.worker): c.worker for c in competitors.values()}.values())
    for worker in workers:
        worker.prepare(kernel, sizes)
    supported = [name for name, c in competitors.items() if c.supports(kernel)]
    out = []
    for number in range(effort.rounds):
        out.append(one_round(competitors, supported, number, effort.seconds))
        say(f"{kernel.name} round {number + 1}: " + ", ".join(f"{n} {out[-1][n].best:.4g} s" for n in supported))
    compared, end = [name for name in supported if name in close], time.monotonic() + effort.close_seconds
    while time.monotonic() < end:
        out.append(one_round(competitors, compared, len(out), effort.seconds))
    for worker in workers:
        worker.drop()
    return out
