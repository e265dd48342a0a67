"""Tests the measurement of machine models: constants of made-up times, and a tiny run. Usage: run_test.py BUILD"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import run

BUILD = Path(sys.argv.pop(1))


def made_up(**seconds):
    times = {"product": 1, "reading": 1, "from others": 3, "from itself": 1, "steps": 0.5, "steps alone": 0.1}
    times |= {name.replace("_", " "): value for name, value in seconds.items()}
    return {name: {"seconds": value, "messages": 80} for name, value in times.items()}


class Constants(unittest.TestCase):
    SIZES = run.Sizes(product=1000, reading=1000, copy=1000, steps=40)

    def of(self, **seconds):
        return run.constants(made_up(**seconds), self.SIZES, 2)

    def test_each_processor_gets_its_share(self):
        values = self.of()
        self.assertEqual(values["flops_per_second"], 1e9)
        self.assertEqual(values["memory_bytes_per_second"], 4e6)
        self.assertEqual(values["link_bytes_per_second"], 1e6)  # 2 MB in the 2 s that the others cost
        self.assertAlmostEqual(values["seconds_per_message"], 0.01)  # 40 messages in 0.4 s

    def test_bytes_that_cost_nothing_come_as_fast_as_memory(self):
        self.assertEqual(self.of(from_others=1)["link_bytes_per_second"], 4e6)
        self.assertEqual(self.of(from_others=1.001)["link_bytes_per_second"], 4e6)

    def test_no_constant_is_zero(self):
        self.assertEqual(self.of(steps=0.05)["seconds_per_message"], 1e-9)


class Run(unittest.TestCase):
    def check(self, engine):
        words = [sys.executable, "-B", run.__file__, "--build", BUILD, "--engine", engine, "--quick", "--rounds", "1"]
        done = subprocess.run(list(map(str, words)), capture_output=True, encoding="utf-8", timeout=120, check=False)
        self.assertEqual("", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            model, program = Path(folder) / "here.model", Path(folder) / "copy.distal"
            model.write_text(done.stdout, encoding="utf-8")
            program.write_text("machine M = 4 processors\ntensor a(9) on M\ntensor b(9) on M\na(i) = b(i)\n")
            subprocess.run([BUILD / "distal", "check", program, "--model", model], check=True, capture_output=True)

    def test_threads(self):
        self.check("threads")

    def test_ranks(self):
        if (BUILD / "distal-mpi").exists():
            self.check("mpi")


if __name__ == "__main__":
    unittest.main()
