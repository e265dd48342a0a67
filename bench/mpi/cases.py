"""What is measured: programs, sizes and grids."""

from dataclasses import dataclass

ALGORITHMS = ("cannon", "pumma", "summa", "johnson", "solomonik", "cosma")
TENSOR_KERNELS = ("ttv", "innerprod", "ttm", "mttkrp")
SCALAPACK_BLOCK = 128
TENSOR_EXTENT = 512
TENSOR_RANK = 64
# Tensors of three dimensions that a kernel reads and hardly computes with.
TENSORS_READ = {"ttv": 1, "innerprod": 2}
# On the emulated network: rows of A for each node, so that there is so much work for each element of C that a node gets,
# as it costs its core time to send and to receive; rows of C, which are cut into steps, many of them, as the first one has
# nothing to hide behind; and columns of both.
NETWORK_ROWS = 16384
NETWORK_TERMS = 8192
NETWORK_COLUMNS = 2048
NETWORK_STEPS = 32
# How long communication alone lasts beside computing alone: all has to be hidden, or there is
# some computing to spare.
NETWORK_SHARES = (1, 0.75)


@dataclass(frozen=True)
class Shape:
    """Of a matrix multiplication: A is m x n, and the sum has k terms."""

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
    """8:1, with the work of a square of n."""
    return Shape(f"tall {4 * n} x {n // 2}", 4 * n, n // 2, n // 2)


def flat(n):
    """A short sum, 1:8, with the work of a square of n."""
    return Shape(f"flat {2 * n} x {2 * n}, sum of {n // 4}", 2 * n, 2 * n, n // 4)


def several(ranks):
    """One rank alone has nobody to speak to, and no target."""
    return [each for each in ranks if each > 1]


def long_shapes(sizes):
    return [shape(n) for n in sizes for shape in (tall, flat)]


def face(ranks):
    """The grid of two dimensions that suits GEMM."""
    return (2, 2) if ranks == 4 else (ranks, 1)


def alone(shape, ranks):
    """What each rank has to multiply, in `alone.distal`."""
    rows, columns = face(ranks)
    return f"ni={shape.m // rows},nj={shape.n // columns},nk={shape.k},g={ranks}"


def dealt(ranks):
    """The params of the multiplication in ScaLAPACK's layout."""
    rows, columns = face(ranks)
    return f"gx={rows},gy={columns},block={SCALAPACK_BLOCK},chunk={4 * SCALAPACK_BLOCK}"


def grid(algorithm, shape, ranks):
    """The params of an algorithm on a grid that suits it: leaves are as large as the pieces that it moves, so that they
    take them where they lie. On a larger face COSMA's algorithm would put together pieces of several ranks."""
    rows, columns = face(ranks)
    return {
        "cannon": f"gx={rows},gy={columns}",
        "pumma": f"gx={rows},gy={columns}",
        "summa": f"gx={rows},gy={columns},chunk={shape.k // rows}",
        "johnson": f"gx={rows // 2 or 1},gy={columns},gz={min(2, ranks)}",
        "solomonik": {1: "g=1,c=1", 2: "g=1,c=2", 4: "g=2,c=1"}[ranks],
        "cosma": f"gx={ranks},gy=1,gz=1,steps={max(ranks, shape.k // 1024)}",
    }[algorithm]


def tensor_grid(kernel, ranks):
    return {
        "ttv": f"gx={ranks},gy=1",
        "innerprod": f"gx={ranks},gy=1",
        "ttm": f"nl={TENSOR_RANK},gx={ranks}",
        "mttkrp": f"nl={TENSOR_RANK},gx={ranks},gy=1,gz=1",
    }[kernel]
