"""Kernels: statements compiled together with their schedules."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, AbstractSet, Any, Iterable, NamedTuple

from . import _core
from ._core import Certificate, Cost, FindOptions, Progress, RunOptions, RunReport
from ._drawing import Drawing
from ._errors import Error, InputError, TypeMismatch
from ._explanation import explanation
from ._files import PathLike
from ._numbers import Epoch
from ._ranks import RanksKernel, on_ranks
from ._where import Line

if TYPE_CHECKING:
    from ._storage import Storage
    from ._tensor import Tensor


class Command(NamedTuple):
    """A command of a schedule: where it stands, and its words."""

    line: Line | None
    words: list[str]


@dataclass
class Statement:
    """A statement, as far as kernels and errors need it."""

    tensor: Tensor
    """The one that it defines."""
    operands: tuple[Tensor, ...]
    accumulates: bool
    line: Line | None
    commands: list[Command] = field(default_factory=list)
    workspaces: list[Tensor] = field(default_factory=list)


def _all_of(defined: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """The tensors that a caller named: one, or several."""
    from ._tensor import Tensor

    try:
        tensors = [defined] if isinstance(defined, Tensor) else list(defined)
    except TypeError:
        tensors = [defined]  # type: ignore[list-item]
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeMismatch(f"{tensor!r} is no Tensor", "a kernel is made of the tensors that statements define: "
                               "Kernel([A, B])")
    return tensors


def _statement_of(tensor: Tensor) -> Statement:
    if tensor._statement is None:
        raise InputError(f"tensor {tensor.name} has no statement to compile",
                         f"define it first, for example {tensor.name}[i, j] = B[i, k] * C[k, j]")
    return tensor._statement


def _options(**given: Any) -> RunOptions:
    try:
        return RunOptions(**given)
    except TypeError:
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise TypeMismatch(f"these options do not fit: {shown}",
                           "threads is an integer, progress a distal.Progress, the others are bool") from None


def to_run_options(options: RunOptions | None) -> RunOptions:
    """The options of a run that a caller gave."""
    if options is None:
        return _DEFAULT
    if not isinstance(options, RunOptions):
        raise TypeMismatch(f"options is {options!r}; it must be RunOptions", "write for instance run(threads=2)")
    return options


def to_find_options(options: FindOptions | None, name: str) -> FindOptions:
    """The options of a search that a caller gave as the argument of this name."""
    if options is None:
        return FindOptions()
    if not isinstance(options, FindOptions):
        raise TypeMismatch(f"{name} is {options!r}; it must be FindOptions")
    return options


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _line_of(call: str, statements: list[Statement]) -> Line | None:
    """The caller's line of what an error refers to: a tensor, a statement or a command, as C++ writes it."""
    for s in statements:
        name = s.tensor.name
        if call.startswith(f"{name}.schedule()."):
            words = _words(call[len(f"{name}.schedule()."):])
            # If a command stands there twice, it is the second one that is wrong.
            return next((c.line for c in reversed(s.commands) if words[:len(c.words)] == c.words), s.line)
        if call.startswith((f"{name}(", f"{name} ")):
            return s.line
        for t in (s.tensor, *s.operands, *s.workspaces):
            if call == f"tensor {t.name}":
                return t._line
    return None


def _told(error: Error, statements: list[Statement]) -> Error:
    """An error of the library, at the caller's line of what it refers to."""
    return error._at(_line_of(error._call, statements) or error.line)


class Kernel:
    """Statements compiled together with their schedules: those that define these tensors, in this order.

    A kernel can run many times: on new data, with new values of its params, and after its tensors were redistributed.
    It keeps threads, buffers and plans for the next run. Other Python threads go on while it compiles and runs.

    >>> import numpy as np, distal
    >>> i, = distal.indices("i")
    >>> a, b = distal.Tensor("a", (3,)), distal.Tensor("b", (3,), data=np.arange(3.0))
    >>> a[i] = 2 * b[i]
    >>> kernel = distal.Kernel([a])
    >>> kernel.run().bytes_moved
    0
    >>> a.numpy()
    array([0., 2., 4.])

    What the statements leave out (schedules, grids and formats) is found for the values of the params now, as ``find``
    says, and kept for this kernel.

    A kernel is pickled as its text, and comes back as a ``Program``.
    """

    _written: AbstractSet[Tensor] = frozenset()

    def __init__(self, defined: Tensor | Iterable[Tensor], find: FindOptions | None = None) -> None:
        statements = [_statement_of(t) for t in _all_of(defined)]
        try:
            core = _core.Kernel([s.tensor._handle for s in statements], to_find_options(find, "find"))
        except Error as error:
            raise _told(error, statements) from None
        self._use(core, statements)
        Epoch.advance()  # tensors may have got their formats

    def _use(self, core: _core.Kernel, statements: list[Statement]) -> None:
        self._statements = statements
        self._use_tensors(core, [s.tensor for s in statements],
                          [t for s in statements for t in s.operands] + [s.tensor for s in statements if s.accumulates])

    def _use_tensors(self, core: _core.Kernel, written: list[Tensor], read: list[Tensor]) -> None:
        self._core = core
        self._tensors = list(dict.fromkeys(written + read))
        self._written = set(written)
        self._read = set(read)
        self._epoch = -1
        self._ranks: dict[Any, RanksKernel] = {}
        self._before: list[Storage] = []
        self._after: list[Storage] = []

    @classmethod
    def _of_copy(cls, to: Tensor, source: Tensor) -> Kernel:
        kernel = cls.__new__(cls)
        core = to._handle.copy_kernel(source._handle)
        kernel._use(core, [Statement(to, (source,), False, None)])
        return kernel

    def _place(self) -> None:
        """Gives every tensor its memory, and finds which pieces must be copied at each run."""
        epoch = Epoch.count  # what another thread binds meanwhile is for the next run
        for t in self._written:
            t._is_written()
        storages = {t: t._stored() for t in self._tensors}
        self._before = [storages[t] for t in self._tensors if t in self._read and storages[t].apart]
        self._after = [storages[t] for t in self._tensors if t in self._written and storages[t].apart]
        self._epoch = epoch

    def _let_go(self) -> None:
        """Forgets the arrays of all its tensors. Others must be bound before the next run."""
        for t in self._tensors:
            t._let_go()
        self._before, self._after = [], []
        self._epoch = -1

    def run(self, options: RunOptions | None = None, *, threads: int = 0, own_memory: bool = False,
            strict_order: bool = False, progress: Progress | None = None, comm: Any = None) -> RunReport:
        """Runs with the current values of the params on the current data of the tensors.

        The options are those of ``RunOptions``; they change only the last bits of a result. Ctrl-C on the main thread
        ends the run with a KeyboardInterrupt once the leaves that run are finished; the kernel can run again, and the
        elements of its outputs are any values until then. With a communicator of
        mpi4py, all its ranks run the kernel together: each has the pieces of its own processors, which ``processors``
        lists. Of an array that is bound to a whole tensor, a rank reads and writes these pieces alone.
        """
        if self._epoch != Epoch.count:
            self._place()
        options = to_run_options(options)
        if threads or own_memory or strict_order or progress is not None:
            if options is not _DEFAULT:
                raise InputError("run: some options are given as RunOptions and others by name",
                                 "give all of them in one way")
            options = _options(threads=threads, own_memory=own_memory, strict_order=strict_order, progress=progress)
        for storage in self._before:
            storage.scatter()
        try:
            report = self._core.run(options) if comm is None else self._on(comm).run(options)
        except Error as error:
            raise _told(error, self._statements) from None
        for storage in self._after:
            storage.gather()
        return report

    def _on(self, comm: Any) -> RanksKernel:
        handle = comm.py2f() if hasattr(comm, "py2f") else comm
        if handle not in self._ranks:
            self._ranks[handle] = on_ranks(self._core, comm)
        return self._ranks[handle]

    def processors(self, comm: Any) -> list[int]:
        """The processors of this rank; all ranks of the communicator call it."""
        if self._epoch != Epoch.count:
            self._place()
        return self._on(comm).processors()

    @property
    def text(self) -> str:
        """The whole program as a .distal file; parsing it gives the same program."""
        return self._core.text()

    @property
    def program(self) -> str:
        """The lowered Program."""
        return self._core.program()

    @property
    def plan(self) -> str:
        """Every transfer of every step, for the current values of the params."""
        return self._core.plan()

    @property
    def cost(self) -> Cost:
        """The cost for the current values of the params, counted from the plan."""
        return self._core.cost()

    @property
    def certificates(self) -> list[Certificate]:
        """How far each statement is from the least communication, for the current values of the params."""
        return self._core.certificates()

    def explain(self) -> str:
        """The program, what it moves and holds, and how far that is from the least; ``print(kernel)`` shows it."""
        return explanation(self.text, self.cost, self.certificates)

    def draw(self, file: PathLike | None = None) -> Drawing:
        """Pictures of the plan for the current values of the params: where data lives, what moves, what is computed.

        With a file, such as ``"cannon.html"``, writes a page that any browser opens; ``"cannon.svg"`` is the first step
        of the film. A notebook shows the result, and a kernel alone in the same way.
        """
        drawing = Drawing(self._core.page(), self._core.picture())
        if file is not None:
            drawing.save(file)
        return drawing

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_()

    def _repr_svg_(self) -> str | None:
        return self.draw()._repr_svg_()

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {', '.join(sorted(t.name for t in self._written))}"

    def __reduce__(self) -> Any:
        from ._program import Program

        return Program.parse, (self.text,)

    def __str__(self) -> str:
        return self.explain()


_DEFAULT = RunOptions()
