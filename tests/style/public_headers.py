"""Checks that every public header can be included alone, and asks for nothing but the standard library and, where its
name says so, MPI.

Usage: public_headers.py INCLUDE
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

COMPILERS = ["g++", "clang++"]
OPTIONS = ["-fsyntax-only", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-"]

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"][^>"]+[>"])', re.MULTILINE)
# No header of the standard library has a point or a folder in its name, and few others have none.
STANDARD = re.compile(r"<[a-z_]+>")
# These are for applications that have the library anyway; its compiler stands in for the plain one, if there is one.
BESIDE = {"distal/mpi.h": "<mpi.h>"}
WRAPPER = "mpicxx"
OWN = re.compile(r'"distal/[a-z_]+\.h"')


def foreign_includes(text):
    """What a public header includes and must not."""
    return [name for name in INCLUDE.findall(text) if not STANDARD.fullmatch(name) and not OWN.fullmatch(name)]


def complaint(compiler, root, header):
    """What the compiler says of a source that includes only this header; empty if nothing."""
    environment = None
    if str(header) in BESIDE:
        if not shutil.which(WRAPPER):
            return ""
        # The wrapper also names libraries, which are not needed without linking, and C++ bindings, which are not used.
        quiet = " -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX"
        quiet += " -Wno-unused-command-line-argument" if compiler == "clang++" else ""
        environment = {**os.environ, "OMPI_CXX": compiler + quiet, "MPICH_CXX": compiler + quiet}
        compiler = WRAPPER
    run = subprocess.run([compiler, f"-I{root}", *OPTIONS], input=f'#include "{header}"\n', text=True,
                         stderr=subprocess.PIPE, env=environment, check=False)
    return run.stderr if run.returncode != 0 else ""


def main(root):
    headers = sorted(path.relative_to(root) for path in Path(root).rglob("*.h"))
    compilers = [c for c in COMPILERS if shutil.which(c)]
    mistakes = [f"{h}: includes {name}" for h in headers for name in foreign_includes((Path(root) / h).read_text())
                if BESIDE.get(str(h)) != name]
    for compiler in compilers:
        mistakes += [f"{h}, {compiler}:\n{said}" for h in headers if (said := complaint(compiler, root, h))]
    print(f"{len(headers)} headers with {' and '.join(compilers) or 'no compiler'}")
    print("\n".join(mistakes))
    return 0 if headers and compilers and not mistakes else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
