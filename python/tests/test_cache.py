"""What is compiled is compiled once: in a process, and on a machine."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import distal
from distal import _contraction, _on_machine

PROGRAM = """
import numpy as np, distal
i, j = distal.indices("i j")
a, b, c = (distal.Tensor(name, (1500, 1500)) for name in "abc")
b.numpy()[...] = 2
c.numpy()[...] = 3
a[i, j] = b[i, j] * c[j, i] + 5 * b[j, i]
for _ in range(2):
    a.compile().run()
assert (a.numpy() == 16).all()
d, e = np.ones((2, 900, 900))
assert distal.einsum("ij,ji->", d, e) == 810000
"""


def files(folder):
    return {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}


def test_another_process_compiles_nothing(tmp_path):
    folder = tmp_path / "cache"
    environment = {**os.environ, "DISTAL_CACHE": str(folder)}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)
    before = files(folder)
    assert any(name.endswith(".so") for name in before)
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    subprocess.run([sys.executable, "-c", PROGRAM], env={**environment, "PATH": str(nothing)}, check=True)
    assert files(folder) == before


def test_products_that_differ_in_their_labels_share_a_kernel(random):
    a, b = random.random((7, 5)), random.random((5, 6))
    distal.einsum("ij,jk->ik", a, b)
    compiled = _contraction._call_of.cache_info().misses
    for text in ("xy,yz->xz", "ba,ac", "ab,...bc->a...c", "ij , jk -> ik"):
        np.testing.assert_allclose(distal.einsum(text, a, b), np.einsum(text, a, b))
    assert distal.einsum(a, [3, 1], b, [1, 0], [3, 0]).shape == (7, 6)
    assert _contraction._call_of.cache_info().misses == compiled
    distal.einsum("ij,jk->ki", a, b)
    assert _contraction._call_of.cache_info().misses == compiled + 1


@pytest.fixture
def made(monkeypatch):
    """The kernels that are made from now on."""
    kernels = []
    make = distal.Kernel.__init__

    def note_and_make(kernel, *arguments):
        kernels.append(kernel)
        make(kernel, *arguments)

    monkeypatch.setattr(distal.Kernel, "__init__", note_and_make)
    _on_machine._calls_of.cache_clear()
    return kernels


def layouts(array):
    """The same elements with other strides."""
    return [array.copy(), np.asfortranarray(array), np.repeat(array, 2, 0)[::2], array[::-1].copy()[::-1]]


def test_einsum_on_a_machine_keeps_its_kernel(random, made):
    for machine in (distal.Grid(2, 2), distal.Processors(3), distal.Machine([distal.Grid(2), distal.Grid(2)])):
        before = len(made)
        for _ in range(2):
            a, b = random.random((7, 5)), random.random((5, 6))
            for x, y in zip(layouts(a), layouts(b)):
                for text in ("ij,jk->ik", "ba,ac->bc"):
                    np.testing.assert_allclose(distal.einsum(text, x, y, machine=machine), a @ b)
            out = np.zeros((6, 7)).T
            distal.einsum("ij,jk->ik", a, b, out=out, machine=machine)
            np.testing.assert_allclose(out, a @ b)
        assert len(made) == before + 1
    for machine in (distal.Machine(distal.Grid(2, 2), "M"), distal.Machine(distal.Processors(3), "P")):
        distal.einsum("ij,jk->ik", a, b, machine=machine)  # the name makes no difference
    assert len(made) == 3
    distal.einsum("ij,jk->ki", a, b, machine=distal.Grid(2, 2))
    distal.einsum("ij,jk->ik", a.astype("f"), b.astype("f"), machine=distal.Grid(2, 2))
    distal.einsum("ij,jk->ik", a, b[:, 1:], machine=distal.Grid(2, 2))
    distal.einsum("ij,jk->ik", a, b, machine=distal.Machine(distal.Processors(4)).as_(distal.Grid(2, 2)))
    assert len(made) == 7


def test_einsum_on_a_machine_takes_new_values_of_params(random, made):
    n = distal.Param("n", 2)
    machine = distal.Machine(distal.Grid(n, n + 1))
    a = random.random((6, 6))
    for n.value, kernels in [(2, 1), (1, 2), (2, 2)]:
        np.testing.assert_allclose(distal.einsum("ij,jk", a, a, machine=machine), a @ a)
        assert len(made) == kernels
    assert [kernel.cost.processors for kernel in made] == [6, 2]


def test_operands_that_overlap_on_a_machine(random, made):
    windows = np.lib.stride_tricks.sliding_window_view(random.random(12), 5)
    repeated = np.broadcast_to(random.random((8, 1)), (8, 5))
    out = np.lib.stride_tricks.as_strided(np.zeros(8), (3, 8), (0, 8))
    for other in (windows, repeated):
        got = distal.einsum("ij,ij->i", windows, other, machine=distal.Grid(4))
        np.testing.assert_allclose(got, (windows * other).sum(1))
    distal.einsum("kj,ij->ki", np.ones((3, 5)), windows, machine=distal.Grid(4), out=out)
    np.testing.assert_allclose(out[0], windows.sum(1))
    assert len(made) == 3


def test_einsum_on_a_machine_in_several_threads(random, made, monkeypatch):
    together = threading.Barrier(3)
    run = distal.Kernel.run

    def run_together(kernel):
        together.wait(60)
        return run(kernel)

    monkeypatch.setattr(distal.Kernel, "run", run_together)
    results = {}

    def work(number):
        for call in range(5):
            a = np.full((8, 8), float(number + call))
            results[number, call] = distal.einsum("ij,jk", a, a, machine=distal.Grid(2, 2))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 3  # each serves one call at a time
    assert len(results) == 15
    for (number, call), result in results.items():
        assert (result == 8 * (number + call)**2).all()


def test_einsum_on_a_machine_lets_go_of_the_arrays(random, made):
    operands = [random.random((9, 9)) for _ in range(2)]
    repeated = np.broadcast_to(operands[0][:1], (9, 9))
    result = distal.einsum("ij,jk", *operands, machine=distal.Grid(3))
    distal.einsum("ij,jk", repeated, operands[1], machine=distal.Grid(3))
    gone = [weakref.ref(a) for a in (*operands, result)]
    del operands, result, repeated
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3 and len(made) == 2
