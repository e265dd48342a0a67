"""The caller's own line, for errors."""

from __future__ import annotations

import linecache
import os
import sys
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Line(NamedTuple):
    """A line of the program that uses the package."""

    file: str
    number: int

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.number).strip()
        return f"{self.file}:{self.number}" + (f"\n    {text}" if text else "")


def caller() -> Line | None:
    """The innermost line outside of this package that led here."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    return Line(frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
