"""Errors say what is wrong, where in the caller's program, and what would be legal."""

import inspect
import re

import numpy as np
import pytest

import distal
from distal import Grid, Machine, Tensor

i, j, k, io, ii = distal.indices("i j k io ii")


def here():
    """The line of the caller."""
    return inspect.currentframe().f_back.f_lineno


def test_a_wrong_command_shows_its_line():
    M = Machine(Grid(2), "M")
    a, b = Tensor("a", 8, "x -> x", M), Tensor("b", 8, "x -> x", M)
    a[i] = b[i]
    s = a.schedule()
    s.divide(i, io, ii, 2)
    s.communicate([a, b], j); line = here()
    s.distribute(io)
    with pytest.raises(distal.Error, match="communicate: there is no loop j") as caught:
        a.compile()
    assert caught.value.line == (__file__, line)
    assert f"{__file__}:{line}\n    s.communicate([a, b], j)" in str(caught.value)
    assert "the loops here are" in caught.value.help
    assert isinstance(caught.value, ValueError)


def test_a_wrong_statement_shows_its_line():
    a, b, c, d = (Tensor(name, n) for name, n in zip("abcd", [8, 8, 9, 8]))
    d[i] = a[i]
    b[i] = a[i] + c[i]; line = here()
    with pytest.raises(distal.Error, match="extent") as caught:
        distal.Kernel([d, b]).run()
    assert caught.value.line == (__file__, line)


def test_of_two_equal_commands_the_second_is_wrong():
    a, b = Tensor("a", 8), Tensor("b", 8)
    a[i] = b[i]
    a.schedule().split(i, io, ii, 2)
    a.schedule().split(i, io, ii, 2); line = here()
    with pytest.raises(distal.Error, match="split") as caught:
        a.compile()
    assert caught.value.line == (__file__, line)


def test_a_wrong_tensor_shows_its_line():
    M = Machine(Grid(2), "M")
    a = Tensor("a", 8)
    b = Tensor("b", 8, distal.Format([distal.Dense], distal.Distribution(M, [0, 0]))); line = here()
    a[i] = b[i]
    with pytest.raises(distal.Error) as caught:
        a.compile()
    assert caught.value.line == (__file__, line)


def refuse(message, call, kind=distal.InputError):
    with pytest.raises(kind, match=re.escape(message)):
        call()


def test_input_is_refused():
    M = Machine(Grid(2, 2), "M")
    A, s = Tensor("A", (4, 4)), Tensor("s")
    refuse("tensor A has 2 dimensions, and 1 indices are given", lambda: A[i])
    refuse("tensor A stands in a statement without indices; it has 2 dimensions", lambda: s[()] + A)
    refuse("tensor A has no statement to schedule", lambda: A.schedule().split(i, io, ii, 2))
    refuse("tensor A has no statement to compile", A.compile)
    refuse("a kernel needs at least one defined tensor", lambda: distal.Kernel([]))
    refuse("there is no division in a statement", lambda: A[i, j] / 2)
    refuse("is too large for a statement", lambda: 2**60 * A[i, j])
    refuse("tensor A has the shape (4, 4), and the array has (4,)", lambda: A.bind(np.zeros(4)))
    refuse("tensor z has the shape (0,); sizes are at least 1", lambda: Tensor("z", 0).numpy())
    refuse("writes its machine in place", lambda: Tensor("B", 4, "x -> x on Grid(2)"))
    refuse("unknown machine `Q`", lambda: Tensor("B", 4, "x -> x on Q", M))
    with pytest.raises(distal.Error):
        Tensor("B", (4, 4), "xy -> xyx", M)
    n = distal.Param("n", 3)
    B = Tensor("B", n, data=np.zeros(3))
    n.value = 4
    refuse("tensor B has the shape (4,) now, and the array that is bound has (3,)", B.numpy)
    with pytest.raises(distal.Error, match="a run on -1 threads"):
        s[()] = A[i, j]
        s.compile().run(threads=-1)


def test_types_are_refused():
    A = Tensor("A", (4, 4))
    kind = distal.TypeMismatch
    assert issubclass(kind, TypeError) and issubclass(kind, distal.Error)
    refuse("tensor T cannot have elements of type float16", lambda: Tensor("T", 3, dtype=np.float16), kind)
    refuse("tensor T cannot have elements of type object", lambda: Tensor("T", 1, data=np.array([None])), kind)
    refuse("tensor A has elements of type float64, and the array has int64",
           lambda: A.bind(np.zeros((4, 4), int)), kind)
    refuse("tensor A: list is no array", lambda: A.bind([1, 2]), kind)
    refuse("str cannot stand in a statement", lambda: A[i, j] + "b", kind)
    refuse("ndarray cannot stand in a statement", lambda: A[i, j] * np.zeros(3), kind)
    refuse("statements are written with index variables", lambda: A[0, 1], kind)
    refuse("a size of tensor T is 2.5; it must be an integer", lambda: Tensor("T", 2.5), kind)
    refuse("'x' is no role", lambda: distal.Onto(Machine(Grid(2)), ["x"]), kind)
    refuse("loops are distributed onto a Machine", lambda: distal.Onto(3), kind)
    refuse("int is no format", lambda: Tensor("T", 3, 5), kind)
    A[i, j] = 1
    refuse("1 is no loop", lambda: A.schedule().unroll(1, 2), kind)


def test_gpus_are_a_matter_of_resources():
    M = Machine(Grid(2).of(distal.Processor.GPU), "M")
    a, b = Tensor("a", 4, "x -> x", M), Tensor("b", 4, "x -> x", M)
    a[i] = b[i]
    with pytest.raises(distal.ResourceError, match="has gpu processors"):
        a.compile().run()
