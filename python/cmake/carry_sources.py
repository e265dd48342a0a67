"""Collects the sources of the engine for ranks, and all headers that they include but those of C, C++ and MPI.

Usage: carry_sources.py COMPILER REPOSITORY FOLDER
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCES = ["src/engine/mpi/*.cpp", "src/session/mpi/*.cpp", "src/api/mpi/*.cpp", "python/src/mpi/*.cpp"]
# The folders of headers that DISTAL is built with, which the other machine may not have.
BESIDE = re.compile(r"/(?P<name>(?:fmt|absl|nlohmann)/.*)$")


def included(compiler, repository, source):
    """The headers that a source includes; that of MPI may be missing."""
    words = [compiler, "-std=c++20", "-M", "-MG", "-I", repository / "src", "-I", repository / "include", source]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    return re.findall(r"\S+\.h(?:pp)?\b", done.stdout.partition(":")[2])


def place_of(header, repository):
    """Where a header is carried to; None for those of C, C++ and MPI."""
    path = Path(header).resolve() if Path(header).exists() else Path(header)
    if path.is_relative_to(repository):
        return path.relative_to(repository)
    beside = BESIDE.search(str(path))
    return Path("beside", beside["name"]) if beside else None


def main(compiler, repository, folder):
    sources = sorted(path for pattern in SOURCES for path in repository.glob(pattern))
    files = {source: source.relative_to(repository) for source in sources}
    for source in sources:
        for header in included(compiler, repository, source):
            place = place_of(header, repository)
            if place is not None:
                files[Path(header)] = place
    shutil.rmtree(folder, ignore_errors=True)
    for source, place in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / place)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]))
