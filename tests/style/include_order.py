"""Checks that every folder of src includes only from folders before it in the pipeline.

Usage: include_order.py SRC
"""

import re
import sys
from pathlib import Path

# A folder may include itself and the folders before it.
PIPELINE = ["support", "bound", "lang", "ir", "schedule", "program", "lower", "plan", "view", "tune", "store", "leaf",
            "engine", "session"]
# Beside the pipeline: these stand on the language alone, so that none of them can inherit a mistake of the compiler.
BESIDE = ["check", "data"]
# May include everything, but not each other.
TOP = ["api", "cli"]
# The public headers, which stand above all folders.
PUBLIC = "distal"
# Headers of emitted programs, which stand alone: they include each other, and what such a program has beside them.
EMITTED = ["engine/legion/support", "leaf/gpu/support"]
EMITTED_BESIDE = ["legion.h", "mappers/default_mapper.h", "realm/cuda/cuda_module.h", "data/random.h",
                  "lang/block_cyclic.h", "lang/index_role.h", "distal/leaves.h"]

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def allowed(folder):
    """The folders that files of `folder` may include from."""
    if folder in PIPELINE:
        return PIPELINE[: PIPELINE.index(folder) + 1]
    if folder in BESIDE:
        return ["support", "bound", "lang", folder]
    return PIPELINE + BESIDE + [folder]


def engine_of(path):
    """The X of engine/X/...; None for what all engines share."""
    parts = Path(path).parts
    return parts[1] if parts[0] == "engine" and len(parts) > 2 else None


def mistake(file, included):
    """What is wrong with `file` including `included`, both relative to src; None if nothing."""
    folder, target = Path(file).parts[0], Path(included).parts[0]
    if Path(file).parent.as_posix() in EMITTED:
        fine = "/" not in included or included in EMITTED_BESIDE
        return None if fine else f"what is emitted may include only its own headers and {', '.join(EMITTED_BESIDE)}"
    if target == PUBLIC:
        return None
    if folder not in PIPELINE + BESIDE + TOP:
        return f"folder '{folder}' has no place in the order; give it one in include_order.py"
    if target not in allowed(folder):
        return f"'{folder}' may include only from {', '.join(allowed(folder))}"
    own, other = engine_of(file), engine_of(included)
    if own is not None and other is not None and own != other:
        return f"engine '{own}' may not include from engine '{other}'"
    return None


def mistakes(src):
    """All mistakes under the folder `src`, as lines to print."""
    found = []
    for path in sorted(list(src.rglob("*.h")) + list(src.rglob("*.cpp"))):
        file = path.relative_to(src)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            wrong = match and mistake(file, match.group(1))
            if wrong:
                found.append(f"{path}:{number}: includes \"{match.group(1)}\": {wrong}")
    return found


def main():
    found = mistakes(Path(sys.argv[1]))
    print("\n".join(found) if found else "every include follows the order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
