"""Tests the comparison with hand-written schedules: a report of made-up times, and a tiny run.

Usage: run_test.py BUILD
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import cases
import run

BUILD = sys.argv.pop(1)


def last_row(times, goal=0.95):
    return run.row("GEMM, 2 ranks", goal, times)


class Report(unittest.TestCase):
    def test_ratios_are_of_times_of_the_same_round(self):
        """The median of 2, 1 and 4. The ratio of the medians would be 3."""
        self.assertEqual(
            "| GEMM, 2 ranks | 1 s | summa | 3 s | 2.000 | 1.000 to 4.000 | 3 | 0.95 | yes |",
            last_row({"found": [1, 3, 1], "summa": [2, 3, 4]}),
        )

    def test_the_best_hand_written_schedule_counts(self):
        line = last_row({"found": [2.0, 2.0], "summa": [9.0, 9.0], "cannon": [1.0, 1.0]})
        self.assertIn("| cannon | 1 s | 0.500 | 0.500 to 0.500 | 2 | 0.95 | no |", line)

    def test_spreads_that_overlap_are_no_difference(self):
        self.assertIn("| spreads overlap |", last_row({"found": [1.0, 1.2, 1.3], "summa": [1.1, 0.9, 1.0]}))
        self.assertIn("| no |", last_row({"found": [1.3, 1.2, 1.4], "summa": [1.0, 0.9, 1.1]}))

    def test_a_case_without_a_round_has_no_row(self):
        self.assertEqual(2, len(list(run.table({"GEMM": {"found": [1.0], "summa": []}}, {}))))

    def test_goals(self):
        self.assertIn("| 0.67 | yes |", last_row({"found": [1.4], "numpy.einsum": [1.0]}, run.GOAL_NUMPY))


class Cases(unittest.TestCase):
    def test_all_grids(self):
        self.assertEqual([(1, 4), (2, 2), (4, 1)], cases.factorisations(4, 2))
        self.assertEqual(6, len(cases.factorisations(4, 3)))
        self.assertEqual([{"g": 1, "c": 4}, {"g": 2, "c": 1}], cases.solomonik({}, 4))
        self.assertEqual([{"gx": 1, "gy": 2, "chunk": 4}, {"gx": 2, "gy": 1, "chunk": 4}], cases.summa({"nk": 7}, 2))

    def test_free_programs_say_nothing_but_the_machine(self):
        text = cases.KERNELS[1].free_text(4)
        self.assertIn("machine M = 4 processors\ntensor A(ni, nj) on M\n", text)
        self.assertTrue(text.endswith("A(i, j) = B(i, j, k) * c(k)\n"))
        self.assertNotIn("schedule", text)
        self.assertNotIn("machine", cases.ORBITALS.free_text(1))

    def test_finalists_are_the_fastest(self):
        measurement = run.Measurement(run.parse(["--finalists", "2"]))
        measurement.tried = {"GEMM": {"summa": 3.0, "cannon": 1.0, "pumma": 2.0}}
        self.assertEqual(["cannon", "pumma"], measurement.finalists(run.Case("GEMM", {})))


class Run(unittest.TestCase):
    def test_tiny_sizes(self):
        """Every hand-written schedule of the matching kernels runs, and a second run adds nothing to what is kept."""
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / "kept.json"
            words = [sys.executable, "-B", run.__file__, "--build", BUILD, "--quick", "--ranks", "", "--rounds", "1",
                     "--reps", "1", "--only", "^(GEMM|MTTKRP|AO)", "--keep", str(kept)]
            done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=200, check=False)
            self.assertEqual("", done.stderr)
            self.assertIn("| GEMM, ", done.stdout)
            self.assertIn("| MTTKRP, ", done.stdout)
            text = kept.read_text(encoding="utf-8")
            subprocess.run(words, capture_output=True, timeout=200, check=True)
            self.assertEqual(text, kept.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
