"""Tests the benchmark of the Python package: a report of made-up times, and a tiny run.

Usage: run_test.py BUILD [PYTHON]. Without a PYTHON that has the package, only the report is tested.
"""

import subprocess
import sys
import unittest
from pathlib import Path

import run
from workers import Timing

PYTHON = sys.argv.pop(2) if len(sys.argv) > 2 else None
BUILD = sys.argv.pop(1)


def rounds(**times):
    """Rounds with these seconds of each competitor."""
    return [dict(zip(times, (Timing(t, t, 1, 0) for t in row))) for row in zip(*times.values())]


class Report(unittest.TestCase):
    def test_ratio_is_of_times_of_the_same_round(self):
        """The median of 2, 1 and 4. The ratio of the medians would be 3."""
        made = rounds(cpp=[2, 3, 4], einsum=[1, 3, 1], kernel=[2, 2, 2], numpy=[2, 6, 2], jax=[0.5, 3, 0.5])
        row = run.large_row(run.LARGE[0], {"i": 8, "j": 9}, made)
        self.assertEqual("| gemm | i=8 j=9 | 1e+03 ms | 2 (1 to 4) | 1.5 (1 to 2) | 2 (2 to 2) | 0.5 (0.5 to 1) "
                         "| within its spread | ahead or level |", row)

    def test_who_is_slower_in_all_rounds_is_behind(self):
        made = rounds(einsum=[3, 4], cpp=[1, 2], numpy=[9, 9], jax=[2, 3])
        self.assertTrue(run.large_row(run.LARGE[0], {}, made).endswith("| slower | behind |"))

    def test_what_was_not_measured_is_empty(self):
        row = run.large_row(run.LARGE[0], {"i": 8}, rounds(einsum=[1, 1]))
        self.assertEqual("| gemm | i=8 | 1e+03 ms |  |  |  |  |  |  |", row)

    def test_kernel_is_compared_with_cpp_of_the_same_round(self):
        made = rounds(einsum=[9e-6, 11e-6], kernel=[8e-6, 28e-6], cpp=[2e-6, 20e-6], numpy=[1e-6, 3e-6])
        self.assertEqual("| tiny-gemm | 10 (9 to 11) µs | below 15 µs: met | 2.00 µs |  | 7 (6 to 8) µs "
                         "| below 5 µs: missed |", run.tiny_row(run.TINY[0], made))

    def test_steps_are_added(self):
        self.assertEqual(Timing(3, 7, 2, 0), run.added([Timing(1, 3, 5, 0), Timing(2, 4, 2, 0)]))


@unittest.skipIf(PYTHON is None, "no Python with the package is given")
class Run(unittest.TestCase):
    def test_tiny_run_has_every_row(self):
        words = [sys.executable, "-B", Path(run.__file__), "--quick", "--build", BUILD, "--python", PYTHON]
        done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=120, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        for kernel in (*run.TINY, *run.LARGE):
            self.assertIn(f"| {kernel.name} |", done.stdout)


if __name__ == "__main__":
    unittest.main()
