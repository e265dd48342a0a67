"""Files that programs load and save, on the engine of the words given: `files_test.py --engine mpi --ranks 3`.

Every process reads and writes its own part of a file; the elements and the bytes of the files are those of NumPy.
"""

import os
import random
import sys
import unittest

import numpy as np
from random_program import NUMPY_TYPES
from support import BINARY, CliTest, finished

ENGINE = sys.argv[1:]
ON_RANKS = "mpi" in ENGINE
CASES = 12 if ON_RANKS else 60
MIB = 1 << 20


def random_distribution(source, letters):
    """A machine and the distribution of a tensor onto it, as in a declaration."""
    dimensions = source.randint(1, 2)
    grid = ", ".join(str(source.choice((1, 2, 2, 3, 5))) for _ in range(dimensions))
    free, target, cyclic = list(letters), "", []
    for _ in range(dimensions):
        role = source.choice("*0xxxx")
        if role == "x" and not free:
            role = "*"
        if role != "x":
            target += role
            continue
        letter = free.pop(source.randrange(len(free)))
        target += letter
        if source.random() < 0.4:
            cyclic.append(f"{letter} = {source.randint(1, 3)}")
    dealt = f" cyclic({', '.join(cyclic)})" if cyclic else ""
    return f"{letters} -> {target}{dealt} on Grid({grid})"


def random_tensor(source, name, shape):
    letters = "xyz"[: len(shape)]
    size = f"({', '.join(map(str, shape))})" if shape else ""
    distribution = random_distribution(source, letters)
    order = list(range(len(shape)))
    source.shuffle(order)
    ordered = f" order({', '.join(map(str, order))})" if shape else ""
    return f"tensor {name}{size} : {distribution}{ordered}\n"


class Files(CliTest):
    def run_on(self, program, *words, reps=1):
        return self.json_of("run", program, *ENGINE, "--reps", reps, *words)

    def file(self, name):
        return self.folder / f"{name}.npy"

    def load(self, name, array):
        np.save(self.file(name), array)
        return ["--load", f"{name}={self.file(name)}"]

    def save(self, name):
        return ["--save", f"{name}={self.file(name + '_saved')}"]

    def saved(self, name):
        return np.load(self.file(name + "_saved"))

    def test_random_formats(self):
        for seed in range(CASES):
            source = random.Random(seed)
            shape = tuple(source.choice((1, 2, 3, 7, 12)) for _ in range(source.randint(0, 3)))
            type_name = source.choice(list(NUMPY_TYPES))
            dtype = np.dtype(NUMPY_TYPES[type_name])
            array = np.random.default_rng(seed).integers(-99, 99, shape).astype(dtype)
            array = np.asarray(array, order=source.choice("CF"))
            indices = f"({', '.join('ijk'[: len(shape)])})" if shape else ""
            text = random_tensor(source, "A", shape) + random_tensor(source, "B", shape)
            program = self.write("copy.distal", f"{text}A{indices} = B{indices}\n")
            with self.subTest(seed=seed, text=text, type=type_name, fortran=np.isfortran(array)):
                words = ["--type", type_name, "--check", *self.load("B", array), *self.save("A"), *self.save("B")]
                self.assertTrue(self.run_on(program, *words)["ok"])
                np.save(self.file("wanted"), np.ascontiguousarray(array).reshape(shape))
                wanted = self.file("wanted").read_bytes()
                for name in "AB":
                    self.assertEqual(self.file(name + "_saved").read_bytes(), wanted, name)

    def test_a_tensor_that_is_loaded_written_and_saved_to_its_own_file(self):
        text = "machine M = Grid(3)\ntensor A(10, 7) : xy -> x on M\ntensor B(10, 7) : xy -> y cyclic(y) on M\n"
        program = self.write("add.distal", f"{text}A(i, j) += B(i, j)\n")
        a, b = np.arange(70.0).reshape(10, 7), np.asfortranarray(np.ones((10, 7)))
        words = [*self.load("A", a), *self.load("B", b), "--save", f"A={self.file('A')}"]
        self.run_on(program, *words)
        np.testing.assert_array_equal(np.load(self.file("A")), a + b)
        self.run_on(program, *words, reps=3)
        np.testing.assert_array_equal(np.load(self.file("A")), a + 2 * b)

    def test_a_tensor_on_one_processor_is_saved(self):
        text = "tensor A(9, 5)\ntensor B(9, 5) : xy -> x on Grid(4)\nA(i, j) = B(i, j)\n"
        array = np.arange(45.0).reshape(9, 5)
        self.run_on(self.write("gather.distal", text), *self.load("B", array), *self.save("A"))
        np.testing.assert_array_equal(self.saved("A"), array)

    def test_sampled_checks_of_loaded_data(self):
        """1,000 elements of a sum, whose operands are read from the files where they are needed."""
        text = (
            "tensor A(90, 80) : xy -> xy on Grid(2, 2)\ntensor B(90, 70) : xy -> xy on Grid(2, 2)\n"
            "tensor C(70, 80) : xy -> xy on Grid(2, 2)\nA(i, j) = B(i, k) * C(k, j)\nschedule\n"
            "  distribute({i, j}, {io, jo}, {ii, ji}, Grid(2, 2))\n  communicate({A, B, C}, jo)\n"
        )
        random_source = np.random.default_rng(3)
        b, c = random_source.integers(-9, 9, (90, 70)), random_source.integers(-9, 9, (70, 80))
        words = ["--type", "int64", *self.load("B", b), *self.load("C", np.asfortranarray(c)), *self.save("A")]
        done = self.run_on(self.write("gemm.distal", text), *words)
        self.assertEqual((done["ok"], done["elements_checked"]), (True, 1000))
        np.testing.assert_array_equal(self.saved("A"), b @ c)

    def test_files_take_no_memory(self):
        """A process holds its pieces, and little of the file."""
        text = "tensor A(4096, 2048) : xy -> xy on Grid(2, 2)\ntensor B(4096, 2048) : xy -> xy on Grid(2, 2)\n"
        text += "A(i, j) = B(i, j)\nschedule\n  distribute({i, j}, {io, jo}, {ii, ji}, Grid(2, 2))\n"
        program = self.write("large.distal", text + "  communicate({A, B}, jo)\n")
        array = np.random.default_rng(4).random((4096, 2048))
        for order in "CF":
            words = [*self.load("B", np.asarray(array, order=order)), *self.save("A")]
            without = self.run_on(program)["resident_bytes"]
            self.assertLess(self.run_on(program, *words)["resident_bytes"] - without, 32 * MIB)
            np.testing.assert_array_equal(self.saved("A"), array)

    @unittest.skipIf(ON_RANKS, "MPI itself needs files")
    def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(self):
        text = "tensor A(200, 100) : xy -> x on Grid(3)\ntensor B(200, 100) : xy -> x on Grid(3)\nA(i, j) = B(i, j)\n"
        program = self.write("copy.distal", text)
        self.file("A_saved").write_text("kept", encoding="utf-8")
        limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 200 && exec \"$@\"", "sh"]
        done = finished([*limited, BINARY, "run", program, *self.save("A"), "--leaf", "interpreted"])
        self.assertEqual(done.returncode, 3, done.stderr)
        wanted = f"'{self.file('A_saved')}' could not be written whole: 160128 bytes are needed"
        self.assertIn(wanted, done.stderr)
        self.assertEqual(self.file("A_saved").read_text(encoding="utf-8"), "kept")
        self.assertEqual(sorted(os.listdir(self.folder)), ["A_saved.npy", "copy.distal"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
