"""DISTAL: distributed dense tensor algebra.

``einsum`` computes a contraction of arrays. The other names are the language of DISTAL: what to compute in index
notation, where the data lives, and where and when the work happens.

>>> import numpy as np, distal
>>> i, j, k, io, jo, ii, ji, ko, ki = distal.indices("i j k io jo ii ji ko ki")
>>> n, b, c = 64, np.random.rand(64, 64), np.random.rand(64, 64)
>>> M = distal.Machine(distal.Grid(2, 2))
>>> A = distal.Tensor("A", (n, n), "xy -> xy", M)
>>> B = distal.Tensor("B", (n, n), "xy -> xy", M, data=b)
>>> C = distal.Tensor("C", (n, n), "xy -> xy", M, data=c)
>>> A[i, j] = B[i, k] * C[k, j]
>>> s = (A.schedule().distribute((i, j), (io, jo), (ii, ji), M).split(k, ko, ki, 16)
...      .reorder([io, jo, ko, ii, ji, ki]).communicate(A, jo).communicate([B, C], ko))
>>> report = A.compile().run()
>>> report.bytes_moved
65536
>>> np.allclose(A.numpy(), b @ c)
True
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from . import compound
from ._core import (
    Certificate,
    Cost,
    CostPerTensor,
    Distribution,
    ElementKind,
    Everywhere,
    Face,
    FindOptions,
    Format,
    Goal,
    Grid,
    LeafKernelName,
    Level,
    Machine,
    Memory,
    ModeFormat,
    OutputRace,
    Processor,
    Processors,
    Progress,
    ProgressState,
    Rectangle,
    Role,
    RunOptions,
    RunReport,
)
from ._blas import blas_description, set_fallback_blas
from ._drawing import Drawing
from ._einsum import einsum, tensordot, transpose
from ._errors import Error, InputError, Interrupted, ResourceError, TypeMismatch
from ._expr import Access, Expr, Index, IndexVar, indices
from ._kernel import Kernel
from ._numbers import Int, Param, ceildiv, max, min
from ._program import Program, load
from ._schedule import BLAS, Onto, Schedule
from ._tensor import PieceInfo, Tensor

Dense = ModeFormat.Dense
"""Short name, for ``[Dense, Dense]`` as in the paper."""

try:
    __version__ = version("distal")
except PackageNotFoundError:  # run from the sources
    __version__ = "unknown"

__all__ = [
    "Access", "BLAS", "Certificate", "Cost", "CostPerTensor", "Dense", "Distribution", "Drawing", "ElementKind",
    "Error", "Everywhere", "Expr", "Face", "FindOptions", "Format", "Goal", "Grid", "Index", "IndexVar", "InputError",
    "Int", "Interrupted", "Kernel", "LeafKernelName", "Level", "Machine", "Memory", "ModeFormat", "Onto", "OutputRace",
    "Param", "PieceInfo", "Processor", "Processors", "Program", "Progress", "ProgressState", "Rectangle",
    "ResourceError", "Role", "RunOptions", "RunReport", "Schedule", "Tensor", "TypeMismatch", "blas_description",
    "ceildiv", "compound", "einsum", "indices", "load", "set_fallback_blas", "tensordot", "transpose",
]
"""Without ``min`` and ``max``: ``from distal import *`` leaves Python's own."""
