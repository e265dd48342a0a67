"""The BLAS of PyPI, for machines without one of their own."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from ._core import blas_description, set_fallback_blas

__all__ = ["blas_description", "set_fallback_blas"]


def _of_pypi() -> str | None:
    """The library of the package scipy-openblas32, which is not imported for it."""
    found = importlib.util.find_spec("scipy_openblas32")
    for folder in (found.submodule_search_locations or []) if found else []:
        for library in Path(folder, "lib").glob("libscipy_openblas*.so"):
            return os.fspath(library)
    return None


if (library := _of_pypi()) is not None:
    set_fallback_blas(library)
