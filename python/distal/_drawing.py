"""Pictures of a kernel's plan."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import Any


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

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the page."""
        Path(file).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A frame keeps the page's style and keys apart from the notebook's.
        style = "width:100%;height:860px;border:0"
        return f'<iframe style="{style}" srcdoc="{html.escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        data = self.data
        steps = sum(s["frames_in_all"] for s in data["statements"])
        return f"Drawing({data['title']!r}, steps={steps})"
