"""What a run has found: as text, as JSON, and as a page of the documentation."""

from collections import Counter
from dataclasses import dataclass

from .trial import FOUND, NOT_COMPILED, SURVIVED, UNSEEN

COLUMNS = {FOUND: "found", SURVIVED: "survived", UNSEEN: "not visible"}


@dataclass
class Run:
    command: str
    date: str
    commit: str
    minutes: float
    faults: list
    outcomes: dict  # by name of fault
    texts: dict  # of sources, by path

    def with_status(self, status):
        return [f for f in self.faults if f.name in self.outcomes and self.outcomes[f.name].status == status]

    @property
    def judged(self):
        return [f for f in self.faults if f.name in self.outcomes and self.outcomes[f.name].status != NOT_COMPILED]

    @property
    def left_over(self):
        return [f for f in self.faults if f.name not in self.outcomes]

    @property
    def broken(self):
        """Listed faults that do not compile: they say nothing."""
        return [f for f in self.with_status(NOT_COMPILED) if f.name.startswith("listed")]


def totals(run):
    listed = sum(f.name.startswith("listed") for f in run.judged)
    parts = [f"{len(run.judged)} faults ({listed} listed, {len(run.judged) - listed} by seed)"]
    parts += [f"{len(run.with_status(status))} {word}" for status, word in COLUMNS.items()]
    if run.left_over:
        parts.append(f"{len(run.left_over)} not run")
    return ", ".join(parts) + f"; {len(run.with_status(NOT_COMPILED))} more did not compile"


def rows_by_folder(run):
    """Each folder with its faults, how many were found, survived and are marked; the sum comes last."""
    counts = Counter((f.folder, run.outcomes[f.name].status) for f in run.judged)
    folders = sorted({folder for folder, _ in counts})
    rows = [[folder, *(counts[folder, status] for status in COLUMNS)] for folder in folders]
    rows.append(["all", *(len(run.with_status(status)) for status in COLUMNS)])
    return [[row[0], sum(row[1:]), *row[1:]] for row in rows]


def text_report(run):
    header = ["folder", "faults", *COLUMNS.values()]
    widths = [max(map(len, (str(row[0]) for row in rows_by_folder(run))))] + [len(word) for word in header[1:]]
    lines = [""]
    for row in [header] + rows_by_folder(run):
        lines.append("  ".join(f"{cell:<{w}}" if n == 0 else f"{cell:>{w}}" for n, (cell, w) in
                               enumerate(zip(row, widths))))
    for title, faults in (("Survivors", run.with_status(SURVIVED)), ("Listed faults that do not compile", run.broken)):
        if faults:
            lines += ["", f"{title}:"]
            lines += [line for fault in faults for line in described(run, fault)]
    return "\n".join(lines + ["", totals(run)])


def described(run, fault):
    notes = "; ".join(run.outcomes[fault.name].notes)
    return [f"  {fault.file}:{fault.line}  {fault.what}" + (f" ({notes})" if notes else "")] + [
        "    " + line for line in fault.diff(run.texts[fault.file])
    ]


def json_report(run):
    return {
        "command": run.command,
        "date": run.date,
        "commit": run.commit,
        "minutes": round(run.minutes, 1),
        "faults": [
            {"name": f.name, "file": f.file, "line": f.line, "what": f.what, "diff": f.diff(run.texts[f.file]),
             **run.outcomes[f.name].to_json()}
            for f in run.faults if f.name in run.outcomes
        ],
        "not_run": [f.name for f in run.left_over],
    }


def table(header, rows):
    numbers = rows and isinstance(rows[0][-1], int)
    lines = ["| " + " | ".join(header) + " |", "| --- |" + (" ---: |" if numbers else " --- |") * (len(header) - 1)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def markdown_report(run):
    """The page docs/mutation.md."""
    lines = [
        "# Mutation report",
        "",
        "`tools/mutate` plants small faults in the sources and counts how many the tests find.",
        "`tools/mutate --help` explains the tool.",
        "",
        *table(["run", ""], [["command", f"`{run.command}`"], ["date", run.date], ["commit", f"`{run.commit}`"],
                             ["minutes", f"{run.minutes:.0f}"]]),
        "",
        totals(run) + ".",
        "",
        *table(["folder", "faults", *COLUMNS.values()], rows_by_folder(run)),
    ]
    lines += section(run, "Survivors", SURVIVED, "No test finds these faults, and they are not explained yet.")
    lines += section(run, "Faults that are not visible", UNSEEN, "No user can see these changes.")
    lines += ["", "## Found faults", ""]
    found = [[f"`{f.file}:{f.line}`", plain(f.what), plain(run.outcomes[f.name].by)] for f in run.with_status(FOUND)]
    lines += table(["place", "fault", "found by"], found)
    return "\n".join(lines) + "\n"


def section(run, title, status, introduction):
    faults = run.with_status(status)
    if not faults:
        return []
    lines = ["", f"## {title}", "", introduction]
    for fault in faults:
        explanation = [fault.reason] if fault.reason else run.outcomes[fault.name].notes
        lines += ["", " ".join([f"`{fault.file}:{fault.line}`: {plain(fault.what)}.", *map(sentence, explanation)])]
        lines += ["", "```diff", *fault.diff(run.texts[fault.file]), "```"]
    return lines


def sentence(text):
    return text[:1].upper() + text[1:].rstrip(".") + "."


def plain(text):
    """Text for a cell of a table."""
    return text.replace("|", "\\|").rstrip(".")
