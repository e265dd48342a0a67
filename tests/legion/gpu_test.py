"""A program for GPUs is emitted and built by its own CMakeLists.txt; without a GPU it says what it lacks.

What it computes is tested on a machine with a GPU, by tools/gpu.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from emitted_test import BINARY, ROOT, SETTINGS, TIMEOUT, settings


class OnGpus(unittest.TestCase):
    def setUp(self):
        if not SETTINGS.exists() or os.environ.get("DISTAL_LEGION") == "off":
            self.skipTest("there is no Legion here")
        if shutil.which("nvcc") is None:
            self.skipTest("there is no CUDA compiler here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_it(self, *command, status=0):
        done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", timeout=TIMEOUT,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_builds(self):
        source, build = self.folder / "source", self.folder / "build"
        self.run_it(BINARY, "emit", ROOT / "bench" / "gpu" / "gemm.distal", "-o", source)
        self.run_it("cmake", "-S", source, "-B", build, f"-DLegion_DIR={settings()['legion_dir']}")
        self.run_it("cmake", "--build", build)
        if shutil.which("nvidia-smi") is not None:
            return
        words = f"-ll:cpu 1 {settings()['args']} {settings()['single_args']}".split()
        done = self.run_it(build / "gemm", *words, status=3)
        self.assertIn("the program runs on GPUs, but Legion was given none; start it with -ll:gpu N", done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
