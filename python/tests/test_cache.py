"""What is compiled is compiled once: in a process, and on a machine."""

import os
import subprocess
import sys

import numpy as np

import distal
from distal import _contraction

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
