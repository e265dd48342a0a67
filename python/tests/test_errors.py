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
    refuse("param n is 9223372036854775808; integers have 64 bits", lambda: setattr(n, "value", 2**63))
    refuse("a size of tensor T is 1180591620717411303424; integers have 64 bits", lambda: Tensor("T", 2**70))
    refuse("is too large for a statement", lambda: np.int64(2**60) * A[i, j])
    refuse("there is no division in a statement", lambda: 2 / A[i, j])
    refuse("there is no power in a statement", lambda: A[i, j]**2)
    for product in (lambda: A[i, j] @ A[j, k], lambda: A @ A, lambda: np.eye(4) @ A):
        refuse("there is no @ in a statement", product)
    refuse("tensor A stands in a statement without indices; it has 2 dimensions", lambda: 2 * A)
    refuse("tensor A stands in a statement without indices; it has 2 dimensions", lambda: A - A[i, j])
    for mixed in ({"distributed": (io,), "onto": M}, {"distributed": (io,), "local": (ii,)}, {"local": (ii,)}):
        refuse("distribute: some of its arguments are missing", lambda: A.schedule().distribute((i,), **mixed))
    refuse("tensor D: processor 7 has no piece of it", lambda: Tensor("D", 4, "x -> x", Grid(2)).bind(np.zeros(2), 7))
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
    refuse("tensor T: int is no format", lambda: Tensor("T", 3, 5), kind)
    refuse("a machine alone is given as machine=M", lambda: Tensor("T", 3, Machine(Grid(2))), kind)
    refuse("tensor T: machine is int; it must be a Machine, a Grid or", lambda: Tensor("T", 3, "x -> x", 4), kind)
    refuse("tensor T: data type 'numbers' not understood", lambda: Tensor("T", 3, dtype="numbers"), kind)
    refuse("the name of a tensor is 5; it must be a string", lambda: Tensor(5, 3), kind)
    refuse("complex64 cannot stand in a statement", lambda: np.complex64(1j) * A[i, j], kind)
    for index in (0, slice(None), "i"):
        refuse(f"A[{index!r}]: statements are written with index variables", lambda: A[index], kind)
    refuse("A[0]: statements are written with index variables", lambda: list(A), kind)
    A[i, j] = 1
    for loop in (1, [1], None):
        refuse("is no loop", lambda: A.schedule().reorder(loop), kind)
    refuse("communicate: 'A' is no Tensor", lambda: A.schedule().communicate(["A"], i), kind)
    refuse("communicate: None is no Tensor", lambda: A.schedule().communicate(None, i), kind)
    refuse("precompute: 'B' is no part of a statement", lambda: A.schedule().precompute("B", i, j, "W"), kind)
    refuse("1 is no Tensor", lambda: distal.Kernel([1]), kind)
    refuse("None is no Tensor", lambda: distal.Kernel(None), kind)
    refuse("find is 'time'; it must be FindOptions", lambda: A.compile("time"), kind)
    refuse("options is 2; it must be RunOptions", lambda: A.compile().run(2), kind)
    refuse("these options do not fit: threads='2'", lambda: A.compile().run(threads="2"), kind)
    refuse("ndarray is no Tensor to copy from", lambda: A.copy_from(np.eye(4)), kind)
    refuse("the processor of a piece is 'x'; it must be an integer", lambda: A.bind(np.eye(4), processor="x"), kind)
    refuse("indices: 5 is no list of names", lambda: distal.indices(5), kind)
    refuse("indices: ['i', 3] is no list of names", lambda: distal.indices(["i", 3]), kind)
    refuse("Param('n', 2.5): a param has a name and an integer", lambda: distal.Param("n", 2.5), kind)
    refuse("param n is 2.5; it must be an integer", lambda: setattr(distal.Param("n", 2), "value", 2.5), kind)


def test_machines_are_refused():
    kind = distal.TypeMismatch
    refuse("a Grid of tuple", lambda: Grid((2, 2)), kind)
    refuse("a Grid of int, float", lambda: Grid(2, 2.0), kind)
    refuse("Processors of str", lambda: distal.Processors("4"), kind)
    refuse("a Machine of int", lambda: Machine(4), kind)
    refuse("a Machine of tuple", lambda: Machine((2, 2)), kind)
    refuse("extent 0 of the grid is 0; it must be at least 1",
           lambda: distal.einsum("i->i", np.zeros(3), machine=Grid(0)))


def test_a_statement_that_was_not_compiled_is_not_added_to():
    a, b = Tensor("a", 3, data=np.ones(3)), Tensor("b", 3, data=np.ones(3))
    a[i] = b[i]
    message = "tensor a has a statement that no kernel was made of, and [-+]= would replace it"
    for wrong in ("a[i] += 5 * b[i]", "a[i] -= b[i]"):
        with pytest.raises(distal.InputError, match=message) as caught:
            exec(wrong, globals(), locals())
        assert "write the terms into one statement" in caught.value.help
    a.compile().run()
    a[i] += 5 * b[i]
    a.compile().run()
    assert (a.numpy() == 6).all()
    a[i] = b[i]  # a statement may be replaced
    a[i] = 2 * b[i]
    a.compile().run()
    assert (a.numpy() == 2).all()
    for wrong in ("a += 1", "a -= b", "a *= 2"):
        with pytest.raises(distal.InputError, match="tensor a has no indices before") as caught:
            exec(wrong, globals(), locals())
        assert caught.value.help == "write a[i] on the left, with variables from distal.indices"


def test_what_does_not_fit_into_memory():
    with pytest.raises(distal.ResourceError, match="tensor A of the shape .* does not fit into memory"):
        Tensor("A", (10**6, 10**7)).numpy()


def test_gpus_are_a_matter_of_resources():
    M = Machine(Grid(2).of(distal.Processor.GPU), "M")
    a, b = Tensor("a", 4, "x -> x", M), Tensor("b", 4, "x -> x", M)
    a[i] = b[i]
    with pytest.raises(distal.ResourceError, match="has gpu processors"):
        a.compile().run()
