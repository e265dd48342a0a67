"""The examples in the docstrings run, everything public has a docstring, and the types are consistent."""

import doctest
import inspect
import subprocess
import sys

import pytest

import distal


def documented():
    """(name, object) of everything public, with the members of classes."""
    yield "distal", distal
    for name in (*distal.__all__, "min", "max"):
        thing = getattr(distal, name)
        yield name, thing
        members = vars(thing).items() if inspect.isclass(thing) else ()
        for member, value in members:
            if not member.startswith("_") and (callable(value) or hasattr(value, "__doc__")):
                yield f"{name}.{member}", value


@pytest.mark.parametrize("name, thing", [(n, t) for n, t in documented() if ">>>" in (t.__doc__ or "")])
def test_examples(name, thing):
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(thing.__doc__) + "\n", {}, name, None, None)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


@pytest.mark.parametrize("name, thing", list(documented()))
def test_everything_has_a_docstring(name, thing):
    assert (thing.__doc__ or "").strip(), f"{name} has no docstring"


def test_python_keeps_its_functions():
    names = {}
    exec("from distal import *", names)
    assert {"einsum", "Tensor"} <= set(names) and not {"min", "max"} & set(names)


def test_types_are_consistent(tmp_path):
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-p", "distal"], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
