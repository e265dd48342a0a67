"""Kernels on the ranks of a communicator of mpi4py."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

from . import _core
from ._core import RunOptions, RunReport
from ._errors import ResourceError, TypeMismatch


class MpiKernel(Protocol):
    """A kernel on the ranks of a communicator."""

    def processors(self) -> list[int]: ...

    def run(self, options: RunOptions) -> RunReport: ...


def _family(version: str) -> str:
    """Which MPI this process has, by what it says of itself."""
    for word, name in [("Open MPI", "openmpi"), ("MPICH", "mpich"), ("Intel(R) MPI", "mpich")]:
        if word in version:
            return name
    raise ResourceError(f"DISTAL has no engine for this MPI: {version.splitlines()[0]}",
                        "Open MPI, and MPICH and its kin, can be used")


def on_ranks(kernel: _core.Kernel, comm: Any) -> MpiKernel:
    """The kernel on the ranks of a communicator, which all of them make."""
    try:
        from mpi4py import MPI
    except ImportError:
        raise ResourceError("a run on a communicator needs mpi4py", "pip install mpi4py") from None
    if not isinstance(comm, MPI.Comm):
        raise TypeMismatch(f"comm is {type(comm).__name__}; it must be a communicator of mpi4py")
    family = _family(MPI.Get_library_version())
    try:
        module = importlib.import_module(f"distal._mpi_{family}")
    except ImportError as error:
        raise ResourceError(f"this build of the package has no engine for {family}: {error}",
                            "build the package where mpicxx is that of this MPI: pip install .") from None
    made: MpiKernel = module.MpiKernel(kernel, MPI._handleof(comm))
    return made
