"""Kernels on the ranks of a communicator of mpi4py."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from . import _core
from ._errors import Error, ResourceError, TypeMismatch
from ._ranks_build import FOLDER, built_library

RanksKernel = _core.RanksKernel


def _family(version: str) -> str:
    """The family of the MPI that this process uses, from its version text."""
    for word, name in [("Open MPI", "openmpi"), ("MPICH", "mpich"), ("Intel(R) MPI", "mpich")]:
        if word in version:
            return name
    raise ResourceError(f"DISTAL has no engine for this MPI: {version.splitlines()[0]}",
                        "Open MPI, and MPICH and its kin, can be used")


def _found(family: str) -> Path | None:
    """The wheel's library for an MPI; None if that MPI was not found when the package was built."""
    return next(iter(FOLDER.glob(f"libdistal_ranks_{family}*.so")), None)


@lru_cache(maxsize=None)
def _library(family: str, version: str) -> _core.RanksLibrary:
    """The library for an MPI: that of the wheel, or one that is compiled with the MPI's own compiler and kept."""
    file = _found(family)
    why = "the package was built without it"
    if file is not None:
        try:
            return _core.RanksLibrary(str(file))
        except RuntimeError as error:  # for instance of another version than the MPI here
            why = str(error)
    try:
        return _core.RanksLibrary(str(built_library(family, version)))
    except RuntimeError as error:
        raise ResourceError(f"the engine for {family} cannot be loaded: {error}") from None
    except Error as error:
        raise ResourceError(f"there is no engine for {family} ({why}), and none can be made: {error.message}",
                            error.help) from None


def _mpi4py() -> Any:
    try:
        from mpi4py import MPI
    except ImportError:
        raise ResourceError("a run on a communicator needs mpi4py", "pip install mpi4py") from None
    except RuntimeError as error:
        raise ResourceError(f"mpi4py finds no MPI: {error}", "install Open MPI or MPICH") from None
    return MPI


def _engine(comm: Any) -> tuple[_core.RanksLibrary, int]:
    """The engine for the MPI of this process, and the handle of a communicator."""
    if not hasattr(comm, "py2f") and "mpi4py" not in type(comm).__module__:
        raise TypeMismatch(f"comm is {type(comm).__name__}; it must be a communicator of mpi4py")
    MPI = _mpi4py()
    if not isinstance(comm, MPI.Comm):
        raise TypeMismatch(f"comm is {type(comm).__name__}; it must be a communicator of mpi4py")
    version = MPI.Get_library_version()
    return _library(_family(version), version), MPI._handleof(comm)


def on_ranks(kernel: _core.Kernel, comm: Any) -> _core.RanksKernel:
    """The kernel on the ranks of a communicator. All ranks call this."""
    library, handle = _engine(comm)
    return library.kernel(kernel, handle)


def load_on_ranks(tensor: _core.TensorHandle, file: str, comm: Any) -> None:
    """Reads the pieces of each rank from one file."""
    library, handle = _engine(comm)
    library.load(tensor, file, handle)


def save_on_ranks(tensor: _core.TensorHandle, file: str, comm: Any) -> None:
    """Writes the pieces of all ranks to one file."""
    library, handle = _engine(comm)
    library.save(tensor, file, handle)
