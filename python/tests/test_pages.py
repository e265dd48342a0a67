"""The Python that the documents show runs."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("DISTAL_SOURCE", Path(__file__).parents[2]))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
         if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "algorithms").symlink_to(ROOT / "algorithms")
    text = page.read_text(encoding="utf-8")
    names = {}
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        exec(compile("\n" * first + block[1], str(page), "exec"), names)  # with the page's own lines in errors


def test_the_pages_show_python():
    assert {"README.md", "python.md"} <= {page.name for page in PAGES}
