"""Arrays of PyTorch and JAX, through DLPack. Each is tested where it is installed.

So are those of a small library of the tests' own, so that the same is tested everywhere.
"""

import importlib

import numpy as np
import pytest

import distal


class Own:
    """A library whose arrays speak DLPack and nothing else, as from_dlpack of such a library makes them."""

    __name__ = "own"

    class Array:
        def __init__(self, array):
            self._array = array
            self.shape, self.ndim = array.shape, array.ndim

        def __dlpack__(self, **options):
            return self._array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

        def __array_namespace__(self):
            return Own()

    def from_dlpack(self, array):
        return Own.Array(np.from_dlpack(array))


class Library:
    """What the tests need of a library."""

    def __init__(self, name):
        self.name = name
        if name == "own":
            self.array_type = Own.Array
            return
        self.module = pytest.importorskip(name)
        if name == "jax":
            self.module.config.update("jax_enable_x64", True)
            self.array_type = self.module.Array
            self.numpy = importlib.import_module("jax.numpy")
        else:
            self.array_type = self.module.Tensor

    def array(self, array):
        """The elements of an array of NumPy, with its strides where the library has strides."""
        if self.name == "own":
            return Own.Array(array)
        if self.name == "jax":
            return self.numpy.asarray(array)
        if 0 in array.strides or not all(s > 0 for s in array.strides):
            return self.module.from_numpy(np.ascontiguousarray(array))
        return self.module.from_numpy(array)

    def is_in_place(self, array, base):
        """Whether the elements of an array lie within those of an array of NumPy."""
        return np.shares_memory(np.from_dlpack(array), base)


@pytest.fixture(params=["own", "torch", "jax"])
def library(request):
    return Library(request.param)


TYPES = ["float32", "float64", "int32", "int64", "complex64", "complex128"]


def layouts(array):
    """The same elements in different places."""
    yield array
    yield np.asfortranarray(array)
    yield np.repeat(array, 2, axis=0)[::2]
    if array.ndim > 1:
        yield np.ascontiguousarray(array.T).T


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("text, shapes", [
    ("ik,kj->ij", [(70, 80), (80, 90)]), ("ik,kj->ij", [(3, 4), (4, 5)]),
    ("ijk,jl,kl->il", [(6, 5, 4), (5, 3), (4, 3)]),
    ("ij->ji", [(5, 6)]), ("ij->", [(40, 50)]), ("ii->i", [(4, 4)]), ("ij,jk,kl->il", [(20, 30), (30, 40), (40, 5)])])
def test_einsum(library, text, shapes, dtype, random):
    operands = [(random.random(shape) * 9 - 4).astype(dtype) for shape in shapes]
    want = np.einsum(text, *operands)
    tolerance = {"float32": 1e-4, "complex64": 1e-4}.get(dtype, 1e-12)
    for placed in zip(*map(layouts, operands)):
        arrays = [library.array(a) for a in placed]
        got = distal.einsum(text, *arrays)
        assert isinstance(got, library.array_type)
        result = np.from_dlpack(got)
        assert result.dtype == want.dtype
        np.testing.assert_allclose(result, want, rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(np.from_dlpack(arrays[0]), operands[0])


def test_the_first_array_of_another_library_decides(library, random):
    a, b = random.random((2, 6, 6))
    got = distal.einsum("ij,jk->ik", library.array(a), b)
    assert isinstance(got, library.array_type)
    np.testing.assert_allclose(np.from_dlpack(got), a @ b)
    assert isinstance(distal.einsum("ij,jk->ik", a, library.array(b)), np.ndarray)
    got = distal.tensordot(library.array(a), library.array(b), axes=1)
    assert isinstance(got, library.array_type)
    assert isinstance(distal.transpose(library.array(a)), library.array_type)
    on_machine = distal.einsum("ij,jk->ik", library.array(a), library.array(b), machine=distal.Grid(2, 2))
    np.testing.assert_allclose(np.from_dlpack(on_machine), a @ b)


def test_tensors_are_bound_where_they_lie(library, random):
    data = np.asfortranarray(random.random((8, 9)))
    array = library.array(data)
    M = distal.Machine(distal.Grid(2, 2), "M")
    A, B = distal.Tensor("A", (8, 9), "xy -> xy", M), distal.Tensor("B", (8, 9), "xy -> xy", M, data=array)
    i, j, io, jo, ii, ji = distal.indices("i j io jo ii ji")
    A[i, j] = 2 * B[i, j]
    A.schedule().distribute((i, j), (io, jo), (ii, ji), M).communicate([A, B], jo)
    A.compile().run()
    np.testing.assert_array_equal(A.numpy(), 2 * data)
    assert np.shares_memory(B.numpy(), np.from_dlpack(array))


def test_torch_gets_results_in_its_own_memory(random):
    torch = pytest.importorskip("torch")
    into = torch.zeros((5, 6), dtype=torch.float64)
    b = random.random((6, 5))
    i, j = distal.indices("i j")
    A, B = distal.Tensor("A", (5, 6), data=into), distal.Tensor("B", (6, 5), data=torch.from_numpy(b))
    A[i, j] = B[j, i]
    A.compile().run()
    np.testing.assert_array_equal(into.numpy(), b.T)
    repeated = torch.from_numpy(b[:1]).expand(4, 5)  # stride 0
    got = distal.einsum("ij,kj->ik", repeated, repeated)
    np.testing.assert_allclose(got.numpy(), np.full((4, 4), (b[0] ** 2).sum()))
    grown = torch.from_numpy(b).requires_grad_()
    with pytest.raises(distal.TypeMismatch, match="einsum: the array of type Tensor is not accessible"):
        distal.einsum("ij->i", grown)


def test_jax_arrays_cannot_be_written(random):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    a = jax.numpy.asarray(random.random(5))
    i, = distal.indices("i")
    A, B = distal.Tensor("A", 5, data=a), distal.Tensor("B", 5)
    A[i] = B[i]
    with pytest.raises(distal.InputError, match="A is written by a kernel, and the array that is bound is read-"):
        A.compile().run()


def test_opt_einsum_with_arrays_of_other_libraries(library, random):
    opt_einsum = pytest.importorskip("opt_einsum")
    if library.name == "own":
        pytest.skip("opt_einsum asks for more of an array")
    a, b, c = random.random((3, 6, 6))
    arrays = [library.array(x) for x in (a, b, c)]
    got = opt_einsum.contract("ij,jk,kl->il", *arrays, backend="distal")
    assert isinstance(got, library.array_type)
    np.testing.assert_allclose(np.from_dlpack(got), a @ b @ c)


class Lazy(Own.Array):
    """An array that is negated when it is read, as PyTorch makes them."""

    def is_neg(self):
        return True

    def resolve_neg(self):
        return Own.Array(-self._array)


def test_arrays_that_are_negated_when_they_are_read():
    numbers = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(np.from_dlpack(distal.einsum("ij->i", Lazy(numbers))), -numbers.sum(1))
    with pytest.raises(distal.TypeMismatch, match="tensor A: the array of type Lazy is negated when it is") as caught:
        distal.Tensor("A", data=Lazy(numbers))
    assert caught.value.help == "call its resolve_neg()"


def test_conjugates_of_torch(random):
    torch = pytest.importorskip("torch")
    a = random.random((3, 4)) + 1j * random.random((3, 4))
    lazy = torch.from_numpy(a).conj()
    got = distal.einsum("ij,ij->i", lazy, torch.from_numpy(a))
    np.testing.assert_allclose(got.numpy(), (abs(a)**2).sum(1))
    np.testing.assert_allclose(distal.einsum("ij->i", lazy.imag).numpy(), -a.imag.sum(1))
    with pytest.raises(distal.TypeMismatch, match="tensor A: the array of type Tensor is negated when it is read"):
        distal.Tensor("A", data=lazy.imag)
    with pytest.raises(distal.TypeMismatch, match="tensor A: the array of type Tensor is not accessible"):
        distal.Tensor("A", data=lazy)


def test_arrays_that_numpy_cannot_have():
    class Keys:
        """As JAX's keys of random numbers."""

        def __array__(self, dtype=None, copy=None):
            raise TypeError("keys are no numbers")

    with pytest.raises(distal.TypeMismatch, match="einsum: an operand is no array: keys are no numbers"):
        distal.einsum("i->i", Keys())


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_types_that_numpy_does_not_have(name):
    array = Library(name).array(np.ones(3, np.float32))
    narrow = array.bfloat16() if name == "torch" else array.astype("bfloat16")
    with pytest.raises(distal.TypeMismatch, match="is not accessible") as caught:
        distal.einsum("i->", narrow)
    assert caught.value.help.endswith("and have elements of a type of NumPy")
