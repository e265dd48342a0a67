"""Which lines a run of a program with --coverage has executed."""

import hashlib
import json
import os
import shutil
import tempfile
import threading
from pathlib import Path

from .processes import run

GCOV_LIMIT = 600  # seconds


class LineReader:
    """Reads counters. The same counters of the same object are read once, as most tests share most of them."""

    def __init__(self, tree):
        self._tree = str(tree) + os.sep
        self._known = {}
        self._lock = threading.Lock()

    def lines_of(self, prefix):
        """Whether the run that wrote its counters below `prefix` executed a line, by (file, line)."""
        out = {}
        for counters in Path(prefix).rglob("*.gcda"):
            notes = Path("/") / counters.relative_to(prefix).with_suffix(".gcno")
            if not notes.exists():  # of a program that a test has built
                continue
            for line, executed in self._lines_of_object(counters, notes).items():
                out[line] = executed or out.get(line, False)
        return out

    def _lines_of_object(self, counters, notes):
        key = str(notes), hashlib.sha256(counters.read_bytes()).digest()
        with self._lock:
            known = self._known.get(key)
        if known is None:
            known = self._ask_gcov(counters, notes)
            with self._lock:
                self._known[key] = known
        return known

    def _ask_gcov(self, counters, notes):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(counters, folder)
            (Path(folder) / notes.name).symlink_to(notes)
            status, output = run(["gcov", "--json-format", "--stdout", counters.name], timeout=GCOV_LIMIT, cwd=folder)
        out = {}
        start = output.find("{")
        if status != 0 or start < 0:
            return out
        for file in json.JSONDecoder().raw_decode(output, start)[0]["files"]:
            if not file["file"].startswith(self._tree + "src/"):
                continue
            name = file["file"][len(self._tree) :]
            for line in file["lines"]:
                at = name, line["line_number"]
                out[at] = line["count"] > 0 or out.get(at, False)
        return out
