"""The benchmark of the package runs, on tiny arrays. Its times mean nothing here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("DISTAL_SOURCE", Path(__file__).parents[2]))
BUILD = Path(os.environ.get("DISTAL_BUILD", ROOT / "build"))


@pytest.mark.skipif(not (BUILD / "bench" / "leaf" / "leaf_distal").exists(), reason="the C++ benchmark is not built")
def test_tiny_run():
    words = [sys.executable, "-B", ROOT / "bench" / "python" / "run_test.py", BUILD, sys.executable]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=120,
                          env={**os.environ, "PYTHONUTF8": "1"})
    assert done.returncode == 0, done.stderr
