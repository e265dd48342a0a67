"""Pictures of a kernel's plan."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._errors import InputError, TypeMismatch
from ._files import PathLike, to_path
from ._numbers import to_index


class Drawing:
    """What ``Kernel.draw`` makes. A notebook shows it."""

    def __init__(self, page: str, picture: str) -> None:
        self.html = page
        """A page that needs no other file."""
        self._picture = picture

    @property
    def data(self) -> dict[str, Any]:
        """The data of the pictures, in the form of docs/pictures.md."""
        data: dict[str, Any] = json.loads(self._picture)
        return data

    def save(self, file: PathLike) -> None:
        """Writes the page, or with a name that ends in ``.svg`` the first step of the film."""
        path = Path(to_path(file, "draw"))
        text = self.svg() if path.suffix == ".svg" else self.html
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be written: {error.strerror}",
                             "name a file in a folder that you may write to") from None

    def svg(
        self, view: str = "film", *, step: int = 1, processor: int | None = None, axes: Sequence[str] = ()
    ) -> str:
        """One view as a file of SVG: ``film``, ``data``, ``plan``, ``memory`` or ``choice``.

        The step counts from 1, and 0 is the last one; ``axes`` are up to three indices. Node draws it.
        """
        number = -1 if processor is None else to_index(processor, "svg: the processor")
        names = list(axes)
        if not all(isinstance(name, str) for name in (view, *names)):
            raise TypeMismatch(f"svg: the view is {view!r} and the axes are {names}; they must be strings")
        return _core.svg(self._picture, view, to_index(step, "svg: the step"), number, names)

    def _repr_svg_(self) -> str | None:
        # Without Node this returns None, and the notebook displays another form.
        return self.svg() if shutil.which("node") else None

    def _repr_html_(self) -> str:
        # A frame keeps the page's style and keys apart from the notebook's.
        style = "width:100%;height:860px;border:0"
        return f'<iframe style="{style}" srcdoc="{html.escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        data = self.data
        steps = sum(s["frames_in_all"] for s in data["statements"])
        return f"Drawing({data['title']!r}, steps={steps})"
