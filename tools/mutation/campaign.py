"""All faults of a run, handed out to the trees."""

import queue
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from .clean import CleanError
from .folders import PRESETS, kinds_for
from .processes import Stopped, stop
from .suites import TestError
from .tree import TreeError
from .trial import NOT_COMPILED, SURVIVED, UNSEEN, Outcome, Trial


class Campaign:
    """Judges the listed faults, and as many seeded ones as are wanted. Each seeded fault that does not compile is
    replaced by a further one, so that the faults do not depend on how many trees there are."""

    def __init__(self, listed, seeded, count, trees, nearest, clean, record, console, deadline):
        self._seeded = seeded  # an iterator
        self._trees = trees
        self._nearest = nearest
        self._clean = clean
        self._record = record
        self._console = console
        self._deadline = deadline  # of time.monotonic, or None
        self.faults = list(listed) + self._next_seeded(count)

    def run(self, sanitizers=True):
        """All faults with the quick tests first; then, with the sanitizers, what survived in their folders."""
        pending = list(self.faults)
        while pending:
            self._judge_all([f for f in pending if not self._status(f)], self._judge_quickly)
            pending = self._next_seeded(sum(self._is_replaced(f) for f in pending))
            self.faults += pending
        for name in PRESETS if sanitizers else ():
            self._judge_all(self._unsanitized(name), lambda tree, f, build=name: self._try_sanitizer(tree, f, build))

    def _next_seeded(self, count):
        return [fault for _, fault in zip(range(count), self._seeded)]

    def _status(self, fault):
        outcome = self._record.outcomes.get(fault.name)
        return outcome.status if outcome else None

    def _is_replaced(self, fault):
        return fault.name.startswith("seeded") and self._status(fault) == NOT_COMPILED

    def _unsanitized(self, name):
        """The survivors that the tests with a sanitizer have not judged yet."""
        outcomes = self._record.outcomes
        return [f for f in self.faults if self._status(f) == SURVIVED and name in kinds_for(f.file)
                and passed_by(name) not in outcomes[f.name].notes]

    def _judge_all(self, faults, judge):
        todo = queue.SimpleQueue()
        # A fault in a header is compiled many times, so these come last.
        for fault in sorted(faults, key=lambda f: f.file.endswith(".h")):
            todo.put(fault)

        def work(tree):
            try:
                while not self._is_late():
                    judge(tree, todo.get_nowait())
            except (queue.Empty, Stopped):
                return
            except BaseException:
                stop()
                raise

        with ThreadPoolExecutor(len(self._trees)) as pool:
            list(pool.map(work, self._trees))

    def _is_late(self):
        return self._deadline is not None and time.monotonic() > self._deadline

    def _judge_quickly(self, tree, fault):
        if fault.reason:
            return self._keep(fault, Outcome(UNSEEN, notes=[fault.reason]))
        tests = self._clean.tests(tree, "default")
        outcome = Trial(tree, self._clean.limits()).judge(fault, self._nearest.quick_stages(fault, tests))
        self._keep(fault, outcome)

    def _try_sanitizer(self, tree, fault, name):
        """What the quick tests have found stays worth reporting, so a sanitizer that does not work is only noted."""
        try:
            self._sanitize(tree, fault, name)
        except (CleanError, TestError, TreeError) as error:
            self._console(f"{name}: {error}")
            outcome = self._record.outcomes[fault.name]
            self._keep(fault, replace(outcome, notes=outcome.notes + [f"{name} tests could not run"]))

    def _sanitize(self, tree, fault, name):
        tree.prepare(name)
        before = self._record.outcomes[fault.name]
        stages = self._nearest.sanitizer_stages(fault, name, self._clean.tests(tree, name))
        self._clean.require_pass(tree, name, [t for stage in stages for t in stage.tests])
        outcome = Trial(tree, self._clean.limits()).judge(fault, stages)
        outcome.seconds += before.seconds
        if outcome.status != SURVIVED:
            return self._keep(fault, outcome)
        self._keep(fault, Outcome(SURVIVED, "", outcome.seconds, before.notes + outcome.notes + [passed_by(name)]))

    def _keep(self, fault, outcome):
        self._record.add(fault, outcome)
        self._console(progress_line(fault, outcome, len(self._record.outcomes), len(self.faults)))


def passed_by(name):
    return f"{name} tests pass"


def progress_line(fault, outcome, number, count):
    verdict = {
        "found": f"found by {outcome.by} after {outcome.seconds:.0f} s",
        SURVIVED: "SURVIVED" + (f" ({'; '.join(outcome.notes)})" if outcome.notes else ""),
        NOT_COMPILED: "did not compile",
        UNSEEN: "changes nothing visible",
    }[outcome.status]
    return f"{number:3}/{count} {fault.file}:{fault.line}  {fault.what}  {verdict}"
