"""The repository's own lists: planted faults, and seeded ones that no user can see."""

from pathlib import Path

from .entries import ListError, fault_of, parse, positions

FEWEST_FAULTS = 40
LISTS = "tools/mutation/faults"
UNSEEN = "tools/mutation/equivalent.txt"


def folders_of_sources(files):
    return sorted({str(Path(f).parent) for f in files if f.startswith("src/") and Path(f).suffix in (".cpp", ".h")})


def entries_in(root, folder_or_file):
    path = Path(root) / folder_or_file
    paths = sorted(path.glob("*.txt")) if path.is_dir() else [path] if path.exists() else []
    return [entry for p in paths for entry in parse(p.read_text(), str(p.relative_to(root)))]


def text_of(sources, entry):
    if entry.file not in sources:
        raise ListError(f"{entry.where}: there is no file {entry.file}")
    return sources[entry.file]


def listed_faults(root, sources):
    """All faults of the lists, and what is wrong with the others. `sources` are the texts of files by path."""
    faults, mistakes = [], []
    for number, entry in enumerate(entries_in(root, LISTS), 1):
        try:
            faults.append(fault_of(entry, f"listed {number}", text_of(sources, entry)))
        except ListError as mistake:
            mistakes.append(str(mistake))
    return faults, mistakes


def unseen_changes(root):
    """Why seeded changes cannot be seen, by file, old text and new text."""
    return {key_of(e.file, e.old, e.new): e.reason for e in entries_in(root, UNSEEN)}


def key_of(file, old, new):
    return file, "\n".join(old), "\n".join(new)


def mistakes_in_lists(root, sources):
    """Everything that is wrong with the lists, as sentences."""
    faults, mistakes = listed_faults(root, sources)
    if len(faults) < FEWEST_FAULTS:
        mistakes.append(f"{LISTS}: {len(faults)} faults; at least {FEWEST_FAULTS} are wanted")
    have = {f.folder for f in faults}
    mistakes += [f"{LISTS}: no fault in {folder}" for folder in folders_of_sources(sources) if folder not in have]
    for entry in entries_in(root, UNSEEN):
        lines = sources.get(entry.file, "").split("\n")
        if not entry.reason:
            mistakes.append(f"{entry.where}: the entry has no `unseen:`")
        if not positions(entry.old, lines):
            mistakes.append(f"{entry.where}: the text is not in {entry.file}: {entry.old[0]}")
    return mistakes
