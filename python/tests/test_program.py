"""Programs in .distal files, and kernels as text."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import distal

ALGORITHMS = Path(os.environ.get("DISTAL_SOURCE", Path(__file__).parents[2])) / "algorithms"


def fill(program, random):
    """Random data for every tensor."""
    for name in program.tensors:
        program[name].numpy()[...] = random.random(program[name].shape)


@pytest.mark.parametrize("name, sizes, want", [
    ("summa", {"ni": 40, "nj": 50, "nk": 60}, "ik,kj->ij"), ("cannon", {"ni": 40, "nj": 30, "nk": 20}, "ik,kj->ij"),
    ("johnson", {"ni": 21, "nj": 22, "nk": 23}, "ik,kj->ij"),
    ("scalapack", {"ni": 70, "nj": 80, "nk": 90}, "ik,kj->ij"),
    ("ttm", {}, "ijk,kl->ijl"), ("innerprod", {}, "ijk,ijk->"), ("mttkrp", {}, "ijk,jl,kl->il"),
    ("matvec", {}, "ij,j->i"),
])
def test_the_algorithms(name, sizes, want, random):
    program = distal.load(ALGORITHMS / f"{name}.distal", **sizes)
    for param in program.params:
        if param.startswith("n") and param not in sizes:
            program.param(param).value = 24
    fill(program, random)
    report = program.run()
    output, *inputs = (program[t].numpy() for t in program.tensors)
    np.testing.assert_allclose(output, np.einsum(want, *inputs))
    assert report.bytes_moved == program.cost.bytes_moved


def test_names_of_tensors():
    program = distal.load(ALGORITHMS / "summa.distal")
    assert list(program) == program.tensors == ["A", "B", "C"]
    assert "A" in program and "Q" not in program and 0 not in program


def test_params_and_types(random):
    program = distal.load(str(ALGORITHMS / "summa.distal"), dtype="int64", ni=8, nj=8, nk=8)
    assert program.tensor("A").dtype == np.int64 and program.param("ni").value == 8
    program.param("ni").value = 5
    assert program["A"].shape == (5, 8)
    program["B"].bind(np.ones((5, 8), int))
    program["C"].bind(np.ones((8, 8), int))
    program.run()
    assert (program["A"].numpy() == 8).all()


def test_kernels_are_pickled_as_text(random):
    i, j, k, io, ii = distal.indices("i j k io ii")
    M = distal.Machine(distal.Grid(2), "M")
    b, c = random.random((2, 6, 6))
    A, B, C = (distal.Tensor(n, (6, 6), "xy -> x", M, data=x) for n, x in zip("ABC", (None, b, c)))
    A[i, j] = B[i, k] * C[k, j]
    A.schedule().distribute([i], [io], [ii], M).communicate([A, B, C], io)
    kernel = A.compile()
    copy = pickle.loads(pickle.dumps(kernel))
    assert copy.text == kernel.text and pickle.loads(pickle.dumps(copy)).text == kernel.text
    copy["B"].bind(b)
    copy["C"].bind(c)
    copy.run()
    np.testing.assert_allclose(copy["A"].numpy(), b @ c)


def test_mistakes(tmp_path):
    with pytest.raises(distal.Error, match="cannot read"):
        distal.load(tmp_path / "none.distal")
    (tmp_path / "wrong.distal").write_text("tensor a(3)\na(i) = b(i)\n")
    with pytest.raises(distal.Error, match="b") as caught:
        distal.load(tmp_path / "wrong.distal")
    assert caught.value.line.file == __file__
    program = distal.Program.parse("tensor a(3)\ntensor b(3)\na(i) = b(i)\n")
    with pytest.raises(distal.Error, match="there is no tensor c in the program"):
        program["c"]
    with pytest.raises(distal.Error, match="there is no param n in the program"):
        program.param("n")
    sized = "param n = 4\ntensor a(n)\ntensor b(n)\na(i) = b(i)\n"
    for wrong in (2.5, "3", None):
        with pytest.raises(distal.TypeMismatch, match="param n is .*; it must be an integer"):
            distal.Program.parse(sized, n=wrong)
    with pytest.raises(distal.TypeMismatch, match="a program is the text of a .distal file, not int"):
        distal.Program.parse(5)
    with pytest.raises(distal.Error, match="there is no tensor 5 in the program"):
        program[5]
    with pytest.raises(distal.Error, match="param"):
        distal.Program.parse("tensor a(3)\ntensor b(3)\na(i) = b(i)\n", n=3)
