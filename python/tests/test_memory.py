"""Arrays are used where they lie, and live as long as they are needed."""

import gc
import threading
import weakref

import numpy as np
import pytest

import distal
from distal import Grid, Machine, Tensor


def doubled(B, **more):
    """2 * B as a kernel: the result, and the kernel."""
    letters = distal.indices(" ".join("ijklm"[: B.ndim]))
    A = Tensor("A", B.shape, **more)
    A[letters] = 2 * B[letters]
    return A, A.compile()


ARRAYS = {
    "rows": lambda r: r.random((4, 6)),
    "columns": lambda r: np.asfortranarray(r.random((4, 6))),
    "every second": lambda r: r.random((8, 18))[::2, ::3],
    "backwards": lambda r: r.random((4, 6))[::-1, ::-1],
    "transposed": lambda r: r.random((6, 4)).T,
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("grid", [None, (2, 2)])
def test_any_strides(name, grid, random):
    data = ARRAYS[name](random)
    M = None if grid is None else Machine(Grid(*grid), "M")
    format = None if grid is None else "xy -> xy"
    B = Tensor("B", data.shape, format, M, data=data)
    A = Tensor("A", data.shape, format, M, data=np.zeros(data.shape)[::-1])
    i, j = distal.indices("i j")
    A[i, j] = 2 * B[i, j]
    kernel = A.compile()
    kernel.run()
    np.testing.assert_array_equal(A.numpy(), 2 * data)
    data *= 3  # the tensor is this array
    kernel.run()
    np.testing.assert_array_equal(A.numpy(), 2 * data)


def test_results_lie_in_the_callers_array():
    out = np.zeros((4, 4), order="F")
    B = Tensor("B", (4, 4), data=np.ones((4, 4)))
    A, kernel = doubled(B, data=out)
    assert A.numpy() is out
    kernel.run()
    assert (out == 2).all()


def test_arrays_of_other_libraries():
    class Foreign:
        """Speaks DLPack and nothing else."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    mine = np.arange(4.0)
    A, kernel = doubled(Tensor("B", 4, data=Foreign(mine)))
    mine += 1
    kernel.run()
    np.testing.assert_array_equal(np.from_dlpack(A), 2 * mine)
    np.testing.assert_array_equal(np.asarray(A), 2 * mine)


def test_read_only_arrays():
    data = np.arange(4.0)
    data.flags.writeable = False
    A, kernel = doubled(Tensor("B", 4, data=data))
    kernel.run()
    np.testing.assert_array_equal(A.numpy(), 2 * data)
    with pytest.raises(distal.Error, match="tensor A is written by a kernel, and the array that is bound is read-only"):
        _, kernel = doubled(Tensor("B", 4, data=data.copy()), data=data)
        kernel.run()


def test_a_kernel_keeps_its_arrays():
    array = np.ones(1000)
    gone = weakref.ref(array)
    A, kernel = doubled(Tensor("B", 1000, data=array))
    del array
    gc.collect()
    assert gone() is not None
    kernel.run()
    assert (A.numpy() == 2).all()
    view = A.numpy()
    del A, kernel
    gc.collect()
    assert gone() is None
    assert (view == 2).all()


def test_views_outlive_a_redistribution():
    M = Machine(Grid(2), "M")
    A = Tensor("A", 8, "x -> x", M)
    A.numpy()[...] = np.arange(8)
    before = A.numpy()
    A.redistribute("x -> x cyclic(x)", M)
    A.numpy()[...] = -1
    np.testing.assert_array_equal(before, np.arange(8))


def test_pieces_one_by_one(random):
    M = Machine(Grid(2), "M")
    low, high = random.random((2, 4))
    B = Tensor("B", 8, "x -> x", M)
    B.bind(low, processor=0)
    B.bind(high, processor=1)
    A, kernel = doubled(B)
    kernel.run()
    np.testing.assert_array_equal(A.numpy(), 2 * np.concatenate([low, high]))
    np.testing.assert_array_equal(B.numpy(), np.concatenate([low, high]))
    with pytest.raises(distal.Error, match=r"the piece of processor 1 has the shape \(4,\), and the array has \(3,\)"):
        B.bind(np.zeros(3), processor=1)
        kernel.run()


def test_other_threads_go_on():
    n = 400
    B = Tensor("B", (n, n, n), data=np.ones((n, n, n)))
    i, j, k = distal.indices("i j k")
    a = Tensor("a")
    a[()] = B[i, j, k]
    kernel = a.compile()
    kernel.run()
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    other = threading.Thread(target=count)
    other.start()
    before = counted[0]
    kernel.run(threads=1, strict_order=True)
    assert counted[0] > before
    stop.set()
    other.join()
    assert a.numpy() == n**3


def test_threads_run_kernels_of_their_own():
    def work(seed):
        for size in range(1, 30):
            data = np.full(size, float(seed))
            A, kernel = doubled(Tensor("B", size, data=data))
            kernel.run()
            results.append((A.numpy() == 2 * seed).all())

    results = []
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 4 * 29 and all(results)


@pytest.mark.parametrize("parts", [1, 3])
def test_operands_with_repeated_elements(parts, random):
    row = random.random((1, 5))
    M = distal.Machine(distal.Grid(parts), "M")
    i, j, io, ii = distal.indices("i j io ii")
    repeated = np.broadcast_to(row, (6, 5))
    A, B = distal.Tensor("A", (6, 5), "xy -> x", M), distal.Tensor("B", (6, 5), "xy -> x", M, data=repeated)
    A[i, j] = 2 * B[i, j]
    A.schedule().distribute([i], [io], [ii], M).communicate([A, B], io)
    kernel = A.compile()
    for _ in range(2):
        kernel.run()
        np.testing.assert_array_equal(A.numpy(), 2 * repeated)
        row += 1  # is seen by the next run
    assert B.numpy() is repeated
    out = np.lib.stride_tricks.as_strided(np.zeros(5), (6, 5), (0, 8))
    A.bind(out)
    with pytest.raises(distal.InputError, match="two elements of its piece of .* would be one"):
        kernel.run()
