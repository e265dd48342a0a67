"""The benchmark of leaves runs and has a line for everything. Usage: run_test.py BUILD

Figures of tiny sizes mean nothing, so none is looked at; that every competitor computed the right thing is checked by
the benchmark itself.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from kernels import KERNELS, OVERHEADS, STARTS

HERE = Path(__file__).resolve().parent
BUILD = sys.argv.pop(1)


def run(*options):
    command = [sys.executable, "-B", HERE / "run.py", "--build", BUILD, "--quick", *options]
    env = {**os.environ, "PEERS_PYTHON": sys.executable}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=env)


def rows(text):
    """The cells of all lines of tables."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]


class Leaf(unittest.TestCase):
    def test_has_a_line_for_everything(self):
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "RESULTS.md"
            done = run("--peers", "blas,triad,numpy", "--output", str(output))
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

    def test_only_what_is_asked_for(self):
        done = run("--peers", "blas", "--only", "^gemm-5", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({r[0] for r in rows(done.stdout)} - {"kernel", "---"}, {"gemm-512"})


if __name__ == "__main__":
    unittest.main()
