"""Which tests judge a fault, by the folder of its file."""

# After the quick tests, these kinds of tests. The longest path that a file begins with counts.
KINDS = {
    "src/api/mpi/": ["mpi"],
    "src/cli/mpi": ["mpi"],  # also src/cli/mpi_start.cpp
    "src/cli/legion": ["legion"],
    "src/data/": ["asan"],
    "src/engine/": ["asan", "tsan"],
    "src/engine/legion/": ["legion"],
    "src/engine/mpi/": ["mpi", "asan"],
    "src/leaf/": ["asan"],
    "src/session/": ["asan", "tsan"],
    "src/session/mpi/": ["mpi", "asan"],
    "src/store/": ["asan", "tsan"],
    "src/support/": ["asan", "tsan"],
    "src/view/": ["browser"],
}

# The build that has the tests of a kind; all others are in the default build.
PRESETS = {"asan": "asan", "tsan": "tsan"}

# These tests read the text of the sources, so that they would find any change of it.
READERS = {"style", "tools"}

# `./test` leaves these out without --long.
TOO_LONG = {"long"}


def kinds_for(file):
    """The kinds of tests that belong to a file, beside the quick ones."""
    fitting = [path for path in KINDS if file.startswith(path)]
    return KINDS[max(fitting, key=len)] if fitting else []


def area_of(file):
    """The folder of tests that is nearest to a file of src/."""
    parts = file.split("/")
    if parts[1:3] in (["engine", "mpi"], ["api", "mpi"], ["cli", "mpi"], ["session", "mpi"]):
        return "mpi"
    return parts[1]


def of_kind(tests, kind):
    """The tests of a kind. In the build with a sanitizer, all are of its kind."""
    if kind in PRESETS:
        return list(tests)
    if kind != "quick" or any(t.is_a("quick") for t in tests):
        return [t for t in tests if t.is_a(kind) or (kind != "quick" and t.area == kind)]
    return [t for t in tests if t.area not in ("mpi", "legion")]
