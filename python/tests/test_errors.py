"""Errors say what is wrong, where in the caller's program, and what would be legal."""

import inspect
import subprocess
import sys

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
    with pytest.raises(kind) as caught:
        call()
    # The text of the error shows the caller's line, which has the expected message too.
    assert message in caught.value.message or message in caught.value.help


def test_input_is_refused():
    M = Machine(Grid(2, 2), "M")
    A, s = Tensor("A", (4, 4)), Tensor("s")
    refuse("tensor A has 2 dimensions, and 1 index is given", lambda: A[i])
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
    refuse("Grid(tuple): these arguments do not fit", lambda: Grid((2, 2)), kind)
    refuse("Grid(int, float): these arguments do not fit", lambda: Grid(2, 2.0), kind)
    refuse("Grid(int beyond 64 bits): these arguments do not fit", lambda: Grid(2**63), kind)
    refuse("of(str): these arguments do not fit", lambda: Grid(2).of("gpu"), kind)
    refuse("Processors(str): these arguments do not fit", lambda: distal.Processors("4"), kind)
    refuse("Processors(): these arguments do not fit", distal.Processors, kind)
    refuse("of(str): these arguments do not fit", lambda: distal.Processors(2).of("gpu"), kind)
    refuse("Machine(int): these arguments do not fit", lambda: Machine(4), kind)
    refuse("Machine(tuple): these arguments do not fit", lambda: Machine((2, 2)), kind)
    refuse("Machine(Grid, name=int): these arguments do not fit", lambda: Machine(Grid(2), name=3), kind)
    refuse("Machine(): these arguments do not fit", Machine, kind)
    refuse("as_(int): these arguments do not fit", lambda: Machine(distal.Processors(2)).as_(2), kind)
    refuse("a level of a Machine is a number", lambda: Machine(Grid(2))["x"], kind)
    given = "has a grid already; only Processors without one are given a grid"
    refuse("the machine " + given, lambda: Machine(Grid(2)).as_(Grid(2)))
    refuse("machine M " + given, lambda: Machine(Grid(2), "M").as_(Grid(2)))


def test_arguments_that_do_not_fit_are_refused():
    kind = distal.TypeMismatch
    M = Machine(Grid(2, 2), "M")
    refuse("FindOptions(goal=str): these arguments do not fit", lambda: distal.FindOptions(goal="time"), kind)
    refuse("FindOptions(progress=int): these arguments do not fit", lambda: distal.FindOptions(progress=3), kind)
    refuse("RunOptions(int): these arguments do not fit", lambda: distal.RunOptions(2), kind)
    refuse("RunOptions(threads=str): these arguments do not fit", lambda: distal.RunOptions(threads="2"), kind)
    refuse("Format(str): these arguments do not fit", lambda: distal.Format("xy -> xy"), kind)
    refuse("Format.parse(int, int): these arguments do not fit", lambda: distal.Format.parse(3, 2), kind)
    refuse("a format of -1 dimensions", lambda: distal.Format.parse("xy -> xy", -1, M))
    refuse("Distribution(Machine, list): these arguments do not fit", lambda: distal.Distribution(M, ["*", 0]), kind)
    refuse("IndexVar(int): these arguments do not fit", lambda: distal.IndexVar(3), kind)
    refuse("Index(str): these arguments do not fit", lambda: distal.Index("i"), kind)
    refuse("LeafKernelName(int): these arguments do not fit", lambda: distal.LeafKernelName(3), kind)
    refuse("max(list): these arguments do not fit", lambda: distal.max([1, 2]), kind)
    refuse("min(Param, int, int): these arguments do not fit", lambda: distal.min(distal.Param("n", 1), 1, 2), kind)
    refuse("ceildiv(float, int): these arguments do not fit", lambda: distal.ceildiv(1.5, 2), kind)
    refuse("set_fallback_blas(int): these arguments do not fit", lambda: distal.set_fallback_blas(3), kind)
    assert distal.max(distal.Param("n", 1), np.int64(2)).value == 2 and Grid(np.int64(2)).extents[0].value == 2
    assert distal.RunOptions(threads=np.int64(2)).threads == 2


def test_arithmetic_that_does_not_exist_is_refused():
    kind = distal.TypeMismatch
    A, n = Tensor("A", (4, 4)), distal.Param("n", 3)
    for call in (lambda: i + j, lambda: i - j, lambda: 2 * i, lambda: i * 2, lambda: i + 1.5, lambda: 1.5 + i,
                 lambda: 3 - i, lambda: -i, lambda: i // 2, lambda: i % 2, lambda: i / 2, lambda: (i + 1) + "x",
                 lambda: (i + 1) * 2, lambda: A[i, i + j], lambda: i * A[i, j]):
        refuse("an index is a variable, or a variable plus or minus an integer", call, kind)
    for call in (lambda: n / 2, lambda: 2 / n, lambda: n / n, lambda: (n + 1) / 2):
        refuse("params are integers, and have no /", call, kind)
    refuse("there is no division in a statement", lambda: n / A[i, j])
    assert (-n).value == -3 and (-(n + 1)).value == -4
    refuse("the number of 1329 bits is too large for a statement", lambda: 10**400 * A[i, j])
    refuse("apply: 'tile' is no function", lambda: A.schedule().apply("tile"), kind)


def test_options_are_refused(tmp_path):
    kind = distal.TypeMismatch
    M = Machine(Grid(2), "M")
    a, b = Tensor("a", 4, "x -> x", M), Tensor("b", 4, "x -> x", M)
    a[i] = b[i]
    kernel = a.compile()
    refuse("run: some options are given as RunOptions and others by name",
           lambda: kernel.run(distal.RunOptions(strict_order=True), threads=2))
    refuse("options is 3; it must be RunOptions", lambda: b.redistribute("x -> *", M, options=3), kind)
    refuse("options is 3; it must be FindOptions", lambda: distal.Program.parse("tensor a", options=3), kind)
    refuse("options is 3; it must be FindOptions", lambda: distal.load("a.distal", options=3), kind)
    for call, function in [("load", distal.load), ("load", a.load), ("save", a.save), ("draw", kernel.draw)]:
        refuse(f"{call}: 3 is no name of a file", lambda: function(3), kind)
    refuse("load: b'a' is no name of a file", lambda: distal.load(b"a"), kind)
    refuse("cannot be written: No such file or directory", lambda: kernel.draw(tmp_path / "none" / "a.html"))
    drawing = kernel.draw()
    refuse("svg: the step is '1'; it must be an integer", lambda: drawing.svg(step="1"), kind)
    refuse("svg: the processor is 1.5; it must be an integer", lambda: drawing.svg(processor=1.5), kind)
    refuse("svg: the view is 3 and the axes are []; they must be strings", lambda: drawing.svg(3), kind)
    refuse("svg: the view is 'film' and the axes are [1]; they must be strings", lambda: drawing.svg(axes=[1]), kind)


def test_an_uncaught_error_is_the_last_word():
    """Its traceback keeps objects of the package until the interpreter ends."""
    program = "import distal\nA = distal.Tensor('A', 3)\nA['x']\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr.endswith("help: make them with distal.indices('i j'); the elements are in numpy()\n")


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
