"""Faults by seed: the same seed and the same sources give the same faults in the same order."""

import random

from .code import Code
from .entries import code_of
from .fault import Fault
from .listed import key_of
from .operators import edits_at
from .types import types_by_name


def edits_by_line(text, types):
    """All edits of a file, by the line on which they begin."""
    code = Code(text, types)
    out = {}
    for i, token in enumerate(code.tokens):
        for edit in edits_at(code, i):
            out.setdefault(token.line, []).append(edit)
    return out


def candidates(sources, is_executed):
    """All lines that have edits, in a fixed order. `is_executed(file, line)` chooses among the lines."""
    code = {f: sources[f] for f in sorted(sources) if f.startswith("src/") and f.endswith((".cpp", ".h"))}
    types = types_by_name(code)
    return [
        (file, line, edits)
        for file, text in code.items()
        for line, edits in sorted(edits_by_line(text, types).items())
        if is_executed(file, line)
    ]


def seeded_faults(sources, seed, is_executed, unseen):
    """Endless in practice: each line at most once, so that faults do not crowd on long lines."""
    lines = candidates(sources, is_executed)
    chance = random.Random(seed)
    chance.shuffle(lines)
    for number, (file, line, edits) in enumerate(lines, 1):
        edit = chance.choice(edits)
        old = sources[file][edit.start : edit.end]
        fault = Fault(f"seeded {number}", file, edit.what, edit.start, old, edit.new, line)
        yield fault.marked(reason_of(fault, sources[file], unseen))


def reason_of(fault, text, unseen):
    """Why no user can see a seeded fault; empty if the list does not say so."""
    changed = fault.diff(text)
    old = [code_of(line[1:]) for line in changed if line.startswith("-")]
    new = [code_of(line[1:]) for line in changed if line.startswith("+")]
    return unseen.get(key_of(fault.file, old, new), "")
