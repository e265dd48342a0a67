"""Tests that the leaf benchmark runs and reports everything. Usage: run_test.py BUILD

Times of tiny sizes mean nothing, so no test reads them. The benchmark itself checks the results of all competitors.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from kernels import KERNELS, OVERHEADS, STARTS
from measure import Competitor, one_round, ratio
from workers import Unsupported

HERE = Path(__file__).resolve().parent
BUILD = sys.argv.pop(1)


def run(*options):
    command = [sys.executable, "-B", HERE / "run.py", "--build", BUILD, "--quick", *options]
    env = {**os.environ, "PEERS_PYTHON": sys.executable}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=env)


def rows(text):
    """The cells of all table rows."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]


class FakeWorker:
    """Answers every check with the same error, or does not support it."""

    name = "fake"

    def __init__(self, error):
        self.error = error

    def check(self, _):
        if self.error is None:
            raise Unsupported
        return self.error


class RecordingWorker:
    """Records the order of the measurements."""

    def __init__(self, turns):
        self.turns = turns

    def time(self, variant, _):
        self.turns.append(variant)


class Measure(unittest.TestCase):
    def test_wrong_result_ends_the_run(self):
        self.assertTrue(Competitor(FakeWorker(0.0), "x").supports(KERNELS[0]))
        self.assertFalse(Competitor(FakeWorker(None), "x").supports(KERNELS[0]))
        for error in (1e-6, float("inf"), float("nan")):
            with self.assertRaisesRegex(RuntimeError, "fake x is wrong in gemm-512"):
                Competitor(FakeWorker(error), "x").supports(KERNELS[0])

    def test_ratio_is_of_speeds_of_the_same_round(self):
        # The machine is ten times slower in the second round, for both.
        self.assertEqual(ratio({"a": [20.0, 2.0, 20.0], "b": [10.0, 1.0, 5.0]}, "a", "b"), 2.0)

    def test_no_competitor_always_follows_the_same_one(self):
        turns = []
        workers = {name: Competitor(RecordingWorker(turns), name) for name in "abc"}
        before = {name: set() for name in workers}
        for number in range(12):
            one_round(workers, list(workers), number, 0)
        for first, second in zip(turns, turns[1:]):
            before[second].add(first)
        self.assertEqual(sorted(turns), sorted("abc" * 12))
        for name, seen in before.items():
            self.assertLessEqual(set("abc") - {name}, seen)


class Leaf(unittest.TestCase):
    def test_report_has_every_row(self):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "RESULTS.md"
            done = run("--peers", "blas,hand,triad,numpy", "--output", str(output))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = output.read_text(encoding="utf-8")
        self.assertEqual(text.strip(), done.stdout.strip())
        found = rows(text)
        for kernel in KERNELS:
            for grid in ("Grid(1)", "Grid(2)"):
                self.assertEqual(sum(r[0] == kernel.name and r[2] == grid for r in found), 1, (kernel.name, grid))
        for overhead in OVERHEADS:
            self.assertEqual(sum(r[0] == str(overhead.n) for r in found), 1, overhead.name)
        for start in STARTS:
            self.assertEqual(sum(r[0] == f"`{start.statement}`" for r in found), 3, start.name)

    def test_only_selects_kernels(self):
        done = run("--peers", "blas", "--only", "^gemm-5", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({r[0] for r in rows(done.stdout)} - {"kernel", "---"}, {"gemm-512"})


if __name__ == "__main__":
    unittest.main()
