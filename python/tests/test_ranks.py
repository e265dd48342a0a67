"""Kernels on ranks of mpi4py equal those of one process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import distal
from distal import _ranks, _ranks_build

FINE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
STARTERS = {"openmpi": ["mpirun.openmpi", "mpirun"], "mpich": ["mpiexec.mpich"]}
MPICH = "libmpich.so.12"  # Debian's name of what mpi4py calls libmpi.so.12


def starter(family):
    return next(filter(None, map(shutil.which, STARTERS[family])), None)


def why_not(family):
    """What is missing to start ranks; None if nothing is."""
    if starter(family) is None:
        return f"there is no {STARTERS[family][0]}"
    if _ranks._found(family) is None and shutil.which(f"mpicxx.{family}") is None:
        return f"there is no mpicxx.{family}"
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        return "there is no mpi4py"
    return None


def environment(family, folder):
    """So that mpi4py uses this MPI."""
    out = {**os.environ, **FINE, "MPI4PY_MPIABI": family}
    if family == "mpich":
        known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
        path = next((line.split()[-1] for line in known.splitlines() if MPICH in line), None)
        if path is not None:
            (folder / "libmpi.so.12").symlink_to(path)
            out["LD_LIBRARY_PATH"] = f"{folder}:{out.get('LD_LIBRARY_PATH', '')}"
    return out


@pytest.mark.parametrize("family, ranks", [("openmpi", 1), ("openmpi", 2), ("openmpi", 3), ("mpich", 1), ("mpich", 3)])
def test_ranks(family, ranks, tmp_path):
    """Where the package was built with another MPI, the engine for this one is made at its first use, here."""
    if (reason := why_not(family)) is not None:
        pytest.skip(reason)
    program = Path(__file__).with_name("ranks_program.py")
    done = subprocess.run([starter(family), "-n", str(ranks), sys.executable, "-B", str(program)], cwd=tmp_path,
                          env=environment(family, tmp_path), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(ranks):
        assert f"rank {rank} of {ranks} is done" in done.stdout


def test_what_is_no_communicator():
    i, = distal.indices("i")
    a, b = distal.Tensor("a", 3), distal.Tensor("b", 3)
    a[i] = b[i]
    with pytest.raises(distal.TypeMismatch, match="comm is str; it must be a communicator of mpi4py"):
        a.compile().run(comm="world")


def test_an_unknown_mpi():
    assert _ranks._family("Open MPI v4.1.4") == "openmpi" and _ranks._family("MPICH Version: 4.0.2\n") == "mpich"
    with pytest.raises(distal.ResourceError, match="DISTAL has no engine for this MPI: LAM 7"):
        _ranks._family("LAM 7\n...")


def fake_compiler(folder, text):
    """An mpicxx that prints something, the only one on the path."""
    file = folder / "mpicxx"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(_ranks, "_found", lambda family: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MPICXX", raising=False)
    message = r"there is no engine for mpich \(the package was built without it\), and none can be made: "
    fake_compiler(tmp_path, 'echo "#define OPEN_MPI 1"')
    with pytest.raises(distal.ResourceError, match=message + f"there is no mpicxx that compiles for mpich; {tmp_path}"):
        _ranks._library("mpich", "of this test 1")
    (tmp_path / "mpicxx").unlink()
    with pytest.raises(distal.ResourceError, match=message + "there is no mpicxx that compiles for mpich\n") as caught:
        _ranks._library("mpich", "of this test 2")
    assert caught.value.help == "put the mpicxx of mpich on the path, or name it in MPICXX"


def test_a_compiler_that_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(_ranks, "_found", lambda family: None)
    monkeypatch.setenv("DISTAL_CACHE", str(tmp_path / "cache"))
    fake_compiler(tmp_path, 'case "$1" in -E) echo "#define MPICH_VERSION 9";; --version) ;; '
                  '*) echo "x.cpp:1: error: no such thing" >&2; exit 1;; esac')
    monkeypatch.setenv("MPICXX", str(tmp_path / "mpicxx"))
    with pytest.raises(distal.ResourceError, match="mpicxx fails: x.cpp:1: error: no such thing"):
        _ranks._library("mpich", "of this test 3")


def test_no_library_is_loaded_from_a_folder_of_others(tmp_path, monkeypatch):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("DISTAL_CACHE", str(folder))
    with pytest.raises(distal.ResourceError, match="others may write to"):
        _ranks_build._cache()
    monkeypatch.setenv("DISTAL_CACHE", "/proc/nowhere")
    with pytest.raises(distal.ResourceError, match="/proc/nowhere cannot be made"):
        _ranks_build._cache()
