"""How the trees are configured, built and tested, by preset."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Faults are compiled far more often than their code runs, so that a light optimisation and no debug information pay.
FAST = "-O1 -DNDEBUG"
# Benchmarks judge no fault, and tests need not be linked again when only the inside of the library changes.
OPTIONS = ["-DDISTAL_TESTS=ON", "-DDISTAL_PRECOMPILE=ON", "-DDISTAL_BENCHMARKS=OFF",
           "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON"]


@dataclass(frozen=True)
class Build:
    name: str
    preset: str
    options: tuple = ()
    prefix: tuple = ()  # of commands that run what is built

    def folder(self, tree):
        return Path(tree) / ("build" if self.name == "default" else f"build-{self.name}")

    def configure_command(self, tree):
        return ["cmake", "--preset", self.preset, "-S", tree, "-B", self.folder(tree), *OPTIONS,
                f"-DPython3_EXECUTABLE={python_with_numpy()}", *self.options]

    def environment(self, tree):
        """What ./test sets, and a cache of leaves inside of the tree."""
        return {
            "DISTAL_CACHE": str(self.folder(tree) / "leaf-cache"),
            "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "TSAN_OPTIONS": f"halt_on_error=1:suppressions='{tree}/tests/tsan.supp'",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def python_with_numpy():
    for python in (shutil.which("python3"), "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    return shutil.which("python3")


def fixed_addresses():
    """The thread sanitizer needs them; see ./test."""
    works = subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0
    return ("setarch", "-R") if works else ()


def builds():
    fast = f"-DCMAKE_CXX_FLAGS_RELWITHDEBINFO={FAST}"
    counting = f"-DCMAKE_CXX_FLAGS_RELWITHDEBINFO={FAST} --coverage"
    all_builds = [
        Build("default", "default", (fast,)),
        Build("coverage", "default", (counting,)),
        Build("asan", "asan"),
        Build("tsan", "tsan", prefix=fixed_addresses()),
    ]
    return {b.name: b for b in all_builds}


def cores():
    return len(os.sched_getaffinity(0))
