"""Tests the comparison of two versions: a report of made-up times, and a run of a build against itself.

Usage: run_test.py BUILD
"""

import subprocess
import sys
import unittest
from pathlib import Path

import run

BUILD = sys.argv.pop(1)


class Report(unittest.TestCase):
    def test_ratio_is_of_times_of_the_same_round(self):
        """The median of 2, 1 and 4. The ratio of the medians would be 3."""
        lines = list(run.table({"GEMM": {"old": [2, 3, 4], "new": [1, 3, 1]}}))
        self.assertEqual("| GEMM | 3 s | 1 s | 2.000 | 1.000 to 4.000 | 3 |", lines[-1])

    def test_case_without_a_round_has_no_row(self):
        self.assertEqual(2, len(list(run.table({"GEMM": {"old": [1], "new": []}}))))

    def test_small_times_have_their_unit(self):
        self.assertEqual(["1.5 ms", "20 µs", "3 ns"], [run.text_of(t) for t in (1.5e-3, 2e-5, 3e-9)])


class Run(unittest.TestCase):
    def test_build_against_itself(self):
        words = [sys.executable, Path(run.__file__), BUILD, BUILD, "--rounds", "1", "--only", "^explain"]
        done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=120, check=False)
        self.assertEqual("", done.stderr)
        self.assertIn("| explain cosma.distal |", done.stdout)


if __name__ == "__main__":
    unittest.main()
