"""Kernels on ranks of mpi4py equal those of one process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import distal

FINE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def why_not():
    """What is missing to start ranks; None if nothing is."""
    if shutil.which("mpirun") is None:
        return "there is no mpirun"
    if not list(Path(distal.__file__).parent.glob("_mpi_openmpi*.so")):
        return "the package was built without Open MPI"
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        return "there is no mpi4py"
    return None


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks(ranks, tmp_path):
    program = Path(__file__).with_name("ranks_program.py")
    done = subprocess.run(["mpirun", "-n", str(ranks), sys.executable, "-B", str(program)], cwd=tmp_path,
                          env={**os.environ, **FINE}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(ranks):
        assert f"rank {rank} of {ranks} is done" in done.stdout


def test_what_is_no_communicator():
    pytest.importorskip("mpi4py")
    i, = distal.indices("i")
    a, b = distal.Tensor("a", 3), distal.Tensor("b", 3)
    a[i] = b[i]
    with pytest.raises(distal.TypeMismatch, match="comm is str; it must be a communicator of mpi4py"):
        a.compile().run(comm="world")


def test_an_unknown_mpi():
    from distal._ranks import _family

    assert _family("Open MPI v4.1.4") == "openmpi" and _family("MPICH Version: 4.0.2\n") == "mpich"
    with pytest.raises(distal.ResourceError, match="DISTAL has no engine for this MPI: LAM 7"):
        _family("LAM 7\n...")
