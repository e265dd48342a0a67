"""The notebooks run from the first cell to the last."""

import json
import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("DISTAL_SOURCE", Path(__file__).parents[2])) / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_notebook(notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            assert not cell["outputs"], "notebooks are kept without outputs"
            exec(compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"), names)


def test_there_are_notebooks():
    assert {"summa_and_cannon", "cp_als", "coupled_cluster"} <= {n.stem for n in NOTEBOOKS}
