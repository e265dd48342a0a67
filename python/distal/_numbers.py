"""Params and integer expressions."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

from . import _core
from ._core import Int, ceildiv, max, min
from ._errors import InputError, TypeMismatch

__all__ = ["Epoch", "Int", "IntLike", "Param", "ceildiv", "max", "min", "to_index", "to_int"]

_LARGEST = 2**63 - 1


class Epoch:
    """Is another number whenever a param is set or a tensor gets other memory: kernels look at their tensors again."""

    _numbers = itertools.count(1)  # no two threads get the same one
    count = 0
    params = 0
    """The count when a param was last set."""

    @classmethod
    def advance(cls) -> None:
        """Something changed that kernels must look at."""
        cls.count = next(cls._numbers)

    @classmethod
    def advance_params(cls) -> None:
        """A param was set."""
        cls.params = cls.count = next(cls._numbers)


def to_index(number: object, what: str) -> int:
    """The integer that a caller gave; all integers of the library have 64 bits."""
    try:
        found = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise TypeMismatch(f"{what} is {number!r}; it must be an integer") from None
    if not -_LARGEST <= found <= _LARGEST:
        raise InputError(f"{what} is {found}; integers have 64 bits")
    return found


class Param(_core.Param):
    __doc__ = _core.Param.__doc__

    if not TYPE_CHECKING:  # type checkers know the arguments from the extension module

        def __init__(self, *arguments: Any, **named: Any) -> None:
            try:
                super().__init__(*arguments, **named)
            except TypeError:
                given = ", ".join([*map(repr, arguments), *(f"{name}={value!r}" for name, value in named.items())])
                raise TypeMismatch(f"Param({given}): a param has a name and an integer",
                                   'write for instance Param("n", 100)') from None

    @property
    def value(self) -> int:
        """The current value. Kernels that use the param take a new one at their next run."""
        return self._value

    @value.setter
    def value(self, value: SupportsIndex) -> None:
        self._value = to_index(value, f"param {self.name}")
        Epoch.advance_params()


def counted(count: int, one: str, several: str) -> str:
    """A number of things, for a message: ``1 index``, ``2 indices``."""
    return f"{count} {one if count == 1 else several}"


IntLike = Union[SupportsIndex, Param, Int]


def to_int(number: IntLike, what: str) -> Int:
    """The expression for a number that a caller gave."""
    if isinstance(number, Int):
        return number
    if isinstance(number, _core.Param):
        return Int(number)
    if not hasattr(number, "__index__"):
        raise TypeMismatch(f"{what} is {number!r}; it must be an integer, a Param or an Int")
    return Int(to_index(number, what))
