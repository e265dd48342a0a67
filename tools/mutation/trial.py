"""One fault in one tree: planted, built, tested, taken out again."""

import re
import time
from dataclasses import dataclass, field

from .suites import TestError, run_tests

FAILED_STEP = re.compile(r"^FAILED: (\S+)", re.MULTILINE)
COMPILED = re.compile(r"\.(o|gch|pch|obj)$|CMakeFiles|build\.ninja")
NOT_LINKED = re.compile(r"undefined reference|ld returned|multiple definition")

FOUND, SURVIVED, NOT_COMPILED, UNSEEN = "found", "survived", "did not compile", "marked"


@dataclass
class Outcome:
    status: str
    by: str = ""  # the test that found the fault
    seconds: float = 0
    notes: list = field(default_factory=list)

    def to_json(self):
        return {"status": self.status, "by": self.by, "seconds": round(self.seconds, 1), "notes": self.notes}


class Trial:
    def __init__(self, tree, limits):
        self._tree = tree
        self._limits = limits  # seconds by name of test

    def judge(self, fault, stages):
        """Plants the fault and runs the stages, which all belong to one build, until a test fails."""
        begin = time.monotonic()
        outcome = Outcome(SURVIVED, notes=[] if stages else ["no test executes it"])
        if stages:
            self._tree.prepare(stages[0].build)
            with self._tree.planted(fault, stages[0].build):
                for stage in stages:
                    outcome = self._run_stage(stage)
                    if outcome.status != SURVIVED:
                        break
        outcome.seconds = time.monotonic() - begin
        return outcome

    def _run_stage(self, stage):
        built, output = self._tree.make(stage.build, stage.targets)
        if not built:
            return why_not_built(output)
        try:
            results = run_tests(self._tree.build_of(stage.build), self._tree.folder, stage.tests, self._limits,
                                self._tree.jobs)
        except TestError as error:
            return Outcome(FOUND, by="ctest", notes=[str(error).splitlines()[0]])
        failed = [r for r in results if r.status == "failed"]
        if failed:
            return Outcome(FOUND, by=failed[0].test + (f" ({failed[0].case})" if failed[0].case else ""))
        skipped = sorted(r.test for r in results if r.status == "skipped")
        return Outcome(SURVIVED, notes=[f"skipped: {', '.join(skipped)}"] if skipped else [])


def why_not_built(output):
    """A program that was built may have failed too: the build runs test programs to list their tests."""
    step = FAILED_STEP.search(output)
    name = step.group(1) if step else "?"
    if not step or COMPILED.search(name) or NOT_LINKED.search(output):
        message = next((line for line in output.splitlines() if "error:" in line), name)
        return Outcome(NOT_COMPILED, notes=[message[:200]])
    return Outcome(FOUND, by=f"listing the tests of {name}")
