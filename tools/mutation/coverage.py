"""Which tests execute which lines of src/."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

from .builds import cores
from .folders import of_kind
from .gcov import LineReader
from .suites import run_tests, tests_of

SLOWER = 10  # how many times longer a test may take than its own limit of 120 seconds, as it counts lines
LIMIT = 120 * SLOWER


class Coverage:
    """`masks` are by file and line: bit n is set if test n executes the line. A line of no code has none."""

    def __init__(self, tests, masks):
        self._tests = tests
        self._numbers = {name: n for n, name in enumerate(tests)}
        self._masks = masks
        self._sizes = [0] * len(tests)
        for lines in masks.values():
            for mask in lines.values():
                for n in bits(mask):
                    self._sizes[n] += 1

    def is_executed(self, file, line):
        return bool(self._masks.get(file, {}).get(line, 0))

    def tests_for(self, file, lines):
        """Names of the tests that execute one of the lines; None if gcov counts none of them."""
        found = [self._masks.get(file, {}).get(line) for line in lines]
        if all(mask is None for mask in found):
            return None
        union = 0
        for mask in found:
            union |= mask or 0
        return {self._tests[n] for n in bits(union)}

    def lines_executed_by(self, test):
        """How many lines of src/ a test executes: the fewer, the more it says about each."""
        return self._sizes[self._numbers[test]] if test in self._numbers else 0

    def has_measured(self, test):
        return test in self._numbers

    def to_json(self):
        lines = {f: {str(n): f"{mask:x}" for n, mask in of.items()} for f, of in self._masks.items()}
        return {"tests": self._tests, "lines": lines}

    @staticmethod
    def from_json(data):
        masks = {f: {int(n): int(mask, 16) for n, mask in of.items()} for f, of in data["lines"].items()}
        return Coverage(data["tests"], masks)


def bits(mask):
    return [n for n in range(mask.bit_length()) if mask >> n & 1]


def load_or_measure(file, tree, say):
    """The coverage of the tree's sources, which is measured once."""
    if file.exists():
        data = json.loads(file.read_text())
        if data.get("digest") == tree.sources.digest:
            return Coverage.from_json(data)
    coverage = measure(tree, say)
    file.write_text(json.dumps({"digest": tree.sources.digest, **coverage.to_json()}))
    return coverage


def measure(tree, say):
    tree.prepare("coverage", keep=False)
    build = tree.build_of("coverage")
    listed = tests_of(build, tree.folder)
    tests = of_kind(listed, "quick") + of_kind(listed, "mpi")
    reader = LineReader(tree.folder)
    done = []

    def lines_of(numbered):
        n, test = numbered
        prefix = build.folder(tree.folder) / "counters" / str(n)
        shutil.rmtree(prefix, ignore_errors=True)
        results = run_tests(build, tree.folder, [test], {test.name: LIMIT}, 1, env={"GCOV_PREFIX": str(prefix)},
                            scratch=f"selected-tests/{n}")
        found = reader.lines_of(prefix)
        shutil.rmtree(prefix, ignore_errors=True)
        done.append(test)
        say(f"coverage: {len(done)} of {len(tests)} tests", passing=True)
        return test.name, found, all(r.status == "passed" for r in results)

    with ThreadPoolExecutor(cores()) as pool:
        measured = list(pool.map(lines_of, enumerate(tests)))
    # What a failed test would have executed is not known.
    whole = [(name, lines) for name, lines, passed in measured if passed]
    return Coverage([name for name, _ in whole], masks_of([lines for _, lines in whole]))


def masks_of(by_test):
    masks = {}
    for n, lines in enumerate(by_test):
        for (file, line), executed in lines.items():
            of_file = masks.setdefault(file, {})
            of_file[line] = of_file.get(line, 0) | (executed << n)
    return masks
