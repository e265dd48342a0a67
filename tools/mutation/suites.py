"""The tests of a build, as ctest lists and runs them."""

import json
import re
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

from .folders import READERS, TOO_LONG
from .processes import run

LONGEST_TEST = 600  # seconds, where no limit is given
FAILED_CASE = re.compile(r"\[  FAILED  \] ([\w/.]+)")


class TestError(Exception):
    """Tests could not be listed or run."""


@dataclass(frozen=True)
class Test:
    name: str
    labels: frozenset
    targets: frozenset  # of ninja; empty if anything that is built may be needed

    @property
    def area(self):
        return self.plain_name.partition("/")[0]

    @property
    def plain_name(self):
        """Without the name of the sanitizer build."""
        first, _, rest = self.name.partition("/")
        return rest if first in ("asan", "tsan") else self.name

    def is_a(self, kind):
        return kind in self.labels


@dataclass(frozen=True)
class Result:
    test: str
    status: str  # "passed", "failed" or "skipped"
    seconds: float
    case: str = ""  # the first case that failed
    output: str = ""  # the end of what a failed test said


def tests_of(build, tree):
    """All tests of a build that may judge a fault, in ctest's order."""
    folder = build.folder(tree)
    status, output = run([*build.prefix, "ctest", "--test-dir", folder, "--show-only=json-v1"], timeout=600)
    if status != 0:
        raise TestError(f"ctest cannot list the tests of {folder}:\n{output[-2000:]}")
    listed = json.loads(output[output.index("{") :])["tests"]
    targets = targets_of(folder)
    tests = [test_of(entry, folder, targets) for entry in listed]
    return [t for t in tests if not t.labels & (READERS | TOO_LONG) and t.area not in READERS]


def test_of(entry, folder, targets):
    values = {p["name"]: p["value"] for p in entry.get("properties", [])}
    labels = frozenset(re.split("[,;]", ",".join(values.get("LABELS", []))))
    command = entry.get("command", [])
    built = {str(Path(word).relative_to(folder)) for word in command if word.startswith(f"{folder}/")}
    return Test(entry["name"], labels, frozenset(built & targets))


def targets_of(folder):
    """The executables that ninja can make."""
    status, output = run(["ninja", "-C", folder, "-t", "targets", "all"], timeout=600)
    if status != 0:
        raise TestError(f"ninja cannot list the targets of {folder}:\n{output[-2000:]}")
    return {line.partition(": ")[0] for line in output.splitlines() if "EXECUTABLE_LINKER" in line}


def run_tests(build, tree, tests, limits, jobs, stop=True, env=None, scratch="selected-tests"):
    """Runs some tests, those named first as early as possible. `limits` are seconds by name."""
    folder = build.folder(tree) / scratch
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CTestTestfile.cmake").write_text(selection(build.folder(tree), tests, limits))
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    for log in folder.glob("Testing/Temporary/*"):  # else ctest begins with what failed last
        log.unlink()
    command = [*build.prefix, "ctest", "--test-dir", folder, "-L", "^selected$", "-j", jobs, "--output-junit", report]
    outer_limit = 60 + sum(limits.get(t.name, LONGEST_TEST) for t in tests)  # ctest ends each test itself
    _, output = run(command + (["--stop-on-failure"] if stop else []), timeout=outer_limit,
                    env={**build.environment(tree), **(env or {})})
    if not report.exists():
        raise TestError(f"ctest did not run in {folder}:\n{output[-2000:]}")
    return results_in(report)


def selection(folder, tests, limits):
    """A list of tests for ctest: those of a build, some of them selected, with an order and with limits."""
    lines = [f'subdirs("{folder}")']
    for place, test in enumerate(tests):
        cost = len(tests) - place
        limit = f" TIMEOUT {limits[test.name]:.0f}" if test.name in limits else ""
        lines.append(f'set_tests_properties("{test.name}" PROPERTIES LABELS selected COST {cost}{limit})')
    return "\n".join(lines) + "\n"


def results_in(report):
    kinds = {"run": "passed", "fail": "failed"}
    out = []
    for case in xml.parse(report).getroot().iter("testcase"):
        status = kinds.get(case.get("status"), "skipped")
        output = (case.findtext("system-out") or "") if status == "failed" else ""
        failed = FAILED_CASE.search(output)
        out.append(Result(case.get("name"), status, float(case.get("time")), failed.group(1) if failed else "",
                          output[-1000:]))
    return out
