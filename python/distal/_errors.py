"""The exceptions of the package."""

from __future__ import annotations

from ._where import Line, caller


class Error(Exception):
    """A problem that the caller can fix.

    Errors of the input are of the class ``InputError``, which is also a ValueError, or ``TypeMismatch``, which is also
    a TypeError. What the machine lacks (memory, a library, a kind of processor) is a ``ResourceError``.

    >>> import distal
    >>> i, j = distal.indices("i j")
    >>> try:
    ...     distal.Tensor("A", (2, 2, 2))[i, j]
    ... except distal.Error as error:
    ...     print(error.message)
    tensor A has 3 dimensions, and 2 indices are given
    """

    message: str
    """What is wrong."""
    help: str
    """How to fix it, or what is legal; may be empty."""
    line: Line | None
    """The caller's line: (file, number)."""

    _call = ""  # of an error of the library: the object or the call that it refers to, as C++ writes it

    def __init__(self, message: str, help: str = "", line: Line | None = None) -> None:
        self.message = message
        self.help = help
        self.line = caller() if line is None else line
        super().__init__(self._text())

    def _text(self) -> str:
        text = self.message
        if self.line is not None:
            text += f"\n  at {self.line}"
        if self.help:
            text += f"\n  help: {self.help}"
        return text

    def _at(self, line: Line | None) -> Error:
        """The same error at another line."""
        return type(self)(self.message, self.help, line)

    def __str__(self) -> str:
        return self._text()


class InputError(Error, ValueError):
    """The program, its data or an option is wrong."""


class TypeMismatch(Error, TypeError):
    """An argument, or the elements of an array, have a type that is not possible here."""


class ResourceError(Error):
    """The machine lacks memory, a compiler, a library or a kind of processor."""


class Interrupted(Error):
    """A run or a search was ended by ``Progress.cancel``."""


_KINDS = {kind.__name__: kind for kind in (InputError, ResourceError, Interrupted)}


def from_core(message: str, help: str, kind: str, call: str) -> Error:
    """The exception for an error of the C++ library; the extension module calls this."""
    error = _KINDS[kind](message, help)
    error._call = call
    return error
