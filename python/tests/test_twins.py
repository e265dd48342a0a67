"""Everything that is public in C++ has its twin in Python."""

import os
import re
from pathlib import Path

import pytest

import distal

HEADERS = Path(os.environ.get("DISTAL_SOURCE", Path(__file__).parents[2])) / "include" / "distal"

# C++ name: its name in Python.
RENAMED = {
    "TensorHandle": "Tensor", "PerTensor": "CostPerTensor",
    # Parts of other classes, which Python reads or writes in another form.
    "Source": None, "SourceSpan": None, "ElementKindOf": None, "Kind": None, "How": None, "Target": None,
    "State": None, "Cyclic": None, "PictureView": None,
}
# Members whose twin has another name, or needs none.
MEMBERS = {
    "Param": {"operator=": "value", "state": None},
    "Expr": {"expr": None, "tensors": None, "numbers": None, "variables": None,
             "operator+": "__add__", "operator-": "__sub__", "operator*": "__mul__"},
    "Access": {"define": None, "operator=": None, "operator+=": "__iadd__", "operator-=": "__isub__"},
    "Tensor": {"operator()": "__getitem__", "bind_elements": "bind", "at": "numpy", "set": "numpy", "fill": "numpy",
               "for_each": "numpy", "element": None, "for_each_replica": None, "fill_elements": None,
               "state": None, "type": "dtype", "require_type": None,
               "layout": "pieces", "data": "numpy", "size": None},
    "Machine": {"operator[]": "__getitem__", "as": "as_"},
    "IndexVar": {"identity": None},
    "Format": {"modes": None},
    "Rectangle": {"operator==": "__eq__"},
    "Onto": {"target": None},
    "Schedule": {"tensor_": None},
    "Error": {"span": "line", "kind": None},
    "Kernel": {"page": "draw", "picture": "draw"},
    "Int": {"to_string": "__repr__", "expr": None, "params": None},
}
# What is for others than applications.
NOT_FOR_PYTHON = {"leaves.h": "emitted Legion programs use it",
                  "mpi.h": "ranks: Kernel.run(comm=...) and Kernel.processors(comm)"}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def bodies(text):
    """(class, its public part) for the classes of a header."""
    for found in re.finditer(r"\b(class|struct)\s+(?:\w+::)?(\w+)(?:\s+final)?\s*(?::[^{;]*)?\{", text):
        depth, at = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        body = text[found.end():at - 1]
        if found[1] == "class":
            body = "".join(re.split(r"\b(?:private|protected):", p)[0] for p in body.split("public:")[1:])
        yield found[2], body


def flat(body):
    """A class without what stands within its braces."""
    out, depth = [], 0
    for c in body:
        depth += {"{": 1, "}": -1}.get(c, 0)
        if depth == 0:
            out.append(c)
    return "".join(out)


def members(name, body):
    """The functions and values of a class. Python binds names, so it needs no assignment of a class to itself."""
    text = re.sub(rf"operator=\((?:const )?{name}&&?(?: \w+)?\)", "", flat(body))
    text = re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", "()", text)
    for found in re.finditer(r"(operator\s*(?:\(\)|\[\]|[-+*=]+)|\b[a-z]\w*)\s*\(\)", text):
        if found[1] != name:
            yield found[1].replace(" ", "")
    for found in re.finditer(r"^\s*[\w:<>, ]+\s(\w+)(?:\s*=[^;]*)?;", text, re.MULTILINE):
        if not found[0].strip().startswith(("friend", "using", "return", "class", "struct", "enum")):
            if found[1] != "operator":
                yield found[1]


def public():
    for header in sorted(HEADERS.glob("*.h")):
        if header.name in NOT_FOR_PYTHON:
            continue
        for name, body in bodies(without_comments(header.read_text())):
            yield name, sorted(set(members(name, body)))


@pytest.mark.parametrize("name, found", list(public()))
def test_classes_have_twins(name, found):
    twin_name = RENAMED.get(name, name)
    if twin_name is None:
        return
    twin = getattr(distal, twin_name)
    for member in found:
        other = MEMBERS.get(twin_name, {}).get(member, member)
        if other is not None and not member.endswith("_"):
            assert hasattr(twin, other) or other in getattr(twin, "__annotations__", {}), f"{name}::{member}"


def test_the_list_is_read():
    found = dict(public())
    assert {"Param", "Int", "Machine", "Kernel", "Schedule", "Onto", "TensorHandle", "Format"} <= set(found)
    assert {"split", "rotate", "precompute", "apply"} <= set(found["Schedule"])
    assert {"redistribute", "load", "save", "copy_from", "layout"} <= set(found["TensorHandle"])
    assert {"run", "text", "program", "plan", "cost"} <= set(found["Kernel"])


def test_free_functions_have_twins():
    text = without_comments((HEADERS / "param.h").read_text()) + without_comments((HEADERS / "compound.h").read_text())
    functions = set(re.findall(r"^(?:inline )?(?:Int|void) (\w+)\(", text, re.MULTILINE)) - {"operator"}
    assert functions == {"ceildiv", "min", "max", "tile", "stationary", "chunked", "systolic"}
    for name in functions:
        assert hasattr(distal, name) or hasattr(distal.compound, name)
