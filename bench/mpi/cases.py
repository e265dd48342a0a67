"""The measured programs, sizes and grids."""

from dataclasses import dataclass

ALGORITHMS = ("cannon", "pumma", "summa", "johnson", "solomonik", "cosma")
TENSOR_KERNELS = ("ttv", "innerprod", "ttm", "mttkrp")
SCALAPACK_BLOCK = 128
TENSOR_EXTENT = 512
TENSOR_RANK = 64
# How many three-dimensional tensors a memory-bound kernel reads.
TENSORS_READ = {"ttv": 1, "innerprod": 2}
# The GEMM of the emulated network. NETWORK_ROWS is the rows of A per node: it sets the work per received element of C,
# which must be large because sending and receiving take time of the node's core. The rows of C (NETWORK_TERMS) are
# split into many steps, because nothing hides the communication of the first step.
NETWORK_ROWS = 16384
NETWORK_TERMS = 8192
NETWORK_COLUMNS = 2048
NETWORK_STEPS = 32
# The time of communication alone / the time of computing alone. At 1 all computing is needed to hide communication.
NETWORK_SHARES = (1, 0.75)


@dataclass(frozen=True)
class Shape:
    """The shape of a GEMM: A is m x n, and the sum has k terms."""

    name: str
    m: int
    n: int
    k: int

    def settings(self):
        return f"ni={self.m},nj={self.n},nk={self.k}"

    def flops(self):
        return 2 * self.m * self.n * self.k

    def bytes(self):
        return 8 * (self.m * self.n + self.m * self.k + self.k * self.n)


def square(n):
    return Shape(f"square {n}", n, n, n)


def tall(n):
    """A shape 8:1 with the work of `square(n)`."""
    return Shape(f"tall {4 * n} x {n // 2}", 4 * n, n // 2, n // 2)


def flat(n):
    """A shape 1:8, with a short sum and the work of `square(n)`."""
    return Shape(f"flat {2 * n} x {2 * n}, sum of {n // 4}", 2 * n, 2 * n, n // 4)


def above_one(ranks):
    """The rank counts that have targets: one rank communicates with no other."""
    return [each for each in ranks if each > 1]


def long_shapes(sizes):
    return [shape(n) for n in sizes for shape in (tall, flat)]


def grid_2d(ranks):
    """The two-dimensional grid of GEMM."""
    return (2, 2) if ranks == 4 else (ranks, 1)


def alone_settings(shape, ranks):
    """The params of `alone.distal`: each rank multiplies its share of the shape."""
    rows, columns = grid_2d(ranks)
    return f"ni={shape.m // rows},nj={shape.n // columns},nk={shape.k},g={ranks}"


def cyclic_settings(ranks):
    """The params of `scalapack.distal`, except for the shape."""
    rows, columns = grid_2d(ranks)
    return f"gx={rows},gy={columns},block={SCALAPACK_BLOCK},chunk={4 * SCALAPACK_BLOCK}"


def grid_settings(algorithm, shape, ranks):
    """The grid params of an algorithm. Leaves are as large as the pieces that the algorithm moves, so a leaf reads a
    piece in place. On a two-dimensional grid, a leaf of COSMA's would need pieces of several ranks."""
    rows, columns = grid_2d(ranks)
    return {
        "cannon": f"gx={rows},gy={columns}",
        "pumma": f"gx={rows},gy={columns}",
        "summa": f"gx={rows},gy={columns},chunk={shape.k // rows}",
        "johnson": f"gx={rows // 2 or 1},gy={columns},gz={min(2, ranks)}",
        "solomonik": {1: "g=1,c=1", 2: "g=1,c=2", 4: "g=2,c=1"}[ranks],
        "cosma": f"gx={ranks},gy=1,gz=1,steps={max(ranks, shape.k // 1024)}",
    }[algorithm]


def tensor_settings(kernel, ranks):
    return {
        "ttv": f"gx={ranks},gy=1",
        "innerprod": f"gx={ranks},gy=1",
        "ttm": f"nl={TENSOR_RANK},gx={ranks}",
        "mttkrp": f"nl={TENSOR_RANK},gx={ranks},gy=1,gz=1",
    }[kernel]
