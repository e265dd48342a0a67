"""Reads the lists of faults.

An entry is a few lines; blank lines separate entries, and `#` starts a comment:

    what: the last tile is not clipped at the edge of the tensor
    file: src/ir/bounds.h
    - return min(end, extent);
    + return end;

A line that begins with two blanks is context: it is in the old text and in the new one. Lines match whole lines of the
file, without indentation and without a comment at the end. An entry without a `+` line removes its `-` lines.
`unseen: REASON` marks a fault that changes nothing a user could see.
"""

from dataclasses import dataclass, field

from .fault import Fault, line_of


class ListError(Exception):
    """A list of faults cannot be used; says where and why."""


@dataclass
class Entry:
    where: str  # "faults/plan.txt:12"
    what: str = ""
    file: str = ""
    reason: str = ""
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)

    def add(self, line):
        key, _, value = line.partition(":")
        if line[:1] in ("-", "+", " "):
            text = code_of(line[1:])
            if line[0] != "+":
                self.old.append(text)
            if line[0] != "-":
                self.new.append(text)
        elif key in ("what", "file", "unseen"):
            setattr(self, {"unseen": "reason"}.get(key, key), value.strip())
        else:
            raise ListError(f"{self.where}: not a line of an entry: {line}")

    def require_complete(self):
        for name in ("what", "file", "old"):
            if not getattr(self, name):
                raise ListError(f"{self.where}: the entry has no {'`-` line' if name == 'old' else f'`{name}:`'}")
        if self.old == self.new:
            raise ListError(f"{self.where}: the entry changes nothing")


def parse(text, name):
    """All entries of a list. `name` is the list's file, for messages."""
    entries, current = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            current = None
            continue
        if current is None:
            current = Entry(f"{name}:{number}")
            entries.append(current)
        current.add(line)
    for entry in entries:
        entry.require_complete()
    return entries


def code_of(line):
    """A line without its indentation, and without a comment at its end, so that both may change."""
    return line.partition("  // ")[0].strip()


def positions(old, lines):
    """Where the old lines stand in a file, as indices of its lines."""
    stripped = [code_of(line) for line in lines]
    return [i for i in range(len(lines) - len(old) + 1) if stripped[i : i + len(old)] == old]


def indented(new, like):
    margin = like[: len(like) - len(like.lstrip())]
    return "\n".join(margin + line if line else "" for line in new)


def fault_of(entry, name, text):
    """The fault of an entry. Its old text must occur exactly once in the file."""
    lines = text.split("\n")
    found = positions(entry.old, lines)
    if len(found) != 1:
        times = "is not there" if not found else f"occurs {len(found)} times"
        raise ListError(f"{entry.where}: the text of the fault {times} in {entry.file}: {entry.old[0]}")
    at = found[0]
    start = sum(len(line) + 1 for line in lines[:at])
    old = "\n".join(lines[at : at + len(entry.old)])
    return Fault(name, entry.file, entry.what, start, old, indented(entry.new, lines[at]), line_of(text, start),
                 entry.reason)
