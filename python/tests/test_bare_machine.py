"""The package on a machine that has Python, the C and C++ runtimes, and nothing else.

The test runs a program in a root folder of its own, where there is no compiler, no MPI, no OpenBLAS and none of the
libraries that DISTAL is built with. What the package needs of them is in the wheel, or in those that it depends on.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

PROGRAM = """
import os, shutil
assert all(shutil.which(tool) is None for tool in ("g++", "c++", "cc", "clang++", "mpirun", "mpicc", "ldconfig"))
import numpy as np, distal
assert "OpenBLAS" in distal.blas_description()

random = np.random.default_rng(1)
a, b = random.random((2, 300, 300))
for text in ("ik,kj->ij", "ij,ij->", "ij->ji", "ij,ij->ij", "ii->"):
    operands = (a, b)[:text.count(",") + 1]
    assert np.allclose(distal.einsum(text, *operands), np.einsum(text, *operands)), text
assert np.allclose(distal.einsum("ik,kj->ij", a, b, machine=distal.Grid(2, 2)), a @ b)

i, = distal.indices("i")
x, y, z = (distal.Tensor(name, 2000000) for name in "xyz")  # so large that its leaf would be compiled
x.numpy()[...] = y.numpy()[...] = 2
z[i] = 3 * x[i] * y[i] + 1
z.compile().run()
assert (z.numpy() == 13).all()
try:
    z.compile().run(comm="world")
except distal.Error as error:
    print(error.message)
print("fine")
"""
SYSTEM = ("linux-vdso", "ld-linux", "libc.", "libm.", "libdl.", "librt.", "libpthread.", "libgcc_s.", "libstdc++.")
"""What the loader itself, C and C++ need; every machine with the manylinux platform has it."""
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


def needed(file):
    """The libraries of the system that a file needs, as the loader finds them."""
    done = subprocess.run(["ldd", file], capture_output=True, text=True, check=False)
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", done.stdout)}


def libraries():
    """The libraries of Python itself, of NumPy, and of C++."""
    out = needed(sys.executable)
    folders = [Path(sysconfig.get_path("stdlib")) / "lib-dynload", Path(sysconfig.get_path("platlib")) / "numpy"]
    for folder in folders:
        for module in folder.rglob("*.so"):
            out |= needed(module)
    import distal

    core = needed(next(Path(distal.__file__).parent.glob("_core*.so")))
    return out | {library for library in core if library.name.startswith(SYSTEM)}


def links(path):
    """A path and what its links lead to, one after the other."""
    while True:
        yield path
        if not path.is_symlink():
            return
        path = path.parent / os.readlink(path)


def make_root(root):
    """Copies the libraries, and returns the folders that are to be seen in the root too."""
    for library in libraries():
        if not library.is_relative_to(sys.prefix):
            target = root / library.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
    for folder in ("lib", "lib64", "bin"):  # links to /usr on most systems
        if Path("/", folder).is_symlink() and not (root / folder).exists():
            (root / "usr" / folder).mkdir(parents=True, exist_ok=True)
            (root / folder).symlink_to(Path("/usr", folder))
    for folder in ("tmp", "proc", "dev"):
        (root / folder).mkdir(exist_ok=True)
    base = Path(sys.base_prefix)
    shown = [Path(sysconfig.get_path("stdlib")) if base == Path("/usr") else base, Path(sys.prefix)]
    for path in links(Path(sys.executable)):
        if not any(path.is_relative_to(folder) for folder in shown):
            (root / path.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path.relative_to("/"))
    return shown


def may_make_roots():
    return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(shutil.which("unshare") is None or shutil.which("ldd") is None or not may_make_roots(),
                    reason="this user may not make a root folder")
def test_without_anything_else(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    shown = make_root(root)
    (root / "program.py").write_text(PROGRAM)
    lines = ["set -e", f"mount --rbind /proc '{root}/proc'", f"mount --rbind /dev '{root}/dev'"]
    for folder in shown:
        inside = root / folder.relative_to("/")
        inside.mkdir(parents=True, exist_ok=True)
        lines.append(f"mount --rbind '{folder}' '{inside}'")
    chroot = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin:/bin")
    lines.append(f"exec env -i PATH=/bin LANG=C.UTF-8 HOME=/tmp {chroot} '{root}' '{sys.executable}' -B /program.py")
    done = subprocess.run([*UNSHARE, "sh", "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("fine\n")
    assert "comm is str; it must be a communicator of mpi4py" in done.stdout


def dynamic(file):
    """The libraries that a file needs by name, and where it looks for them."""
    said = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", said), re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", said)


@pytest.mark.skipif(shutil.which("readelf") is None, reason="there is no readelf")
def test_the_wheel_carries_what_it_links():
    import distal

    folder = Path(distal.__file__).parent
    files = sorted(folder.glob("*.so*"))
    assert [file.name for file in files if file.name.startswith("_core")] == ["_core.abi3.so"]  # for any Python
    carried = {file.name for file in files}
    for file in files:
        libraries, places = dynamic(file)
        foreign = [name for name in libraries if name not in carried and not name.startswith((*SYSTEM, "libmpi"))]
        assert foreign == [], file.name
        assert set(places) <= {"$ORIGIN"}, file.name
    mpi = [file.name for file in files if any(name.startswith("libmpi") for name in dynamic(file)[0])]
    assert all(name.startswith(("libdistal_ranks", "libdistal_mpi", "libdistal_mpich")) for name in mpi)
