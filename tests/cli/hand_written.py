"""Programs that each test one feature, and the same computations in NumPy."""

from dataclasses import dataclass
from typing import Callable

import numpy as np


@dataclass
class Case:
    about: str
    text: str
    shapes: dict  # by name, of the tensors that are loaded
    meaning: Callable  # a function from input arrays to output arrays, both by name
    type: str = "double"


PROGRAMS = []


def case(about, shapes, type="double"):
    """Adds a case: the docstring of the function is the program, the function is its meaning."""

    def add(meaning):
        PROGRAMS.append(Case(about, meaning.__doc__, shapes, meaning, type))
        return meaning

    return add


# ---- notation ----


@case("a statement without a machine", {"B": (5, 3), "C": (3, 4)})
def _(B, C):
    """
    tensor A(5, 4)
    tensor B(5, 3)
    tensor C(3, 4)
    A(i, j) = B(i, k) * C(k, j)
    """
    return {"A": B @ C}


@case("vector add", {"b": (11,), "c": (11,)}, "int32")
def _(b, c):
    """
    machine M = Grid(4)
    type int32
    tensor a(11) : x -> x on M
    tensor b(11) : x -> x on M
    tensor c(11) : x -> x cyclic(x) on M
    a(i) = b(i) + c(i)
    schedule
      distribute(i, io, ii, M)
    """
    return {"a": b + c}


@case("a transposed copy between transposed tiles", {"B": (7, 5)})
def _(B):
    """
    machine M = Grid(2, 3)
    tensor A(5, 7) : xy -> xy on M
    tensor B(7, 5) : xy -> yx on M order(1, 0)
    A(i, j) = B(j, i)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, M)
      communicate({A, B}, jo)
    """
    return {"A": B.T}


@case("a term without the summed variable counts once", {"B": (4, 6), "C": (6, 5), "D": (4, 5), "e": ()})
def _(B, C, D, e):
    """
    machine M = Grid(3)
    tensor A(4, 5) : xy -> x on M
    tensor B(4, 6) : xy -> y on M
    tensor C(6, 5) : xy -> x on M
    tensor D(4, 5) : xy -> x on M
    tensor e : -> 2 on M
    A(i, j) = B(i, k) * C(k, j) + D(i, j) - e + 3
    schedule
      distribute(k, ko, ki, M)
    """
    return {"A": B @ C + D - e + 3}


@case("sums over different variables in one statement", {"B": (4, 6), "C": (4, 5)}, "int64")
def _(B, C):
    """
    type int64
    machine M = Grid(2, 2)
    tensor a(4) : x -> x0 on M
    tensor B(4, 6) : xy -> xy on M
    tensor C(4, 5) : xy -> yx on M
    a(i) = B(i, k) - C(i, l)
    schedule
      distribute({k, l}, {ko, lo}, {ki, li}, M)
    """
    return {"a": B.sum(1) - C.sum(1)}


@case("a product with a parenthesised sum is one term", {"B": (3, 4), "c": (3,), "d": (5,)})
def _(B, c, d):
    """
    tensor A(3, 5)
    tensor B(3, 4)
    tensor c(3)
    tensor d(5)
    A(i, j) = (B(i, k) + c(i)) * d(j)
    """
    return {"A": np.einsum("i,j->ij", (B + c[:, None]).sum(1), d)}


@case("signs and literals", {"b": (6,), "c": (6,)})
def _(b, c):
    """
    machine M = Grid(4)
    tensor a(6) : x -> x on M
    tensor b(6) : x -> x on M
    tensor c(6) : x -> 3 on M
    a(i) = -b(i) * c(i) - (b(i) - -c(i)) * 2 - (1 - b(i)) + 0.5 * c(i) * 2e0
    schedule
      distribute(i, io, ii, M)
    """
    return {"a": -b * c - (b + c) * 2 - (1 - b) + c}


@case("an inner product into a scalar", {"B": (5, 7), "C": (5, 7)}, "complex<double>")
def _(B, C):
    """
    type complex<double>
    machine M = Grid(3, 2)
    tensor a : -> 21 on M
    tensor B(5, 7) : xy -> xy on M
    tensor C(5, 7) : xy -> yx on M
    a = B(i, j) * C(i, j)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, M)
    """
    return {"a": np.einsum("ij,ij->", B, C)}


@case("a scalar on every processor", {"b": (7,)}, "float")
def _(b):
    """
    type float
    machine M = Grid(2, 3)
    tensor a : -> ** on M
    tensor b(7) : x -> x* on M
    a = b(i)
    schedule
      distribute(i, io, ii, b)
    """
    return {"a": b.sum()}


@case("scalars alone", {"b": (), "c": ()}, "int64")
def _(b, c):
    """
    type int64
    tensor a
    tensor b
    tensor c
    a = b * c - 2
    """
    return {"a": b * c - 2}


@case("a diagonal is read", {"B": (6, 6)})
def _(B):
    """
    machine M = Grid(2, 2)
    tensor a(6) : x -> x* on M
    tensor B(6, 6) : xy -> xy on M
    a(i) = B(i, i)
    schedule
      distribute(i, io, ii, a)
    """
    return {"a": np.diagonal(B)}


@case("a trace", {"B": (6, 6)})
def _(B):
    """
    machine M = Grid(4)
    tensor a
    tensor B(6, 6) : xy -> y on M
    a = B(i, i)
    schedule
      distribute(i, io, ii, M)
    """
    return {"a": np.trace(B)}


@case("a diagonal is written, the rest is zero", {"B": (6, 6)})
def _(B):
    """
    machine M = Grid(2, 2)
    tensor A(6, 6) : xy -> xy on M
    tensor B(6, 6) : xy -> xy on M
    A(i, i) = B(i, k)
    schedule
      divide(i, io, ii, 2)
      distribute(io)
    """
    return {"A": np.diag(B.sum(1))}


@case("a diagonal is added to", {"A": (5, 5), "b": (5,)})
def _(A, b):
    """
    machine M = Grid(3)
    tensor A(5, 5) : xy -> x on M
    tensor b(5) : x -> x on M
    A(i, i) += b(i)
    schedule
      distribute(i, io, ii, M)
    """
    return {"A": A + np.diag(b)}


@case("the same tensor twice", {"B": (5, 7)})
def _(B):
    """
    machine M = Grid(3, 2)
    tensor A(5, 5) : xy -> xy on M
    tensor B(5, 7) : xy -> xy on M
    A(i, j) = B(i, k) * B(j, k)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, M)
      communicate({A, B}, jo)
    """
    return {"A": B @ B.T}


@case("+= adds to what is there", {"A": (4, 4), "B": (4, 9), "C": (9, 4)}, "complex<float>")
def _(A, B, C):
    """
    type complex<float>
    machine M = Grid(2, 2)
    tensor A(4, 4) : xy -> xy on M
    tensor B(4, 9) : xy -> xy on M
    tensor C(9, 4) : xy -> xy on M
    A(i, j) += B(i, k) * C(k, j)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, M)
      communicate(A, jo)
    """
    return {"A": A + B @ C}


@case("+= to a replicated output, summed over processors", {"a": (5,), "B": (5, 7)})
def _(a, B):
    """
    machine M = Grid(2, 3)
    tensor a(5) : x -> ** on M
    tensor B(5, 7) : xy -> xy on M
    a(i) += B(i, j)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, M)
    """
    return {"a": a + B.sum(1)}


@case("six dimensions", {"B": (2, 3, 2, 3, 2, 3), "C": (3, 2, 3)}, "int64")
def _(B, C):
    """
    type int64
    machine M = Grid(2, 3)
    tensor A(2, 3, 2) : xyz -> zy on M
    tensor B(2, 3, 2, 3, 2, 3) : uvwxyz -> yv on M order(5, 4, 3, 2, 1, 0)
    tensor C(3, 2, 3) : xyz -> *x on M
    A(i, j, k) = B(i, j, k, l, m, n) * C(l, m, n)
    schedule
      distribute({m, j}, {mo, jo}, {mi, ji}, M)
      communicate({A, C}, jo)
    """
    return {"A": np.einsum("ijklmn,lmn->ijk", B, C)}


@case("three operands in one kernel", {"B": (4, 5), "C": (5, 3), "D": (3, 6)})
def _(B, C, D):
    """
    machine M = Grid(2, 2)
    tensor A(4, 6) : xy -> xy on M
    tensor B(4, 5) : xy -> xy on M
    tensor C(5, 3) : xy -> ** on M
    tensor D(3, 6) : xy -> yx on M
    A(i, l) = B(i, j) * C(j, k) * D(k, l)
    schedule
      distribute({i, l}, {io, lo}, {ii, li}, M)
      communicate({A, B, C, D}, lo)
    """
    return {"A": B @ C @ D}


# ---- several statements ----


@case("two statements with different schedules", {"B": (6, 5), "C": (5, 7), "D": (7, 4)})
def _(B, C, D):
    """
    machine M = Grid(2, 2)
    tensor T(6, 7) : xy -> xy on M
    tensor A(6, 4) : xy -> yx on M
    tensor B(6, 5) : xy -> xy on M
    tensor C(5, 7) : xy -> xy on M
    tensor D(7, 4) : xy -> x0 on M
    T(i, j) = B(i, k) * C(k, j)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, M)
    A(i, l) = T(i, j) * D(j, l)
    schedule
      distribute({l, i}, {lo, io}, {li, ii}, M)
    """
    return {"T": B @ C, "A": B @ C @ D}


@case("a tensor is written, read and added to in turn", {"b": (9,)}, "int32")
def _(b):
    """
    type int32
    machine M = Grid(4)
    tensor a(9) : x -> x on M
    tensor b(9) : x -> x on M
    tensor s
    a(i) = 2 * b(i)
    s = a(i) * b(i)
    schedule
      distribute(i, io, ii, M)
    a(i) += s * b(i)
    schedule
      distribute(i, io, ii, M)
    s += a(i)
    """
    s = (2 * b * b).sum()
    a = 2 * b + s * b
    return {"a": a, "s": s + a.sum()}


@case("moving a tensor from one distribution to another", {"B": (7, 9)}, "int64")
def _(B):
    """
    type int64
    machine M = Grid(2, 3)
    tensor A(7, 9) : xy -> yx cyclic(x = 2, y) on M
    tensor B(7, 9) : xy -> xy on M
    tensor C(7, 9) : xy -> 1* on M order(1, 0)
    A(i, j) = B(i, j)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, A)
    C(i, j) = A(i, j)
    """
    return {"A": B, "C": B}


# ---- machines and distributions ----


@case("more processors than elements", {"B": (2, 3), "C": (3, 2)})
def _(B, C):
    """
    machine M = Grid(5, 7)
    tensor A(2, 2) : xy -> xy on M
    tensor B(2, 3) : xy -> xy on M
    tensor C(3, 2) : xy -> yx on M
    A(i, j) = B(i, k) * C(k, j)
    schedule
      distribute({i, k}, {io, ko}, {ii, ki}, M)
    """
    return {"A": B @ C}


@case("faces of a cube", {"B": (5, 4), "C": (4, 6)})
def _(B, C):
    """
    machine M = Grid(2, 3, 2)
    tensor A(5, 6) : xy -> xy1 on M
    tensor B(5, 4) : row, col -> row, 2, col on M
    tensor C(4, 6) : xy -> 1yx on M
    A(i, j) = B(i, k) * C(k, j)
    schedule
      distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
      communicate({A, B, C}, ko)
    """
    return {"A": B @ C}


@case("block-cyclic onto its own distribution", {"B": (13, 11)}, "int64")
def _(B):
    """
    type int64
    param b = 2
    machine M = Grid(2, 3)
    tensor A(13, 11) : xy -> xy cyclic(x = b + 1, y = b) on M
    tensor B(13, 11) : xy -> xy on M
    A(i, j) = B(i, j) * 3
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, A)
      communicate({A, B}, jo)
    """
    return {"A": B * 3}


@case("two levels with a sum at both", {"B": (7, 13), "C": (13, 5)}, "int64")
def _(B, C):
    """
    type int64
    machine M = Grid(2, 2) of Grid(3)
    tensor A(7, 5) : xy -> x0, xy -> y on M
    tensor B(7, 13) : xy -> xy, xy -> y on M
    tensor C(13, 5) : xy -> *x, xy -> x on M
    A(i, j) = B(i, k) * C(k, j)
    schedule
      distribute({i, k}, {io, ko}, {ii, ki}, M[0])
      distribute(ki, kio, kii, M[1])
      communicate({A, B, C}, ko)
    """
    return {"A": B @ C}


@case("two levels, communicated below both", {"B": (6, 8), "C": (8, 10)})
def _(B, C):
    """
    machine M = Grid(2, 2) of Grid(2)
    tensor A(6, 10) : xy -> xy, xy -> x on M
    tensor B(6, 8) : xy -> xy, xy -> x on M
    tensor C(8, 10) : xy -> xy, xy -> * on M
    A(i, j) = B(i, k) * C(k, j)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, M[0])
      divide(k, ko, ki, 2)
      reorder({io, jo, ko, ii, ji, ki})
      distribute(ii, iio, iii, M[1])
      communicate(A, iio)
      communicate({B, C}, ko)
    """
    return {"A": B @ C}


@case("three levels", {"B": (9, 7)}, "float")
def _(B):
    """
    type float
    machine M = Grid(2) of Grid(1, 2) of Grid(2)
    tensor a(9) : x -> x, x -> 0x, x -> x on M
    tensor B(9, 7) : xy -> x, xy -> 0y, xy -> * on M
    a(i) = B(i, j)
    schedule
      distribute(i, io, ii, M[0])
      distribute({ii, j}, {iio, jo}, {iii, ji}, M[1])
      distribute(ji, jio, jii, M[2])
    """
    return {"a": B.sum(1)}


# ---- schedules ----


@case("a grid smaller than the loop wraps round", {"B": (11, 4), "C": (4, 5)})
def _(B, C):
    """
    machine M = Grid(3)
    tensor A(11, 5) : xy -> x on M
    tensor B(11, 4) : xy -> x on M
    tensor C(4, 5) : xy -> * on M
    A(i, j) = B(i, k) * C(k, j)
    schedule
      split(i, io, ii, 2)
      distribute(io)
      communicate({A, B, C}, io)
    """
    return {"A": B @ C}


@case("divide, then split what is left", {"b": (10,)}, "int64")
def _(b):
    """
    type int64
    machine M = Grid(2)
    tensor a(10) : x -> x on M
    tensor b(10) : x -> x on M
    a(i) = b(i)
    schedule
      divide(i, io, ii, 2)
      split(ii, iio, iii, 3)
      distribute(io)
      communicate(b, iio)
    """
    return {"a": b}


@case("collapse, then divide across rows", {"B": (5, 7), "C": (5, 7)})
def _(B, C):
    """
    machine M = Grid(4)
    tensor A(5, 7) : xy -> x on M
    tensor B(5, 7) : xy -> y on M
    tensor C(5, 7) : xy -> x on M
    A(i, j) = B(i, j) - C(i, j)
    schedule
      collapse(i, j, f)
      distribute(f, fo, fi, M)
      communicate({A, B, C}, fo)
    """
    return {"A": B - C}


@case("a rotation whose extent is not the grid's", {"B": (6, 10), "C": (10, 6)}, "int32")
def _(B, C):
    """
    type int32
    machine M = Grid(2, 3)
    tensor A(6, 6) : xy -> xy on M
    tensor B(6, 10) : xy -> xy on M
    tensor C(10, 6) : xy -> xy on M
    A(i, j) = B(i, k) * C(k, j)
    schedule
      distribute({i, j}, {io, jo}, {ii, ji}, M)
      divide(k, ko, ki, 4)
      reorder({io, jo, ko, ii, ji, ki})
      rotate(ko, {io, jo}, kos)
      communicate(A, jo)
      communicate({B, C}, kos)
      substitute({ii, ji, ki}, gemm)
    """
    return {"A": B @ C}


@case("a sequential loop above the launch", {"B": (8, 5), "C": (5, 9)})
def _(B, C):
    """
    machine M = Grid(2, 2)
    tensor A(8, 9) : xy -> xy on M
    tensor B(8, 5) : xy -> xy on M
    tensor C(5, 9) : xy -> xy on M
    A(i, j) = B(i, k) * C(k, j)
    schedule
      split(k, ko, ki, 2)
      distribute({i, j}, {io, jo}, {ii, ji}, M)
      reorder({ko, io, jo, ii, ji, ki})
      communicate({A, B, C}, jo)
    """
    return {"A": B @ C}


@case("gemm on column-major pieces inside a loop", {"B": (3, 5, 4), "C": (4, 6)}, "float")
def _(B, C):
    """
    type float
    machine M = Grid(2)
    tensor A(3, 5, 6) : xyz -> x on M order(0, 2, 1)
    tensor B(3, 5, 4) : xyz -> x on M order(2, 1, 0)
    tensor C(4, 6) : xy -> * on M order(1, 0)
    A(i, j, l) = B(i, j, k) * C(k, l)
    schedule
      distribute(i, io, ii, M)
      reorder({io, ii, l, k, j})
      communicate({A, B, C}, io)
      substitute({l, k, j}, gemm)
    """
    return {"A": np.einsum("ijk,kl->ijl", B, C)}


@case("threads inside a processor", {"B": (9, 8), "C": (8, 7)})
def _(B, C):
    """
    machine M = Grid(2)
    tensor A(9, 7) : xy -> x on M
    tensor B(9, 8) : xy -> x on M
    tensor C(8, 7) : xy -> * on M
    A(i, j) = B(i, k) * C(k, j)
    schedule
      distribute(i, io, ii, M)
      communicate({A, B, C}, io)
      parallelize(ii)
    """
    return {"A": B @ C}


@case("a batch of products", {"B": (3, 4, 5), "C": (3, 5, 2)}, "complex<double>")
def _(B, C):
    """
    type complex<double>
    machine M = Grid(2, 2)
    tensor A(3, 4, 2) : bij -> bi on M
    tensor B(3, 4, 5) : bij -> bi on M
    tensor C(3, 5, 2) : bij -> b* on M
    A(b, i, j) = B(b, i, k) * C(b, k, j)
    schedule
      distribute({b, i}, {bo, io}, {bi, ii}, M)
      communicate({A, B, C}, io)
      substitute({ii, j, k}, gemm)
    """
    return {"A": np.einsum("bik,bkj->bij", B, C)}


@case("wrapping integers", {"b": (4,)}, "int32")
def _(b):
    """
    type int32
    tensor a
    tensor b(4)
    a = (b(i) + 100000) * (b(i) + 100000)
    """
    with np.errstate(over="ignore"):
        return {"a": ((b + np.int32(100000)) * (b + np.int32(100000))).sum(dtype=np.int32)}
