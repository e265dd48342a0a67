"""Programs in .distal files."""

from __future__ import annotations

import re
from typing import Any, Iterator, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import KINDS, kind_of
from ._core import ElementKind, FindOptions
from ._errors import TypeMismatch
from ._files import PathLike, to_path
from ._kernel import Kernel, to_find_options
from ._numbers import Param, to_index
from ._tensor import Tensor

_OUTPUT = re.compile(r"^(\w+)(?:\([^()=]*\))? [-+]?= ", re.MULTILINE)
_DTYPES: dict[ElementKind, np.dtype[Any]] = {kind: dtype for dtype, kind in KINDS.items()}


def _values(params: dict[str, SupportsIndex]) -> dict[str, int]:
    return {name: to_index(value, f"param {name}") for name, value in params.items()}


class Program(Kernel):
    """A program in a .distal file as a kernel, with its tensors and params by name.

    >>> import numpy as np, distal
    >>> program = distal.Program.parse('''
    ... param n = 4
    ... tensor a(n)
    ... tensor b(n)
    ... a(i) = 2 * b(i)
    ... ''', n=3)
    >>> program["b"].bind(np.arange(3.0))
    >>> program.run().bytes_moved
    0
    >>> program["a"].numpy()
    array([0., 2., 4.])
    """

    def __init__(self, core: _core.Program) -> None:
        self._program = core
        self._params = {name: Param(core.param(name)) for name in core.params()}
        self._by_name: dict[str, Tensor] = {}
        for name in core.tensors():
            handle = core.tensor(name)
            self._by_name[name] = Tensor._of(handle, _DTYPES[handle.type])
        kernel = core.kernel()
        outputs = dict.fromkeys(_OUTPUT.findall(kernel.text()))
        self._statements = []
        self._use_tensors(kernel, [self._by_name[name] for name in outputs], list(self._by_name.values()))

    @classmethod
    def load(cls, file: PathLike, /, *, dtype: npt.DTypeLike | None = None,
             options: FindOptions | None = None, **params: SupportsIndex) -> Program:
        """Reads a file. The values of params are given by name; ``dtype`` replaces the element type of the file.

        What the file leaves out is found for these values, as ``options`` says, and kept.
        """
        kind = None if dtype is None else kind_of(dtype, "a program")
        find = to_find_options(options, "options")
        return cls(_core.Program.load(to_path(file, "load"), _values(params), kind, find))

    @classmethod
    def parse(cls, text: str, /, *, dtype: npt.DTypeLike | None = None, options: FindOptions | None = None,
              **params: SupportsIndex) -> Program:
        """The same, of the text of such a file."""
        if not isinstance(text, str):
            raise TypeMismatch(f"a program is the text of a .distal file, not {type(text).__name__}")
        kind = None if dtype is None else kind_of(dtype, "a program")
        return cls(_core.Program.parse(text, _values(params), kind, to_find_options(options, "options")))

    @property
    def kernel(self) -> Kernel:
        """The program itself, which is a kernel."""
        return self

    @property
    def tensors(self) -> list[str]:
        """The names of the tensors, in the order of the file."""
        return list(self._by_name)

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name; ``program[name]`` is the same."""
        if name not in self._by_name:
            self._program.tensor(str(name))  # throws an error that lists the tensors
        return self._by_name[name]

    def __getitem__(self, name: str) -> Tensor:
        return self.tensor(name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    @property
    def params(self) -> list[str]:
        """The names of the params, in the order of the file."""
        return list(self._params)

    def param(self, name: str) -> Param:
        """The param of this name; set its ``value`` for the next run."""
        if name not in self._params:
            self._program.param(str(name))  # throws an error that lists the params
        return self._params[name]


def load(file: PathLike, /, *, dtype: npt.DTypeLike | None = None, options: FindOptions | None = None,
         **params: SupportsIndex) -> Program:
    """Reads a program in a .distal file: ``distal.load("algorithms/summa.distal", ni=512).run()``."""
    return Program.load(file, dtype=dtype, options=options, **params)
