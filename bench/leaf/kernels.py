"""The measured statements, their sizes and their targets."""

import dataclasses
import math
import re

ACCESS = re.compile(r"(\w+)(?:\(([\w,]+)\))?")
BYTES = {"double": 8, "float": 4}


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A statement at given sizes. The part of `name` before a dash selects the implementation in a worker."""

    name: str
    statement: str
    sizes: dict
    quick: dict  # the sizes of --quick
    limit: str  # what limits the kernel: peak (the best GEMM) or read (the bandwidth of reading)
    target: tuple  # (competitor, the smallest ratio of speeds that meets the target)
    type: str = "double"
    distributed: str = "i"  # the index that Grid(2) distributes
    peers: tuple = ("blas", "numpy", "jax")

    def accesses(self):
        """(tensor, indices) of each tensor; the result is the first."""
        found = {}
        for tensor, indices in ACCESS.findall(self.statement):
            found.setdefault(tensor, indices.replace(",", ""))
        return list(found.items())

    def work(self, sizes):
        """The work of one repetition: flops if `peak` is the limit, else the bytes of every tensor once."""
        if self.limit == "read":
            numbers = [math.prod(sizes[x] for x in indices) for _, indices in self.accesses()]
            return BYTES[self.type] * sum(numbers)
        flops = 2 * math.prod(sizes.values())
        if self.name.startswith("mttkrp"):  # the product with C is needed once per sum over k
            flops += 2 * sizes["i"] * sizes["j"] * sizes["l"]
        return flops

    @property
    def unit(self):
        return "GB/s" if self.limit == "read" else "GF/s"


@dataclasses.dataclass(frozen=True)
class Overhead:
    """A small GEMM: DISTAL may take `target` microseconds longer than the direct call."""

    n: int
    target: float = 2.0

    @property
    def name(self):
        return f"overhead-{self.n}"

    @property
    def kernel(self):
        sizes = dict.fromkeys("ijk", self.n)
        return Kernel(f"gemm-{self.n}", GEMM, sizes, sizes, "peak", ("blas", 0))


@dataclasses.dataclass(frozen=True)
class Start:
    """The time of a statement before its first run: with an empty cache, with a full cache, and at a new size."""

    label: str
    statement: str
    sizes: dict  # large enough that the leaf is compiled
    other: dict  # the new size, not larger

    @property
    def name(self):
        return f"start-{self.label}"


GEMM = "A(i,j) = B(i,k) * C(k,j)"
TTV = "A(i,j) = B(i,j,k) * c(k)"
INNERPROD = "a = B(i,j,k) * C(i,j,k)"
SQUARE = {"i": 96, "j": 96, "k": 96}
CUBE = {"i": 24, "j": 24, "k": 24, "l": 8}
PLANE = {"i": 64, "j": 64}


def _gemm(label, m, n, k, **options):
    sizes = {"i": m, "j": n, "k": k}
    peers = ("blas", "numpy", "jax")
    if m * n * k <= 2048**3:  # larger ones show no more than `peak`
        peers += ("hand",)
    if m * n * k <= 1024**3:
        peers += ("taco",)
    elif m * n * k > 4096**3:  # numpy and jax call a BLAS, too, and a round would take a minute
        peers = ("blas",)
    return Kernel(f"gemm-{label}", GEMM, sizes, SQUARE, "peak", ("blas", 0.98), peers=peers, **options)


def _cube(name, statement, limit, target, letters="ijk", **options):
    sizes = {x: 64 if x == "l" else 512 for x in letters}
    quick = {x: CUBE[x] for x in letters}
    peers = ("blas", "hand", "numpy", "jax", "taco")
    return Kernel(name, statement, sizes, quick, limit, target, peers=peers, **options)


def _plain(name, statement, **options):
    """A statement without a library call. The memory bandwidth limits it."""
    sizes = {"i": 8192, "j": 8192}
    peers = ("hand", "triad", "numpy", "jax", "taco")
    return Kernel(name, statement, sizes, PLANE, "read", ("read", 0.90), peers=peers, **options)


KERNELS = [
    *[_gemm(str(n), n, n, n) for n in (512, 1024, 2048, 4096, 8192)],
    _gemm("tall", 8192, 512, 512),
    _gemm("wide", 512, 8192, 512, distributed="j"),
    _gemm("deep", 512, 512, 8192),
    *[_gemm(f"float-{n}", n, n, n, type="float") for n in (2048, 4096)],
    _cube("ttv", TTV, "read", ("read", 0.95)),
    _cube("innerprod", INNERPROD, "read", ("read", 0.95)),
    Kernel("matvec", "a(i) = B(i,j) * c(j)", {"i": 16384, "j": 16384}, PLANE, "read", ("read", 0.95),
           peers=("blas", "numpy", "jax", "taco")),
    _cube("ttm", "A(i,j,l) = B(i,j,k) * C(k,l)", "peak", ("peak", 0.93), "ijkl"),
    _cube("mttkrp", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "peak", ("peak", 0.90), "ijkl"),
    Kernel("contraction4", "A(a,b,i,j) = B(a,c,i,k) * C(c,b,k,j)", dict.fromkeys("abcijk", 56),
           dict.fromkeys("abcijk", 8), "peak", ("peak", 0.85), distributed="a"),
    _plain("fused3", "s = B(i,j) * C(i,j) * D(i,j)"),
    _plain("fma", "A(i,j) = B(i,j) + C(i,j) * D(i,j)"),
    _plain("scale", "A(i,j) = B(i,j) * c(j) + d(i)"),
    _plain("transpose", "A(i,j) = B(j,i) + C(i,j)"),
    Kernel("sddmm", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", {"i": 2048, "j": 2048, "k": 256}, SQUARE, "peak",
           ("taco", 2.0), peers=("numpy", "jax", "taco")),
]

OVERHEADS = [Overhead(n) for n in (4, 8, 16, 32, 64)]

STARTS = [
    Start("scale", "A(i,j) = B(i,j) * c(j) + d(i)", {"i": 1600, "j": 1600}, {"i": 1500, "j": 1590}),
    Start("fused3", "s = B(i,j) * C(i,j) * D(i,j)", {"i": 1600, "j": 1600}, {"i": 1500, "j": 1590}),
    Start("gemm", GEMM, {"i": 256, "j": 256, "k": 256}, {"i": 200, "j": 256, "k": 250}),
]
