"""A fault: one small change of one source file."""

import difflib
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Fault:
    name: str  # "listed 12" or "seeded 3"; unique within one run
    file: str  # from the root of the repository
    what: str  # one sentence, or the change itself
    start: int  # where the old text begins in the file
    old: str
    new: str
    line: int  # the first line of the old text, from 1
    reason: str = ""  # why no user can see the fault; empty if a test must find it

    def apply(self, text):
        if text[self.start : self.start + len(self.old)] != self.old:
            raise ValueError(f"{self.file}: the text of fault {self.name} has moved")
        return text[: self.start] + self.new + text[self.start + len(self.old) :]

    @property
    def lines(self):
        """The numbers of the lines that the fault changes."""
        return range(self.line, self.line + self.old.count("\n") + 1)

    @property
    def folder(self):
        return self.file.rpartition("/")[0]

    def diff(self, text):
        """The changed lines, as `- old` and `+ new`."""
        before, after = text.splitlines(), self.apply(text).splitlines()
        changed = difflib.unified_diff(before, after, n=0, lineterm="")
        return [line[0] + " " + line[1:].strip() for line in list(changed)[2:] if not line.startswith("@@")]

    def marked(self, reason):
        return replace(self, reason=reason)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
