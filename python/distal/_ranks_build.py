"""Compiles the library for an MPI that was not found when the package was built."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator

from ._errors import ResourceError

FOLDER = Path(__file__).parent
SOURCES = FOLDER / "_ranks_sources"
# A word that only the mpi.h of this MPI defines.
_MARKS = {"openmpi": "OPEN_MPI", "mpich": "MPICH_VERSION"}
_OPTIONS = ["-std=c++20", "-O2", "-fPIC", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX",
            f"-I{SOURCES / 'src'}", f"-I{SOURCES / 'include'}", f"-isystem{SOURCES / 'beside'}"]


def _compilers(family: str) -> Iterator[str]:
    """Candidates for the C++ compiler of an MPI, as far as this machine has them."""
    for name in (os.environ.get("MPICXX", ""), f"mpicxx.{family}", "mpicxx", "mpic++", "mpiicpx"):
        found = shutil.which(name) if name else None
        if found is not None:
            yield found


def _is_of(compiler: str, family: str) -> bool:
    """Whether a compiler has the headers of this MPI."""
    done = subprocess.run([compiler, "-E", "-dM", "-x", "c++", "-"], input="#include <mpi.h>\n", capture_output=True,
                          text=True, check=False)
    return done.returncode == 0 and re.search(rf"^#define {_MARKS[family]}\b", done.stdout, re.MULTILINE) is not None


def _compiler(family: str) -> str:
    tried = []
    for compiler in _compilers(family):
        if _is_of(compiler, family):
            return compiler
        tried.append(compiler)
    others = f"; {', '.join(dict.fromkeys(tried))} cannot, or belongs to another MPI" if tried else ""
    raise ResourceError(f"there is no mpicxx that compiles for {family}{others}",
                        f"put the mpicxx of {family} on the path, or name it in MPICXX")


def _cache() -> Path:
    """The folder of compiled leaves. The library for an MPI is kept there too."""
    named = os.environ.get("DISTAL_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(named) if named else Path(home) / "distal"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ResourceError(f"{folder} cannot be made: {error.strerror}", "name another in DISTAL_CACHE") from None
    owner = folder.stat()
    if owner.st_uid != os.getuid() or owner.st_mode & 0o022:
        raise ResourceError(f"others may write to {folder}, so no library is loaded from there",
                            "name a folder of your own in DISTAL_CACHE")
    return folder


def _fingerprint(compiler: str, version: str) -> str:
    """A hash of everything that the library depends on."""
    out = hashlib.sha256()
    asked = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    for part in (os.fsencode(compiler), asked, version.encode(), os.fsencode(FOLDER)):
        out.update(part + b"\0")
    for file in sorted(SOURCES.rglob("*.*")):
        out.update(file.read_bytes())
    out.update(next(FOLDER.glob("libdistal.so*")).read_bytes())
    return out.hexdigest()[:32]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise ResourceError(f"{command[0]} fails: {errors[0] if errors else f'status {done.returncode}'}")


def _compile(compiler: str, to: Path) -> None:
    """Compiles all sources, as many at a time as there are cores, and links them with the package's libraries."""
    with tempfile.TemporaryDirectory(dir=to.parent) as folder:
        sources = sorted(SOURCES.rglob("*.cpp"))
        objects = [os.path.join(folder, f"{number}.o") for number in range(len(sources))]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            jobs = [pool.submit(_run, [compiler, *_OPTIONS, "-c", str(source), "-o", made])
                    for source, made in zip(sources, objects)]
        for job in jobs:
            job.result()
        libraries = [str(file) for file in sorted(FOLDER.glob("lib*.so*")) if "distal_" not in file.name]
        linked = os.path.join(folder, "ranks.so")
        _run([compiler, "-shared", *objects, *libraries, f"-Wl,-rpath,{FOLDER}", "-Wl,--disable-new-dtags",
              "-Wl,--as-needed", "-o", linked])
        os.replace(linked, to)


def built_library(family: str, version: str) -> Path:
    """The library for an MPI, compiled at the first use. Other processes wait for the process that compiles it."""
    compiler = _compiler(family)
    library = _cache() / f"ranks-{_fingerprint(compiler, version)}.so"
    with open(library.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            print(f"distal: making the engine for {family} with {compiler}, once", file=sys.stderr, flush=True)
            _compile(compiler, library)
    return library
