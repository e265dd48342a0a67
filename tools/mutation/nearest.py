"""Which tests run for a fault, and in which order: those nearest to it first."""

from dataclasses import dataclass

from .folders import PRESETS, area_of, kinds_for, of_kind

FEW_SECONDS = 1.0  # the least that a test counts for


@dataclass(frozen=True)
class Stage:
    """Tests that run together, after what they need is built."""

    build: str
    tests: tuple

    @property
    def targets(self):
        """Of ninja; empty if everything is to be built."""
        if any(not t.targets for t in self.tests):
            return frozenset()
        return frozenset().union(*(t.targets for t in self.tests))


class Nearest:
    def __init__(self, coverage, seconds, all_tests=False):
        self._coverage = coverage  # None: tests are chosen by folder
        self._seconds = seconds  # of clean tests, by name
        self._all_tests = all_tests

    def quick_stages(self, fault, tests):
        """The quick tests and, for some folders, the MPI or Legion tests, as far as they can see the fault."""
        kinds = ["quick"] + [k for k in kinds_for(fault.file) if k not in PRESETS]
        seen = {}
        for kind in kinds:
            for test in self._that_see(fault, of_kind(tests, kind)):
                seen[test.name] = test
        return self._stages("default", fault, list(seen.values()))

    def sanitizer_stages(self, fault, build, tests):
        if build not in kinds_for(fault.file):
            return []
        return self._stages(build, fault, self._that_see(fault, tests))

    def _that_see(self, fault, tests):
        """A test that never executes the lines of a fault cannot see it."""
        names = self._coverage.tests_for(fault.file, fault.lines) if self._coverage else None
        if names is None or self._all_tests:
            return tests
        measured = self._coverage.has_measured
        return [t for t in tests if t.plain_name in names or not measured(t.plain_name)]

    def _stages(self, build, fault, tests):
        """First the tests of the own folder, then other programs, then scripts, which need everything built."""
        groups = [[], [], []]
        for test in sorted(tests, key=lambda t: self._distance(fault, t)):
            groups[2 if not test.targets else 0 if test.area == area_of(fault.file) else 1].append(test)
        return [Stage(build, tuple(group)) for group in groups if group]

    def _distance(self, fault, test):
        """Fast tests that execute little are near."""
        seconds = max(FEW_SECONDS, self._seconds.get(test.name, 0))
        lines = self._coverage.lines_executed_by(test.plain_name) if self._coverage else 1
        return test.area != area_of(fault.file), seconds * max(1, lines), test.name
