"""The command line."""

import argparse
import re

from .builds import cores

HELP = """\
Plants faults in the sources and reports which of them no test finds.

A fault is one small change. Some are in the repository's lists (tools/mutation/faults): faults of this field,
such as a dropped reduction or a lost message. A seed chooses the others, at lines that tests execute: a
comparison reversed or off by one, `+` for `-`, two arguments of one type swapped, a statement removed, a number
off by one, `max` for `min`.

The working tree is never touched. The tool works in copies of the last commit, in build/mutate: it builds a copy,
plants a fault, builds what changed, runs the tests nearest to the fault first, stops at the first failure, and
takes the fault out again. A fault survives if it passes the quick tests and the tests that belong to its folder:
those with MPI, with Legion, or with sanitizers (tools/mutation/folders.py). A test that never executes the changed
line does not run; the first run measures that, and keeps it for the commit.

A hang counts as found. A seeded fault that does not compile is replaced by another one.

What to do with a survivor: write a test that finds it. If no user could see the fault, mark it: in its list with
a line `unseen: REASON`, or, if it came by seed, with an entry in tools/mutation/equivalent.txt."""

EXAMPLES = """\
examples:
  tools/mutate                              the lists and 40 faults of seed 1
  tools/mutate --no-list --count 100 --seed 7
  tools/mutate --count 0 --only src/plan    the listed faults of a folder
  tools/mutate --show --no-coverage         prints the faults, and builds nothing
  tools/mutate --resume                     goes on with an interrupted run
  tools/mutate --check-list                 whether all listed faults are still there

exit status: 0 if no fault survived, 1 if some did, 2 if there was a mistake"""


def parse_options(words):
    parser = argparse.ArgumentParser(prog="tools/mutate", description=HELP, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_argument_group("which faults")
    which.add_argument("--seed", type=int, default=1, help="what the random faults are chosen by (default 1)")
    which.add_argument("--count", type=number, default=40, help="how many faults by seed (default 40)")
    which.add_argument("--no-list", action="store_true", help="without the listed faults")
    which.add_argument("--only", metavar="PATH", default="", help="only faults in files whose path begins so")
    which.add_argument("--show", action="store_true", help="print the faults and stop")
    which.add_argument("--check-list", action="store_true", help="check the lists against the working tree and stop")
    how = parser.add_argument_group("how they are judged")
    how.add_argument("--working-tree", action="store_true",
                     help="copy the files as they are, in place of the last commit")
    how.add_argument("--workers", type=positive, default=max(1, cores() // 2),
                     help="trees to work in side by side (default: half the cores)")
    how.add_argument("--timeout", type=positive, default=20, metavar="SECONDS",
                     help="a test hangs after this, or after 5 times its usual time if that is more (default 20)")
    how.add_argument("--no-coverage", action="store_true",
                     help="choose lines and tests by folder, and measure nothing")
    how.add_argument("--all-tests", action="store_true", help="run also tests that never execute the changed line")
    how.add_argument("--no-sanitizers", action="store_true", help="judge survivors without the sanitizer builds")
    how.add_argument("--exclude", type=pattern, metavar="REGEX", help="without the tests whose name matches")
    how.add_argument("--limit-minutes", type=positive, metavar="N", help="begin no further fault after this")
    how.add_argument("--resume", action="store_true", help="keep what the last run with the same faults has found")
    out = parser.add_argument_group("results")
    out.add_argument("--json", metavar="FILE", help="write every fault and its outcome")
    out.add_argument("--report", metavar="FILE.md", help="write a page for the documentation, as docs/mutation.md is")
    return parser.parse_args(words)


def number(word):
    value = int(word)
    if value < 0:
        raise argparse.ArgumentTypeError("it is negative")
    return value


def positive(word):
    value = int(word)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1 is needed")
    return value


def pattern(word):
    try:
        return re.compile(word)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"not a regular expression: {error}") from error
