"""Programs compared with NumPy, through --load and --save.

All data are small integers, so that every element type computes exactly and every comparison is for equality.
DISTAL_LONG=1 makes many more random programs; `numpy_test.py --seed N` prints one and runs only that.
"""

import os
import sys
import unittest

import numpy as np
from hand_written import PROGRAMS
from random_program import NUMPY_TYPES, RandomProgram
from support import ALGORITHMS, CliTest, settings

LONG = bool(os.environ.get("DISTAL_LONG"))
RANDOM_PROGRAMS = 20000 if LONG else 250
GENERATED_PROGRAMS = 300 if LONG else 15

GEMM = ("A", "ik,kj->ij", "BC")
# What each algorithm computes: its output, the einsum, and the operands.
MEANING = {
    "cannon": GEMM,
    "pumma": GEMM,
    "summa": GEMM,
    "scalapack": GEMM,
    "johnson": GEMM,
    "solomonik": GEMM,
    "cosma": GEMM,
    "ttv": ("A", "ijk,k->ij", "Bc"),
    "innerprod": ("a", "ijk,ijk->", "BC"),
    "ttm": ("A", "ijk,kl->ijl", "BC"),
    "mttkrp": ("A", "ijk,jl,kl->il", "BCD"),
    "matvec": ("a", "ij,j->i", "Bc"),
    "contraction4": ("A", "ikmn,mnjl->ijkl", "BC"),
}
CUBES = ("johnson", "cosma", "mttkrp")
LINES = ("ttm",)


def random_array(source, shape, dtype):
    array = source.integers(-4, 5, shape).astype(dtype)
    if np.iscomplexobj(array):
        array = array + dtype(1j) * source.integers(-4, 5, shape).astype(dtype)
    return np.asarray(array, dtype)


class NumpyTest(CliTest):
    def run_on(self, program, inputs, outputs, *options):
        """Runs a program file on the arrays and returns the saved outputs and what --json said."""
        arguments = []
        for name, array in inputs.items():
            np.save(self.folder / f"{name}.npy", array)
            arguments += ["--load", f"{name}={self.folder / name}.npy"]
        for name in outputs:
            arguments += ["--save", f"{name}={self.folder / name}_result.npy"]
        said = self.json_of("run", program, "--check", *options, *arguments)
        self.assertIs(said["ok"], True)
        return {name: np.load(self.folder / f"{name}_result.npy") for name in outputs}, said

    def assert_same(self, got, wanted, about):
        self.assertEqual(got.dtype, wanted.dtype, about)
        self.assertEqual(got.shape, wanted.shape, about)
        if not np.array_equal(got, wanted):
            wrong = np.argwhere(got != wanted)
            at = tuple(wrong[0])
            self.fail(f"{len(wrong)} elements differ, the first at {at}: {got[at]}, wanted {wanted[at]}\n{about}")

    def assert_counts_agree(self, program, said, *options):
        """The run moves what `explain` says, and holds at most the memory that it says."""
        promised = self.json_of("explain", program, *options)
        for name in ("processors", "bytes_moved", "messages"):
            self.assertEqual(said[name], promised[name], f"{name}\n{program.read_text(encoding='utf-8')}")
        self.assertLessEqual(said["peak_bytes_per_processor"], promised["peak_bytes_per_processor"])


class Algorithms(NumpyTest):
    """Every file of algorithms/ on awkward sizes and grids."""

    def check_algorithm(self, name, values, type_name):
        output, einsum, operands = MEANING[name]
        dtype = NUMPY_TYPES[type_name]
        source = np.random.default_rng(len(name) + sum(values.values()))
        subscripts = einsum.split("->")[0].split(",")
        inputs = {
            tensor: random_array(source, [values[f"n{v}"] for v in indices], dtype)
            for tensor, indices in zip(operands, subscripts)
        }
        program = ALGORITHMS / f"{name}.distal"
        options = ["--set", settings(values), "--type", type_name]
        results, said = self.run_on(program, inputs, [output], "--reps", 1, *options)
        wanted = np.einsum(einsum, *inputs.values())
        self.assert_same(results[output], np.asarray(wanted, dtype), f"{name} {values} {type_name}")
        self.assert_counts_agree(program, said, *options)

    @staticmethod
    def sizes(name, numbers):
        einsum = MEANING[name][1]
        variables = sorted(set(einsum) - set(",->"))
        return {f"n{v}": n for v, n in zip(variables, numbers)}

    def grids(self, name):
        if name == "solomonik":
            return [{"g": g, "c": c} for g, c in [(1, 1), (2, 1), (2, 2), (3, 2), (4, 1), (4, 2), (4, 4), (5, 2)]]
        if name in LINES:
            return [{"gx": g} for g in (1, 3, 5)]
        if name in CUBES:
            cubes = [(2, 2, 2), (3, 1, 2), (1, 5, 1), (3, 2, 1), (1, 1, 7), (2, 3, 4)]
            return [dict(zip(("gx", "gy", "gz"), cube)) for cube in cubes]
        planes = [{"gx": x, "gy": y} for x, y in [(3, 2), (1, 5), (2, 2), (4, 4), (5, 1), (7, 3), (1, 1)]]
        if name == "scalapack":
            return [{**plane, "block": 2 + n, "chunk": 4 + 3 * n} for n, plane in enumerate(planes)]
        return planes

    def test_every_algorithm_has_a_meaning(self):
        self.assertEqual(sorted(path.stem for path in ALGORITHMS.glob("*.distal")), sorted(MEANING))

    def test_uneven_sizes_on_awkward_grids(self):
        for name in MEANING:
            small = name == "contraction4"
            for grid in self.grids(name):
                sizes = self.sizes(name, (5, 3, 4, 2, 6, 3) if small else (37, 53, 29, 11))
                with self.subTest(algorithm=name, grid=grid):
                    self.check_algorithm(name, {**sizes, **grid}, "double")

    def test_sizes_around_the_grid(self):
        for name in MEANING:
            for n in (1, 2, 3, 5, 8, 9):
                sizes = self.sizes(name, [n] * 6)
                grid = self.grids(name)[0 if name != "solomonik" else 5]
                with self.subTest(algorithm=name, n=n):
                    self.check_algorithm(name, {**sizes, **grid}, "int64")

    def test_every_element_type(self):
        for name in MEANING:
            for type_name in NUMPY_TYPES:
                sizes = self.sizes(name, (3, 4, 3, 2, 3, 2) if name == "contraction4" else (13, 11, 17, 5))
                with self.subTest(algorithm=name, type=type_name):
                    self.check_algorithm(name, {**sizes, **self.grids(name)[0]}, type_name)

    def test_options_of_algorithms(self):
        for values in (
            {"chunk": 1, "gx": 3, "gy": 2},
            {"chunk": 7, "gx": 2, "gy": 4},
            {"chunk": 100, "gx": 2, "gy": 2},
        ):
            self.check_algorithm("summa", {"ni": 19, "nj": 23, "nk": 31, **values}, "int32")
        for values in ({"steps": 3}, {"seqi": 2, "seqj": 3}, {"steps": 5, "seqi": 3, "seqj": 2, "gx": 3, "gz": 1}):
            self.check_algorithm("cosma", {"ni": 19, "nj": 23, "nk": 31, **values}, "int64")


class HandWritten(NumpyTest):
    """Programs that each test one feature, with hand-written computations in NumPy."""

    def test_all(self):
        for number, case in enumerate(PROGRAMS):
            with self.subTest(case.about):
                self.check(number, case)

    def check(self, number, case):
        program = self.write("program.distal", case.text)
        source = np.random.default_rng(number)
        dtype = NUMPY_TYPES[case.type]
        inputs = {name: random_array(source, shape, dtype) for name, shape in case.shapes.items()}
        wanted = case.meaning(**{name: array.copy() for name, array in inputs.items()})
        for options in ([], ["--own-memory", "--threads", 3], ["--leaf", "interpreted", "--threads", 1]):
            results, said = self.run_on(program, inputs, wanted, *options)
            for name, array in wanted.items():
                self.assert_same(results[name], np.asarray(array, dtype), f"{name} {options}\n{case.text}")
            self.assert_counts_agree(program, said)


class RandomPrograms(NumpyTest):
    """Random statements x machines x distributions x schedules."""

    def check(self, seed, *options):
        random_program = RandomProgram(seed)
        program = self.write("program.distal", random_program.text)
        inputs = random_program.inputs()
        wanted = random_program.outputs(inputs)
        written = {statement[0][1] for statement in random_program.statements}
        results, said = self.run_on(program, inputs, written, *options)
        about = f"numpy_test.py --seed {seed}\n{random_program.text}"
        for name in written:
            self.assert_same(results[name], wanted[name], about)
        self.assert_counts_agree(program, said)

    def test_interpreted(self):
        for seed in range(RANDOM_PROGRAMS):
            with self.subTest(seed=seed):
                own = ["--own-memory"] if seed % 2 else []
                self.check(seed, "--leaf", "interpreted", "--reps", 1 + seed % 2, "--threads", seed % 4, *own)

    def test_generated(self):
        for seed in range(GENERATED_PROGRAMS):
            with self.subTest(seed=seed):
                self.check(1_000_000 + seed, "--leaf", "generated", "--reps", 1)


def replay(seed):
    """Prints one random program and runs only that."""
    print(RandomProgram(seed).text)

    class Replay(RandomPrograms):
        def runTest(self):
            self.check(seed)

    return unittest.TextTestRunner().run(Replay()).wasSuccessful()


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--seed":
        sys.exit(0 if replay(int(sys.argv[2])) else 1)
    unittest.main()
