"""Index notation: variables, expressions and statements."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Iterable, Union

import numpy as np

from . import _core
from ._core import Index, IndexVar, Int
from ._errors import InputError, TypeMismatch

if TYPE_CHECKING:
    from ._tensor import Tensor

__all__ = ["Access", "Accumulation", "Expr", "ExprLike", "Index", "IndexVar", "Operand", "indices", "to_expr"]

_LARGEST_EXACT = 2**53
_MOST_SHOWN_BITS = 128


def indices(names: str | Iterable[str]) -> tuple[IndexVar, ...]:
    """Makes index variables: one for each name.

    >>> import distal
    >>> i, j, k = distal.indices("i j k")
    >>> j.name
    'j'
    """
    try:
        words = names.replace(",", " ").split() if isinstance(names, str) else list(names)
        return tuple(IndexVar(word) for word in words)
    except TypeError:
        raise TypeMismatch(f"indices: {names!r} is no list of names", 'write for instance indices("i j k")') from None


class Operand:
    """What can stand in a statement: ``+``, ``-`` and ``*`` make expressions of it."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's numbers leave the operators to this class

    def __add__(self, other: ExprLike) -> Expr:
        return _sum(to_expr(self), to_expr(other))

    def __radd__(self, other: ExprLike) -> Expr:
        return _sum(to_expr(other), to_expr(self))

    def __sub__(self, other: ExprLike) -> Expr:
        return _difference(to_expr(self), to_expr(other))

    def __rsub__(self, other: ExprLike) -> Expr:
        return _difference(to_expr(other), to_expr(self))

    def __mul__(self, other: ExprLike) -> Expr:
        return _product(to_expr(self), to_expr(other))

    def __rmul__(self, other: ExprLike) -> Expr:
        return _product(to_expr(other), to_expr(self))

    def __neg__(self) -> Expr:
        operand = to_expr(self)
        return Expr(operand._handle.negate(), operand._tensors)

    def __truediv__(self, other: object) -> Expr:
        raise InputError("there is no division in a statement", "multiply by the inverse of a number")

    def __rtruediv__(self, other: object) -> Expr:
        return self / other

    def __pow__(self, other: object) -> Expr:
        raise InputError("there is no power in a statement", "write a product, such as B[i] * B[i]")

    def __matmul__(self, other: object) -> Expr:
        raise InputError("there is no @ in a statement", "write the indices: A[i, j] = B[i, k] * C[k, j]")

    def __rmatmul__(self, other: object) -> Expr:
        return self @ other


class Expr(Operand):
    """The right side of a statement: accesses, numbers, params and scalars, with ``+``, ``-`` and ``*``.

    A sum over an index covers only the terms that use it.

    >>> import distal
    >>> i, k = distal.indices("i k")
    >>> B, c = distal.Tensor("B", (2, 2)), distal.Tensor("c", (2,))
    >>> n = distal.Param("n", 3)
    >>> right = 2 * B[i, k] * c[k] - n * c[i]
    """

    __slots__ = ("_handle", "_tensors")

    def __init__(self, handle: _core.Expr, tensors: tuple[Tensor, ...]) -> None:
        self._handle = handle
        self._tensors = tensors

    def __iadd__(self, other: ExprLike) -> Expr:
        return self + other

    def __isub__(self, other: ExprLike) -> Expr:
        return self - other


def _sum(left: Expr, right: Expr) -> Expr:
    return Expr(left._handle.add(right._handle), left._tensors + right._tensors)


def _difference(left: Expr, right: Expr) -> Expr:
    return Expr(left._handle.subtract(right._handle), left._tensors + right._tensors)


def _product(left: Expr, right: Expr) -> Expr:
    return Expr(left._handle.multiply(right._handle), left._tensors + right._tensors)


class Accumulation:
    """What ``A[i] += right`` leaves for ``A[i] = ...``, which Python calls next."""

    __slots__ = ("access", "right")

    def __init__(self, access: Access, right: Expr) -> None:
        self.access = access
        self.right = right


class Access(Expr):
    """``A[i, j]``: on the left of ``=``, ``+=`` or ``-=`` it defines A, elsewhere it is an expression."""

    __slots__ = ()

    _handle: _core.Access

    def __init__(self, handle: _core.Access, tensor: Tensor) -> None:
        super().__init__(handle, (tensor,))

    def __iadd__(self, right: ExprLike) -> Accumulation:  # type: ignore[override]
        return Accumulation(self, to_expr(right))

    def __isub__(self, right: ExprLike) -> Accumulation:  # type: ignore[override]
        return Accumulation(self, -to_expr(right))


ExprLike = Union[Operand, _core.Param, Int, int, float]


def to_expr(value: ExprLike) -> Expr:
    """The expression for an operand of a statement."""
    from ._tensor import Tensor

    if isinstance(value, Expr):
        return value
    if isinstance(value, Tensor):
        if value.ndim:
            raise InputError(f"tensor {value.name} stands in a statement without indices; "
                             f"it has {value.ndim} dimensions",
                             f"write {value.name}[{', '.join('ijklmn'[:value.ndim])}] with variables from "
                             "distal.indices")
        return Expr(value._handle.scalar(), (value,))
    if isinstance(value, (_core.Param, Int)):
        return Expr(_core.Expr(value if isinstance(value, Int) else Int(value)), ())
    if isinstance(value, (complex, np.complexfloating)) or hasattr(value, "__len__"):
        raise TypeMismatch(f"{type(value).__name__} cannot stand in a statement",
                           "numbers, scalars and accesses such as B[i, j] can; put data into a Tensor")
    if isinstance(value, Integral) and abs(int(value)) > _LARGEST_EXACT:
        bits = int(value).bit_length()
        shown = value if bits <= _MOST_SHOWN_BITS else f"of {bits} bits"
        raise InputError(f"the number {shown} is too large for a statement", "put it into a scalar Tensor")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        raise TypeMismatch(f"{type(value).__name__} cannot stand in a statement",
                           "numbers, scalars and accesses such as B[i, j] can") from None
    return Expr(_core.Expr(number), ())
