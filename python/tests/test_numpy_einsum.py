"""NumPy's own tests of einsum, with distal.einsum in place of numpy.einsum.

Left out are those of objects and of long doubles, which DISTAL refuses.
"""

import importlib.util
import re
from pathlib import Path

import numpy as np

import distal

REFUSED = {"test_einsum_object_errors", "test_einsum_sums_object", "test_einsum_sums_longdouble",
           "test_einsum_sums_clongdouble", "test_object_loop"}


def numpys_tests():
    """The source of NumPy's tests, which calls distal.einsum."""
    folder = Path(importlib.util.find_spec("numpy").origin).parent
    for core in ("_core", "core"):
        file = folder / core / "tests" / "test_einsum.py"
        if file.exists():
            text = re.sub(r"\bnp\.einsum\b(?!_)", "distal.einsum", file.read_text(encoding="utf-8"))
            return file, text.replace('np.typecodes["AllFloat"]', '"efdFD"')  # without long doubles
    raise FileNotFoundError("this NumPy has no tests")


FILE, SOURCE = numpys_tests()
exec(compile(SOURCE, str(FILE), "exec"), globals())
for found in list(globals().values()):
    if isinstance(found, type) and found.__name__.startswith("Test"):
        for name in REFUSED & set(vars(found)):
            delattr(found, name)


def test_what_is_left_out():
    assert SOURCE.count("distal.einsum") > 150
    for dtype in ("longdouble", "clongdouble", object):
        array = np.ones(3, dtype)
        try:
            distal.einsum("i->", array)
        except distal.TypeMismatch as error:
            assert "does not compute with elements of type" in error.message
        else:
            raise AssertionError(dtype)
