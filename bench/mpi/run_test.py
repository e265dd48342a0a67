"""Tests that the benchmark of MPI ranks runs, and that its report is right. Usage: run_test.py BUILD

Times of tiny sizes mean nothing, so no test reads them. Tests of the report use made-up times.
"""

import argparse
import subprocess
import sys
import unittest
from pathlib import Path

import cases
import report
from measure import Competitor, Results, run_rounds

HERE = Path(__file__).resolve().parent
BUILD = sys.argv.pop(1)
SQUARE = report.gemm_title(cases.square(2048), 2)
INNER = report.tensor_title("innerprod", 2)


def results_of(title, **seconds):
    """Made-up results: by competitor name, the time of each round."""
    out = Results(None)
    for name, times in seconds.items():
        out.by_title.setdefault(title, {})[name] = [{"seconds_min": t} for t in times]
    return out


def targets(results):
    """The table of targets: the cells of each row by its first cell."""
    options = argparse.Namespace(sizes=[2048], ranks=[1, 2, 4])
    lines = [line for line in report.targets(results, options) if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {first: rest for first, *rest in rows}


class Report(unittest.TestCase):
    def test_ratio_is_of_speeds_of_the_same_round(self):
        """The median of 3, 4 and 1.25. The ratio of the medians would be 2.5."""
        cells = targets(results_of(INNER, DISTAL=[1, 2, 4], CTF=[3, 8, 5]))
        self.assertEqual(cells["innerprod / CTF, 2 ranks"], [">= 2.4", "3.000 (1.25 to 4.00)", "met"])

    def test_ratio_below_target_is_missed(self):
        cells = targets(results_of(INNER, DISTAL=[1, 1, 1], CTF=[2.39, 2.39, 9]))
        self.assertEqual(cells["innerprod / CTF, 2 ranks"][2], "missed")

    def test_limit_is_the_faster_process(self):
        cells = targets(results_of(SQUARE, summa=[1, 1, 1], limit=[0.99, 0.99, 0.99], BLAS=[0.9, 0.9, 0.9]))
        best = cells["best GEMM (summa) / limit, n = 2048, 2 ranks"]
        self.assertEqual(best, [">= 0.95", "0.900 (0.90 to 0.90)", "missed"])

    def test_best_algorithm_is_compared_in_further_rounds_only(self):
        """Cannon's algorithm wins the first round by luck and runs in the further rounds."""
        cells = targets(results_of(SQUARE, cannon=[0.5, 1, 1], summa=[0.9], limit=[1, 0.96, 0.96]))
        best = cells["best GEMM (cannon) / limit, n = 2048, 2 ranks"]
        self.assertEqual(best, [">= 0.95", "0.960 (0.96 to 0.96)", "met"])

    def test_missing_measurement_meets_no_target(self):
        cells = targets(results_of(SQUARE, summa=[1], limit=[1], COSMA=[1]))
        self.assertEqual(cells["cannon / COSMA, n = 2048, 2 ranks"], [">= 0.97", "not measured", ""])

    def test_memory_is_missed_above_its_limit(self):
        own = cases.square(8192).bytes()
        results = Results(None)
        one = {"job_bytes": 1.4 * own, "resident_bytes": 0.4 * own}
        results.by_title[report.MEMORY] = {name: [one] for name in cases.ALGORITHMS}
        cells = targets(results)
        by_job = cells["memory of summa by job / matrices, n = 8192, 4 ranks"]
        by_ranks = cells["memory of summa by ranks / matrices, n = 8192, 4 ranks"]
        self.assertEqual(by_job, ["<= 1.5", "1.400 (1.40 to 1.40)", "met"])
        self.assertEqual(by_ranks, ["<= 1.5", "1.600 (1.60 to 1.60)", "missed"])


class Rounds(unittest.TestCase):
    def test_order_is_reversed_and_kept_rounds_are_not_run_again(self):
        turns = []

        def run(competitor):
            turns.append(competitor.command)
            return {"seconds_min": 1}

        results = results_of("t", a=[1], b=[1])
        run_rounds(results, "t", {"a": Competitor("a"), "b": Competitor("b")}, 3, run)
        self.assertEqual(turns, ["b", "a", "a", "b"])
        self.assertEqual(results.rounds("t"), 3)


class Run(unittest.TestCase):
    def test_every_competitor_takes_part(self):
        version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
        if "Open MPI" not in version:
            self.skipTest("the benchmark starts ranks with options of Open MPI")
        command = [sys.executable, "-B", HERE / "run.py", "--build", BUILD, "--sizes", "64", "--ranks", "2", "--rounds",
                   "1", "--reps", "1", "--only", "GEMM, square"]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no driver of COSMA", done.stderr)
        self.assertIn("- peers without a driver: ScaLAPACK, COSMA, CTF, BLAS\n", done.stdout)
        table = done.stdout[done.stdout.index("## GEMM, square 64, 2 ranks") :]
        for name in (*cases.ALGORITHMS, *report.LAYOUTS, "cyclic", "alone", "limit"):
            self.assertIn(f"\n| {name} |", table)


if __name__ == "__main__":
    unittest.main()
