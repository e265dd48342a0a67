"""Arrays of any library as NumPy arrays, without copies, and back."""

from __future__ import annotations

import sys
from typing import Any, Protocol, Sequence

import numpy as np
import numpy.typing as npt

from ._core import ElementKind
from ._errors import TypeMismatch

NDArray = npt.NDArray[Any]

KINDS: dict[np.dtype[Any], ElementKind] = {
    np.dtype(np.float32): ElementKind.Float,
    np.dtype(np.float64): ElementKind.Double,
    np.dtype(np.int32): ElementKind.Int32,
    np.dtype(np.int64): ElementKind.Int64,
    np.dtype(np.complex64): ElementKind.ComplexFloat,
    np.dtype(np.complex128): ElementKind.ComplexDouble,
}
"""The element types that a tensor can have."""


class SupportsDLPack(Protocol):
    """An array of another library."""

    def __dlpack__(self) -> Any: ...


ArrayLike = Any


def kind_of(dtype: npt.DTypeLike, whose: str) -> ElementKind:
    """DISTAL's element type for a type of NumPy."""
    try:
        dtype = np.dtype(dtype)
    except TypeError as error:
        raise TypeMismatch(f"{whose}: {error}") from None
    kind = KINDS.get(dtype.newbyteorder("="))
    if kind is None or not dtype.isnative:
        names = ", ".join(str(k) for k in KINDS)
        raise TypeMismatch(f"{whose} cannot have elements of type {dtype}",
                           f"the types are {names}; einsum also takes narrower ones")
    return kind


def resolved(array: ArrayLike) -> ArrayLike:
    """The array with its values in memory: PyTorch may conjugate or negate elements only when it reads them."""
    for resolve in ("resolve_conj", "resolve_neg"):
        if hasattr(array, resolve):
            array = getattr(array, resolve)()
    return array


def as_numpy(array: ArrayLike, whose: str) -> NDArray:
    """The same memory as a NumPy array: of an array of NumPy, or of a library that speaks DLPack."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "__dlpack__"):
        if hasattr(array, "is_neg") and array.is_neg():  # DLPack does not say so
            raise TypeMismatch(f"{whose}: the array of type {type(array).__name__} is negated when it is read",
                               "call its resolve_neg()")
        try:
            return np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise TypeMismatch(f"{whose}: the array of type {type(array).__name__} is not accessible: {error}",
                               "it must lie in the memory of the host, need no gradient, and have elements of a type "
                               "of NumPy") from None
    raise TypeMismatch(f"{whose}: {type(array).__name__} is no array",
                       "bind an array of NumPy, or one that speaks DLPack")


def back(result: Any, operands: Sequence[ArrayLike]) -> Any:
    """A result of NumPy as an array of the kind of the first operand that is one.

    It is not copied, but for a view of an array that is read-only, which DLPack does not let out.
    """
    like = next((a for a in operands if hasattr(a, "__dlpack__")), None)
    if like is None or isinstance(like, (np.ndarray, np.generic)):
        return result
    if hasattr(like, "__array_namespace__"):
        module = like.__array_namespace__()
    else:
        module = sys.modules[type(like).__module__.partition(".")[0]]
    convert = getattr(module, "from_dlpack", None)
    if convert is None:
        return result
    array = np.asarray(result)
    return convert(array if array.flags.writeable else array.copy(order="K"))
