"""What the ranks of test_ranks.py run: kernels whose results equal those of one process."""

import os
import signal
import sys
import threading

import numpy as np
from mpi4py import MPI

import distal

comm = MPI.COMM_WORLD
random = np.random.default_rng(3)  # the same data on all ranks
b, c = random.random((2, 30, 30))


def summa(data):
    """SUMMA on 2 x 2 processors."""
    i, j, k, io, jo, ii, ji, ko, ki = distal.indices("i j k io jo ii ji ko ki")
    M = distal.Machine(distal.Grid(2, 2), "M")
    A, B, C = (distal.Tensor(n, (30, 30), "xy -> xy", M, data=x) for n, x in zip("ABC", (None, *data)))
    A[i, j] = B[i, k] * C[k, j]
    A.schedule().distribute((i, j), (io, jo), (ii, ji), M).split(k, ko, ki, 8).reorder(
        [io, jo, ko, ii, ji, ki]).communicate(A, jo).communicate([B, C], ko)
    return A, B, A.compile()


def check(A, kernel, want):
    """The pieces of this rank are right, and the ranks together have all of them."""
    mine = kernel.processors(comm)
    pieces = A.pieces()
    assert [p.processor for p in pieces] == mine
    for processor, rectangles, piece in pieces:
        (r,) = rectangles
        np.testing.assert_allclose(piece, want[r.lo[0]:r.hi[0], r.lo[1]:r.hi[1]])
    assert sorted(p for rank in comm.allgather(mine) for p in rank) == [0, 1, 2, 3]


A, B, kernel = summa((b, c))
report = kernel.run(comm=comm)
assert report.bytes_moved == kernel.cost.bytes_moved and report.messages == kernel.cost.messages
check(A, kernel, b @ c)
b *= 2  # each rank's array is its tensor
kernel.run(comm=comm)
check(A, kernel, b @ c)
B.bind(np.asfortranarray(b + 1))
kernel.run(comm=comm, strict_order=True)
check(A, kernel, (b + 1) @ c)

B.save("b.npy", comm=comm)  # one file of all ranks
comm.Barrier()
np.testing.assert_array_equal(np.load("b.npy"), b + 1)
B.bind(np.zeros((30, 30)))
B.load("b.npy", comm=comm)
kernel.run(comm=comm)
check(A, kernel, (b + 1) @ c)

def ended(kernel, **options):
    """How a run ends."""
    try:
        kernel.run(comm=comm, **options)
    except (KeyboardInterrupt, distal.Interrupted) as error:
        return type(error)
    return None


progress = distal.Progress()
if comm.rank == 0:
    progress.cancel()
assert ended(kernel, progress=progress) is distal.Interrupted  # on all ranks, if one is cancelled
kernel.run(comm=comm)
check(A, kernel, (b + 1) @ c)

i, j, io, ii = distal.indices("i j io ii")
many = distal.Machine(distal.Grid(240), "many")
S, T = (distal.Tensor(n, (240, 3000), "xy -> x", many) for n in "ST")
S[i, j] = 3 * T[i, j]
S.schedule().distribute([i], [io], [ii], many).communicate([S, T], io)
long = S.compile()
before = signal.signal(signal.SIGINT, lambda number, frame: None)  # between two runs it does nothing
is_told = comm.rank == comm.size - 1
for attempt in range(500):
    timer = threading.Timer(attempt % 20 * 2e-4, os.kill, (os.getpid(), signal.SIGINT))
    if is_told:
        timer.start()
    how = ended(long)  # of all ranks in the same run
    if is_told:
        timer.join()
    if how is not None:
        break
else:
    sys.exit("a signal ends no run")
assert how is (KeyboardInterrupt if is_told else distal.Interrupted)
signal.signal(signal.SIGINT, before)
T.numpy()[...] = 2
long.run(comm=comm)
assert all((piece == 6).all() for _, _, piece in S.pieces())

A, B, kernel = summa((b, c))
try:
    kernel.run(comm=comm, threads=-1 if comm.size == 1 else 1, strict_order=comm.rank == 0)
except distal.Error as error:
    print(f"refused on rank {comm.rank}: {error.message}")
else:
    sys.exit("different options are not refused")
print(f"rank {comm.rank} of {comm.size} is done")
