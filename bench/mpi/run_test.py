"""The benchmark of ranks runs, and its report says what was measured. Usage: run_test.py BUILD

Figures of tiny sizes mean nothing, so none is looked at; what follows from figures is tested with made-up ones.
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
    """Made up: times by name, a round each."""
    out = Results(None)
    for name, times in seconds.items():
        out.by_title.setdefault(title, {})[name] = [{"seconds_min": t} for t in times]
    return out


def targets(results):
    """The cells of each line of the targets, by its first."""
    options = argparse.Namespace(sizes=[2048], ranks=[1, 2, 4])
    lines = [line for line in report.targets(results, options) if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {first: rest for first, *rest in cells}


class Report(unittest.TestCase):
    def test_ratio_is_of_speeds_of_the_same_round(self):
        """The median of 3, 4 and 1.25; of medians it would be 2.5."""
        said = targets(results_of(INNER, DISTAL=[1, 2, 4], CTF=[3, 8, 5]))
        self.assertEqual(said["innerprod / CTF, 2 ranks"], [">= 2.4", "3.000 (1.25 to 4.00)", "met"])

    def test_miss_is_a_miss(self):
        said = targets(results_of(INNER, DISTAL=[1, 1, 1], CTF=[2.39, 2.39, 9]))
        self.assertEqual(said["innerprod / CTF, 2 ranks"][2], "missed")

    def test_limit_is_the_faster_one_process(self):
        said = targets(results_of(SQUARE, summa=[1, 1, 1], limit=[0.99, 0.99, 0.99], BLAS=[0.9, 0.9, 0.9]))
        best = said["best GEMM (summa) / limit, n = 2048, 2 ranks"]
        self.assertEqual(best, [">= 0.95", "0.900 (0.90 to 0.90)", "missed"])

    def test_best_is_judged_by_rounds_that_did_not_choose_it(self):
        """Cannon's algorithm won the first round by luck, and went on alone."""
        said = targets(results_of(SQUARE, cannon=[0.5, 1, 1], summa=[0.9], limit=[1, 0.96, 0.96]))
        best = said["best GEMM (cannon) / limit, n = 2048, 2 ranks"]
        self.assertEqual(best, [">= 0.95", "0.960 (0.96 to 0.96)", "met"])

    def test_who_was_not_measured_has_met_nothing(self):
        said = targets(results_of(SQUARE, summa=[1], limit=[1], COSMA=[1]))
        self.assertEqual(said["cannon / COSMA, n = 2048, 2 ranks"], [">= 0.97", "not measured", ""])

    def test_memory_is_missed_above_its_limit(self):
        own = cases.square(8192).bytes()
        results = Results(None)
        one = {"job_bytes": 1.4 * own, "resident_bytes": 0.4 * own}
        results.by_title[report.MEMORY] = {name: [one] for name in cases.ALGORITHMS}
        said = targets(results)
        where = "memory of summa / matrices, n = 8192, 4 ranks"
        self.assertEqual(said[where], ["<= 1.5", "1.400 (1.40 to 1.40)", "met"])
        self.assertEqual(said[f"{where}, shared pages counted for each"][1:], ["1.600 (1.60 to 1.60)", "missed"])


class Rounds(unittest.TestCase):
    def test_order_turns_and_what_is_kept_is_not_run_again(self):
        turns = []

        def run(competitor):
            turns.append(competitor.command)
            return {"seconds_min": 1}

        results = results_of("t", a=[1], b=[1])
        run_rounds(results, "t", {"a": Competitor("a"), "b": Competitor("b")}, 3, run)
        self.assertEqual(turns, ["b", "a", "a", "b"])
        self.assertEqual(results.rounds("t"), 3)


class Run(unittest.TestCase):
    def test_everyone_takes_part(self):
        said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
        if "Open MPI" not in said:
            self.skipTest("the benchmark starts ranks with options of Open MPI")
        command = [sys.executable, "-B", HERE / "run.py", "--build", BUILD, "--sizes", "64", "--ranks", "2", "--rounds",
                   "1", "--reps", "1", "--only", "GEMM, square"]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no driver of COSMA", done.stderr)
        self.assertIn("- peers that were not there: ScaLAPACK, COSMA, CTF, BLAS\n", done.stdout)
        table = done.stdout[done.stdout.index("## GEMM, square 64, 2 ranks") :]
        for name in (*cases.ALGORITHMS, *report.LAYOUTS, "dealt", "alone", "limit"):
            self.assertIn(f"\n| {name} |", table)


if __name__ == "__main__":
    unittest.main()
