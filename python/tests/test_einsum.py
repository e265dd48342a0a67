"""distal.einsum, tensordot and transpose against NumPy's."""

import importlib
import importlib.util
import itertools
import os
import random as standard_random
import re

import numpy as np
import pytest

import distal
from distal import _einsum

SEED = int(os.environ.get("DISTAL_EINSUM_SEED", "1"))
BATCHES = 20
PER_BATCH = 50
TYPES = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "e", "f", "d", "F", "D", ">f8", ">i4"]
MOST_POINTS = 20000


class Foreign:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array):
        self.array = array
        self.shape = array.shape
        self.ndim = array.ndim

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def in_other_libraries(operands):
    """Functions that make the operands arrays of other libraries: PyTorch's and JAX's where they are installed."""
    if not all(a.dtype.isnative and a.flags.aligned for a in operands):
        return
    yield lambda: list(map(Foreign, operands))
    if importlib.util.find_spec("torch") and all(s >= 0 for a in operands for s in a.strides):
        torch = importlib.import_module("torch")
        yield lambda: [torch.from_numpy(a.copy() if 0 in a.strides or not a.flags.writeable else a) for a in operands]
    if importlib.util.find_spec("jax"):
        importlib.import_module("jax").config.update("jax_enable_x64", True)
        numpy = importlib.import_module("jax.numpy")
        yield lambda: list(map(numpy.asarray, operands))


class RandomEinsum:
    """A random call: a string and operands, with repeats, ellipses, broadcasting and odd strides."""

    def __init__(self, seed):
        self.random = standard_random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.labels = "abcdefgZ"[:self.random.randint(1, 7)]
        largest = self.random.choice([2, 3, 4, 6])
        self.extents = {x: self.random.randint(1, largest) for x in self.labels}
        if self.random.random() < 0.03:
            self.extents[self.random.choice(self.labels)] = 0
        self.dots = [self.random.randint(1, 3) for _ in range(self.random.choice([0, 0, 1, 2]))]
        self.one_type = self.random.choice([None, "d", "d", "f", "l", "D"])
        words, self.operands = zip(*(self.operand() for _ in range(self.random.choice([1, 2, 2, 2, 3, 3, 4, 5, 6]))))
        self.text = ",".join(words) + self.output(words)

    def operand(self):
        """The labels of an operand, and its array."""
        labels = [self.random.choice(self.labels) for _ in range(self.random.randint(0, 3))]
        shape = [1 if self.random.random() < 0.1 else self.extents[x] for x in labels]
        word = "".join(labels)
        if self.dots and self.random.random() < 0.7:
            dots = self.dots[self.random.randint(0, len(self.dots)):]
            at = self.random.randint(0, len(labels))
            word = word[:at] + "..." + word[at:]
            shape[at:at] = [1 if self.random.random() < 0.2 else n for n in dots]
        return word, np.asarray(self.array(shape))

    def array(self, shape):
        dtype = np.dtype(self.one_type or self.random.choice(TYPES))
        kind = self.random.choice(["C", "C", "F", "backwards", "steps", "repeated", "odd"])
        if kind == "odd":  # not aligned
            size = int(np.prod(shape)) * dtype.itemsize
            return self.fill(np.zeros(size + 1, np.uint8)[1:].view(dtype).reshape(shape))
        if kind == "repeated" and shape:
            axis = self.random.randrange(len(shape))
            full, shape = shape, [*shape[:axis], 1, *shape[axis + 1:]]
            return np.broadcast_to(self.fill(np.zeros(shape, dtype)), full)
        if kind == "steps":
            wide = self.fill(np.zeros([2 * n for n in shape], dtype))
            return wide[(slice(None, None, 2),) * len(shape)]
        made = self.fill(np.zeros(shape, dtype, order="F" if kind == "F" else "C"))
        return made[(slice(None, None, -1),) * len(shape)] if kind == "backwards" else made

    def fill(self, array):
        values = self.numbers.integers(-4, 5, array.shape)
        if array.dtype.kind in "bu?":
            values = abs(values)
        array[...] = values.astype(array.dtype)
        if array.dtype.kind == "c":
            array[...] = array + 1j * self.numbers.integers(-4, 5, array.shape)
        return array

    def output(self, words):
        if self.random.random() < 0.3:
            return ""
        present = sorted({x for word in words for x in word if x != "."})
        chosen = self.random.sample(present, self.random.randint(0, len(present)))
        word = "".join(chosen)
        if any("..." in word for word in words) and self.random.random() < 0.97:
            at = self.random.randint(0, len(word))
            word = word[:at] + "..." + word[at:]
        return "->" + word

    def points(self):
        out = 1
        for x in self.labels:
            out *= max(self.extents[x], 1)
        for n in self.dots:
            out *= n
        return out

    def options(self):
        out = {}
        if self.random.random() < 0.2:
            out["order"] = self.random.choice("CFAK")
        if self.random.random() < 0.1:
            out["optimize"] = self.random.choice([True, False, "greedy", "optimal"])
        return out

    def sublists(self):
        """The same call with lists in place of the string."""
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

        def labels(word):
            before, dots, after = word.partition("...")
            return ([letters.index(x) for x in before] + [Ellipsis] * bool(dots) + [letters.index(x) for x in after])

        inputs, arrow, output = self.text.partition("->")
        out = [x for a, word in zip(self.operands, inputs.split(",")) for x in (a, labels(word))]
        return [*out, labels(output)] if arrow else out


def result_of(function, *arguments, **options):
    """What a call returns, or the kind of its error."""
    try:
        return function(*arguments, **options)
    except (ValueError, TypeError) as error:
        return ValueError if isinstance(error, ValueError) else TypeError


def expect_equal(mine, numpys, what):
    if isinstance(numpys, type):
        assert isinstance(mine, type) and issubclass(mine, numpys), what
        return
    assert not isinstance(mine, type), what
    assert mine.dtype == numpys.dtype and np.shape(mine) == np.shape(numpys), what
    if numpys.dtype.kind in "fc":
        tolerance = {2: 2e-2, 4: 1e-4}.get(numpys.real.dtype.itemsize, 1e-10)
        np.testing.assert_allclose(mine, numpys, rtol=tolerance, atol=tolerance * 100, err_msg=what)
    else:
        np.testing.assert_array_equal(mine, numpys, err_msg=what)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_strings(batch):
    made = 0
    for number in itertools.count():
        seed = (SEED * BATCHES + batch) * 100000 + number
        case = RandomEinsum(seed)
        if case.points() > MOST_POINTS:
            continue
        made += 1
        if made > PER_BATCH:
            return
        what = f"seed {seed}: {case.text} of {[(a.shape, str(a.dtype), a.strides) for a in case.operands]}"
        options = case.options()
        want = result_of(np.einsum, case.text, *case.operands, **{k: v for k, v in options.items() if k != "optimize"})
        got = result_of(distal.einsum, case.text, *case.operands, **options)
        expect_equal(got, want, what)
        again = result_of(distal.einsum, case.text, *case.operands, **options)  # from the cache
        expect_equal(again, want, what)
        if number % 3 == 0:
            expect_equal(result_of(distal.einsum, *case.sublists()), want, what)
        if number % 5 == 0:
            for convert in in_other_libraries(case.operands):
                found = result_of(distal.einsum, case.text, *convert())
                expect_equal(found if isinstance(found, (type, np.generic)) else np.from_dlpack(found), want, what)
        if number % 4 == 0 and not isinstance(want, type):
            for order in "CF":
                out = np.zeros(np.shape(want), want.dtype, order=order)
                assert distal.einsum(case.text, *case.operands, out=out) is out
                expect_equal(out, want, what)


@pytest.mark.parametrize("text, shapes", [
    ("ik,kj->ij", [(70, 80), (80, 90)]), ("bik,bkj->bij", [(5, 40, 30), (5, 30, 20)]),
    ("ijk,k->ij", [(30, 40, 50), (50,)]),
    ("ijk,jl,kl->il", [(40, 30, 20), (30, 8), (20, 8)]), ("ij,jk,kl,lm->im", [(50, 40), (40, 60), (60, 30), (30, 70)]),
    ("i,i->", [(100000,), (100000,)]), ("ij->ji", [(300, 200)]), ("ijk->ki", [(30, 40, 50)]),
    ("i,j->ij", [(200,), (300,)]),
    ("iij->j", [(60, 60, 70)]), ("ij,ik,jk->ij", [(100, 90), (100, 64), (90, 64)]),
    ("...ij,...jk", [(2, 3, 40, 30), (30, 20)]),
    ("pqrs,pi,qj,rk,sl->ijkl", [(9, 9, 9, 9), (9, 8), (9, 7), (9, 6), (9, 5)]),
])
@pytest.mark.parametrize("dtype", ["d", "f", "D", "l"])
def test_large_enough_to_be_bound_and_compiled(text, shapes, dtype, random):
    arrays = [(random.random(shape) * 10).astype(dtype) for shape in shapes]
    want = np.einsum(text, *arrays, optimize=True)
    for _ in range(3):
        got = distal.einsum(text, *arrays)
        np.testing.assert_allclose(got, want, rtol=1e-4 if dtype == "f" else 1e-10)
        arrays = [a.copy() for a in arrays]
    strided = [np.asfortranarray(a) if n % 2 else np.repeat(a, 2, 0)[::2] for n, a in enumerate(arrays)]
    np.testing.assert_allclose(distal.einsum(text, *strided), want, rtol=1e-4 if dtype == "f" else 1e-10)


def steps(text, *shapes):
    """The number of contractions that a string takes."""
    return len(_einsum._plan(text, shapes, np.dtype("d"), True).steps)


def test_operands_are_paired_where_it_saves_work():
    assert steps("ab,bc,cd,de->ae", (50, 50), (50, 50), (50, 50), (50, 50)) == 3
    assert steps("ijk,jl,kl->il", (50, 50, 50), (50, 8), (50, 8)) == 1
    assert steps("i,i,i->i", (50,), (50,), (50,)) == 1
    assert steps("ik,kj->ij", (50, 50), (50, 50)) == 1


def test_read_only_arrays_are_not_written(random):
    for n in (3, 80):  # one that would be copied into, one that would be bound
        a, out = random.random((n, n)), np.zeros((n, n))
        out.flags.writeable = False
        with pytest.raises(distal.InputError, match="einsum: out is read-only"):
            distal.einsum("ij,jk->ik", a, a, out=out)
        assert not out.any()


def test_results_lie_in_out(random, monkeypatch):
    a, out = random.random((40, 40)), np.zeros((80, 40), order="F")[::2]
    monkeypatch.setattr(_einsum, "_empty", None)  # would make an array of its own
    distal.einsum("ij,jk->ik", a, a, out=out)
    np.testing.assert_allclose(out, a @ a)


def test_out_may_be_an_operand(random):
    a = random.random((40, 40))
    want = a @ a
    assert distal.einsum("ij,jk->ik", a, a, out=a) is a
    np.testing.assert_allclose(a, want)


@pytest.mark.parametrize("text, shapes", [
    ("ik,kj->ij", [(17, 9), (9, 13)]), ("ijk,jl,kl->il", [(8, 7, 6), (7, 5), (6, 5)]), ("i,i->", [(11,), (11,)]),
    ("ii->i", [(5, 5)]), ("ij->ji", [(4, 7)]), ("...i,i...->...", [(3, 4, 5), (5, 1, 4)]), (",->", [(), ()]),
    ("ij,j->i", [(1, 6), (6,)]), ("i,j->ij", [(3,), (0,)]),
])
@pytest.mark.parametrize("grid", [(2, 2), (3,), (2, 1, 2)])
def test_on_a_machine(text, shapes, grid, random):
    arrays = [random.random(shape) for shape in shapes]
    two = distal.Machine([distal.Grid(2), distal.Grid(*grid)], "L")
    for machine in (distal.Grid(*grid), distal.Machine(distal.Grid(*grid), "M"), two, distal.Processors(5)):
        got = distal.einsum(text, *arrays, machine=machine)
        np.testing.assert_allclose(got, np.einsum(text, *arrays), atol=1e-12)
    views = [np.asfortranarray(a)[::-1] if a.ndim else a for a in arrays]
    got = distal.einsum(text, *views, machine=distal.Grid(*grid))
    np.testing.assert_allclose(got, np.einsum(text, *views), atol=1e-12)


MACHINES = [distal.Grid(2, 2), distal.Grid(3), distal.Grid(2, 1, 2), distal.Processors(5),
            distal.Machine([distal.Grid(2), distal.Grid(2)]),
            distal.Machine(distal.Processors(7)).as_(distal.Grid(3, 2))]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_random_strings_on_a_machine(machine):
    for number in range(20):
        case = RandomEinsum(SEED * 1000 + number)
        if case.points() > MOST_POINTS // 10:
            continue
        options = case.options()
        want = result_of(np.einsum, case.text, *case.operands, **{k: v for k, v in options.items() if k != "optimize"})
        for _ in range(2):  # the second time with a kernel that was kept
            got = result_of(distal.einsum, case.text, *case.operands, machine=machine, **options)
            expect_equal(got, want, f"{case.text} of {[(a.shape, str(a.dtype), a.strides) for a in case.operands]}")


def test_a_machine_is_refused():
    a = np.zeros((2, 3))
    refused("einsum: machine is int", "ij->i", a, machine=4, kind=distal.TypeMismatch)
    refused("extent 0 of the grid is 0; it must be at least 1", "ij->i", a, machine=distal.Grid(0))
    refused("a machine needs at least one level", "ij->i", a, machine=distal.Machine([]))


def test_all_processors_have_work_on_a_machine(random, monkeypatch):
    costs = []
    run = distal.Kernel.run
    monkeypatch.setattr(distal.Kernel, "run", lambda kernel: costs.append(kernel.cost) or run(kernel))
    for text, shapes in [("ij,jk->ik", [(40, 50), (50, 60)]), ("ijk,jl,kl->il", [(8, 12, 16), (12, 5), (16, 5)]),
                         ("i,i->", [(64,), (64,)]), ("ii->", [(16, 16)])]:
        arrays = [random.random(shape) for shape in shapes]
        got = distal.einsum(text, *arrays, machine=distal.Processors(4))
        np.testing.assert_allclose(got, np.einsum(text, *arrays), atol=1e-12)
    assert [c.processors_with_work for c in costs] == [4, 4, 4, 4]


def test_dtype_and_casting():
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert distal.einsum("ij->i", a, dtype="d").dtype == np.float64
    assert distal.einsum("ij->i", a, dtype="f", casting="same_kind").dtype == np.float32
    with pytest.raises(distal.TypeMismatch, match="an operand of type int32 cannot become float32"):
        distal.einsum("ij->i", a, dtype="f")
    with pytest.raises(distal.TypeMismatch, match="a result of type float64 cannot become int32"):
        distal.einsum("ij->i", a.astype(float), out=np.zeros(2, np.int32))
    assert distal.einsum("i,i", np.array([True, False]), np.array([True, True])) == np.True_
    big = np.array([2**63, 3], np.uint64)
    assert distal.einsum("i,i", big, big) == np.einsum("i,i", big, big)


def refused(message, *arguments, kind=distal.InputError, **options):
    with pytest.raises(kind, match=re.escape(message)) as caught:
        distal.einsum(*arguments, **options)
    assert caught.value.line.file == __file__


def test_errors_tell_what_is_wrong():
    a = np.zeros((2, 3))
    refused("einsum: no subscripts are given")
    refused("einsum: no operand is given", "ij")
    refused("einsum: `ij,jk` has 2 operands, and 1 is given", "ij,jk", a)
    refused("einsum: `ijk` names 3 dimensions, and the operand has 2", "ijk", a)
    refused("einsum: `i` names 1 dimension, and the operand has 2", "i", a)
    refused("einsum: `%` is no label, in `i%->i`", "i%->i", a)
    refused("einsum: the result in `ij->k` has `k`, and no operand has", "ij->k", a)
    refused("einsum: the result in `ij->ii` has `i` twice", "ij->ii", a)
    refused("einsum: the result in `i...->i` has no `...`, and the operands have", "i...->i", a)
    refused("einsum: 'j' has the extents 3 and 2", "ij,jk->ik", a, a)
    refused("einsum: 'i' has the extents 2 and 3 in one operand", "ii", a)
    refused("einsum: out has the shape (3,), and the result has (2,)", "ij->i", a, out=np.zeros(3))
    refused("einsum: order is 'W'", "ij->i", a, order="W")
    refused("einsum: 52 is no label", a, [0, 52])
    refused("a list of labels follows each operand", a)
    refused("einsum: an operand is no array", "ij->i", [[1, 2], [3]])
    refused("einsum: out is read-only", "ij->i", a, out=np.broadcast_to(np.zeros(1), 2))
    for wrong in ("quick", ["einsum_path", (0, 9)], ["einsum_path", (0, 1)]):
        refused("is no order of contraction of 3 operands", "ij,jk,kl", a, a.T, a, optimize=wrong)
    kind = distal.TypeMismatch
    refused("einsum: optimize=3 is no order of contraction", "ij,jk,kl", a, a.T, a, optimize=3, kind=kind)
    refused("einsum: 'x' is no label", a, [0, "x"], kind=kind)
    refused("einsum: ndarray is no label", a, a, kind=kind)
    refused("einsum: 0.5 is no label", a, [0, 0.5], kind=kind)
    refused("a sublist is a list of labels", a, 0, kind=kind)
    refused("einsum: out is str", "ij->i", a, out="x", kind=kind)
    refused("einsum does not compute with elements of type object", "i->", np.array([None]), kind=kind)
    long = np.zeros(2, np.longdouble)
    refused(f"einsum does not compute with elements of type {long.dtype}", "i->", long, kind=kind)
    i, j = distal.indices("i j")
    for wrong in (distal.Tensor("A", (2, 3))[i, j], i, distal.Grid(2), None):
        refused(f"einsum: an operand is {type(wrong).__name__}, and no array", "ij->i", wrong, kind=kind)


@pytest.mark.parametrize("axes", [0, 1, 2, ([1], [0]), ([0, 1], [1, 0]), (-1, 0), ([], [])])
def test_tensordot(axes, random):
    a, b = random.random((4, 4, 3))[:, :, 0], random.random((4, 4, 5))
    np.testing.assert_allclose(distal.tensordot(a, b, axes), np.tensordot(a, b, axes))


def test_tensordot_is_refused():
    a = np.zeros((2, 3))
    for message, axes in [("axis 1 has the extent 3, and axis 0 has 2", ([1], [0])), ("there is no axis 2", (2, 0)),
                          ("3 axes, and the arrays have 2 and 2", 3),
                          ("1 axis of the first array, and 2", ([0], [0, 1])),
                          (r"an axis is named twice in \[0, -2\]", ([0, -2], [0, 1])),
                          (r"axes is \[1\]; it is a number of axes, or a list for each", [1])]:
        with pytest.raises(distal.InputError, match=message):
            distal.tensordot(a, a, axes)
    for axes in (1.5, None, "ab", (["x"], ["y"])):
        with pytest.raises(distal.TypeMismatch, match="tensordot: axes is .*; it is a number of axes"):
            distal.tensordot(a, a, axes)


def test_transpose(random):
    a = random.random((2, 3, 4))
    assert distal.transpose(a, (1, 2, 0)).base is a
    np.testing.assert_array_equal(distal.transpose(a), a.T)
    with pytest.raises(distal.InputError, match="transpose: axes don't match array"):
        distal.transpose(a, (0, 1))
    with pytest.raises(distal.TypeMismatch, match="transpose: "):
        distal.transpose(a, "xyz")


def test_opt_einsum(random):
    opt_einsum = pytest.importorskip("opt_einsum")
    arrays = [random.random(shape) for shape in [(4, 5), (5, 6), (6, 7), (7, 4)]]
    got = opt_einsum.contract("ab,bc,cd,da->bd", *arrays, backend="distal")
    np.testing.assert_allclose(got, np.einsum("ab,bc,cd,da->bd", *arrays))
    got = opt_einsum.contract("ab,bc,cd->ad", *arrays[:3], backend="distal")
    np.testing.assert_allclose(got, arrays[0] @ arrays[1] @ arrays[2])


def test_results_come_back_as_the_kind_that_came_in(random):
    torch = pytest.importorskip("torch")
    a = torch.from_numpy(random.random((4, 4)))
    got = distal.einsum("ij,jk->ik", a, a)
    assert isinstance(got, torch.Tensor)
    np.testing.assert_allclose(got.numpy(), a.numpy() @ a.numpy())


def test_the_array_api_tells_the_kind(random):
    class Namespace:
        """What __array_namespace__ returns."""

        @staticmethod
        def from_dlpack(array):
            return Foreign(np.from_dlpack(array))

    class Array(Foreign):
        def __array_namespace__(self):
            return Namespace

    a = random.random((4, 4))
    got = distal.einsum("ij,jk->ik", Array(a), a)
    assert type(got) is Foreign
    np.testing.assert_allclose(got.array, a @ a)
