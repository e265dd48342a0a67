"""An emitted program as its user sees it.

It is built by its own CMakeLists.txt in a clean folder, without DISTAL's library, so that its leaves are the loops in
its files; then it runs with right and wrong words.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("DISTAL_BINARY", ROOT / "build" / "distal")).resolve()
SETTINGS = ROOT / "build" / "legion" / "settings"
TIMEOUT = 300


def settings():
    return dict(line.split("=", 1) for line in SETTINGS.read_text(encoding="utf-8").splitlines())


# A sum with addends that it does not cover, one of them the old value of the output.
SUM = """param n = 65536
machine M = Grid(2)

tensor a : -> 0 on M
tensor b(n) : x -> x on M
tensor c(n) : x -> x on M
tensor d : -> 0 on M

a += b(i) * c(i) + 2 * d

schedule
  distribute(i, io, ii, M)
"""


class Emitted(unittest.TestCase):
    """Two programs in one executable, built once."""

    @classmethod
    def setUpClass(cls):
        if not SETTINGS.exists() or os.environ.get("DISTAL_LEGION") == "off":
            raise unittest.SkipTest("there is no Legion here")
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        source, build = cls.folder / "summa", cls.folder / "build"
        (cls.folder / "sum.distal").write_text(SUM, encoding="utf-8")
        for command in (
            [BINARY, "emit", ROOT / "algorithms" / "summa.distal", cls.folder / "sum.distal", "--target", "legion",
             "-o", source],
            ["cmake", "-S", source, "-B", build, f"-DLegion_DIR={settings()['legion_dir']}",
             "-DCMAKE_DISABLE_FIND_PACKAGE_distal=ON"],
            ["cmake", "--build", build],
        ):
            done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", timeout=TIMEOUT,
                                  check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        cls.program = build / "summa"

    def run_it(self, *words):
        flags = f"-ll:cpu 4 {settings()['args']} {settings()['single_args']}".split()
        named = () if words[:1] == ("--program",) else ("--program", "summa")
        return subprocess.run([str(self.program), *flags, *named, *map(str, words)], capture_output=True,
                              encoding="utf-8", timeout=TIMEOUT, check=False)

    def refuse(self, status, text, *words):
        done = self.run_it(*words)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.returncode, status, done.stderr)

    def test_checks_itself(self):
        done = self.run_it("--set", "ni=23,nj=17,nk=31,chunk=5", "--check", "--reps", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("check  correct", done.stdout)
        self.assertIn("in 391 elements", done.stdout)

    def test_several_runs_in_one_start(self):
        done = self.run_it("--set", "ni=23,nj=17,nk=31,chunk=5", "--check", "--then", "--program", "summa",
                           "--set", "ni=5,nj=3,gx=1", "--check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("check  correct"), 2, done.stdout)
        self.assertIn("in 391 elements", done.stdout)
        self.assertIn("in 15 elements", done.stdout)
        self.refuse(2, "there is no param nx", "--program", "summa", "--then", "--program", "summa", "--set", "nx=4")

    def test_checks_some_elements_or_none(self):
        params = ("--set", "ni=60,nj=50,nk=7,chunk=5")
        done = self.run_it(*params)
        self.assertIn("check  correct", done.stdout, done.stderr)
        self.assertIn("in 1000 elements", done.stdout)
        self.assertIn("in 3000 elements", self.run_it(*params, "--check").stdout)
        self.assertNotIn("check", self.run_it(*params, "--no-check").stdout)

    def test_extents_of_zero(self):
        file = self.folder / "zero.npy"
        for params, shape in (("ni=0,nj=3,nk=4", (0, 3)), ("ni=2,nj=3,nk=0", (2, 3))):
            done = self.run_it("--set", params, "--check", "--reps", 2, "--save", f"A={file}")
            self.assertIn("check  correct", done.stdout, done.stderr)
            numpy.testing.assert_array_equal(numpy.load(file), numpy.zeros(shape))

    def test_checks_a_long_sum_in_slices(self):
        # With little room beside the tensors, the sum is checked in many slices.
        for memory in (1, 1_500_000, 10_000_000):
            done = self.run_it("--program", "sum", "--memory", memory, "--reps", 2)
            self.assertIn("check  correct", done.stdout, done.stderr)
            self.assertIn("in 1 elements", done.stdout)

    def test_loads_and_saves(self):
        a, b, c = (self.folder / f"{name}.npy" for name in "abc")
        generator = numpy.random.default_rng(3)
        left, right = (generator.integers(-9, 9, shape).astype(float) for shape in ((7, 11), (11, 5)))
        numpy.save(b, left)
        numpy.save(c, right)
        done = self.run_it("--set", "ni=7,nj=5,nk=11,chunk=4", "--load", f"B={b}", "--load", f"C={c}", "--save",
                           f"A={a}")
        self.assertEqual(done.returncode, 0, done.stderr)
        numpy.testing.assert_array_equal(numpy.load(a), left @ right)

    def test_loads_and_saves_in_slices(self):
        a, b = (self.folder / f"slices_{name}.npy" for name in "ab")
        data = numpy.random.default_rng(4).random((1100, 1000))
        numpy.save(b, data)
        for grid in ("gx=1,gy=1", "gx=3,gy=2"):
            done = self.run_it("--set", f"ni=1100,nj=1,nk=1000,{grid}", "--load", f"B={b}", "--save", f"B={a}")
            self.assertIn("check  correct", done.stdout, done.stderr)
            numpy.testing.assert_array_equal(numpy.load(a), data)
            a.unlink()

    def test_refuses_wrong_words(self):
        self.refuse(2, "there is no option --what", "--what")
        self.refuse(2, "--reps needs a value", "--reps")
        self.refuse(2, "`x` is not a number", "--set", "ni=x")
        self.refuse(2, "`ni` is not NAME=VALUE", "--set", "ni")
        self.refuse(2, "there is no param nx", "--set", "nx=4")
        self.refuse(2, "--program must be one of: summa sum", "--program", "other")
        self.refuse(2, "there is no tensor Z", "--set", "ni=4,nj=4,nk=4", "--save", f"Z={self.folder / 'z.npy'}")

    def test_refuses_wrong_files(self):
        small = ("--set", "ni=4,nj=4,nk=4,gx=1,gy=1", "--load")
        file = self.folder / "wrong.npy"
        self.refuse(3, "cannot open /nowhere.npy", *small, "B=/nowhere.npy")
        self.refuse(2, "the name of a file is too long: ", *small, "B=" + 1100 * "x")
        self.refuse(3, "cannot write /nowhere/a.npy", *small[:2], "--save", "A=/nowhere/a.npy")
        file.write_bytes(b"no numpy")
        self.refuse(2, " is not a .npy file of version 1", *small, f"B={file}")
        numpy.save(file, numpy.zeros((4, 4)))
        whole = file.read_bytes()
        file.write_bytes(whole[:50])
        self.refuse(2, "wrong.npy ends too soon", *small, f"B={file}")
        file.write_bytes(whole[:-8])
        self.refuse(2, "a .npy file ends too soon", *small, f"B={file}")
        numpy.save(file, numpy.zeros((4, 5)))
        self.refuse(2, " and should have ", *small, f"B={file}")

    def test_says_what_memory_it_lacks(self):
        done = self.run_it("--set", "ni=2000,nj=2000,nk=2000", "-ll:csize", 1)
        self.assertIn("a copy of ", done.stderr)
        self.assertIn("give it more with -ll:csize MEGABYTES", done.stderr)
        self.assertEqual(done.returncode, 3)

    def test_few_bytes_for_copies(self):
        done = self.run_it("--set", "ni=64,nj=64,nk=512,chunk=16", "--memory", 1, "--check")
        self.assertIn("check  correct", done.stdout, done.stderr)


class Run(unittest.TestCase):
    """distal run --engine legion, where it ends badly."""

    def setUp(self):
        if not SETTINGS.exists() or os.environ.get("DISTAL_LEGION") == "off":
            self.skipTest("there is no Legion here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = Path(folder.name)

    def run_it(self, *words):
        command = [BINARY, "run", ROOT / "algorithms" / "summa.distal", "--set", "ni=9,nj=8,nk=7", "--engine", "legion"]
        return subprocess.run([*map(str, command), *words], capture_output=True, encoding="utf-8", timeout=TIMEOUT,
                              check=False, env={**os.environ, "DISTAL_CACHE": str(self.cache)})

    def test_a_program_that_fails(self):
        done = self.run_it("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"engine":"legion"', done.stdout)
        built = next(self.cache.glob("legion-summa-*"))
        built.write_text("#!/bin/sh\nexit 5\n", encoding="utf-8")
        done = self.run_it()
        self.assertIn("the Legion program ended with status 5", done.stderr)
        self.assertEqual(done.returncode, 3)

    def test_choices_of_the_other_engine(self):
        done = self.run_it("--own-memory")
        self.assertIn("the legion engine does not support --own-memory", done.stderr)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    sys.exit(unittest.main())
