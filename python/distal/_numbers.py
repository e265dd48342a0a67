"""Params and integer expressions."""

from __future__ import annotations

import operator
from typing import SupportsIndex, Union

from . import _core
from ._core import Int, ceildiv, max, min
from ._errors import TypeMismatch

__all__ = ["Epoch", "Int", "IntLike", "Param", "ceildiv", "max", "min", "to_int"]


class Epoch:
    """Grows whenever a param is set or a tensor gets other memory: then kernels look at their tensors again."""

    count = 0
    params = 0
    """How often a param was set."""


class Param(_core.Param):
    __doc__ = _core.Param.__doc__

    @property
    def value(self) -> int:
        """The current value. Kernels that use the param take a new one at their next run."""
        return self._value

    @value.setter
    def value(self, value: SupportsIndex) -> None:
        self._value = operator.index(value)
        Epoch.count += 1
        Epoch.params += 1


IntLike = Union[SupportsIndex, Param, Int]


def to_int(number: IntLike, what: str) -> Int:
    """The expression for a number that a caller gave."""
    if isinstance(number, Int):
        return number
    if isinstance(number, _core.Param):
        return Int(number)
    try:
        return Int(operator.index(number))
    except TypeError:
        raise TypeMismatch(f"{what} is {number!r}; it must be an integer, a Param or an Int") from None
