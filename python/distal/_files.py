"""Names of files."""

from __future__ import annotations

import os
from typing import Union

from ._errors import TypeMismatch

PathLike = Union[str, "os.PathLike[str]"]


def to_path(file: PathLike, call: str) -> str:
    """The name of the file that a caller gave."""
    if not isinstance(file, (str, os.PathLike)):
        raise TypeMismatch(f"{call}: {file!r} is no name of a file", "it is a string or a pathlib.Path")
    return os.fspath(file)
