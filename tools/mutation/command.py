"""Carries out the command line."""

import fcntl
import json
import shlex
import signal
import sys
import time
from datetime import date
from itertools import islice
from pathlib import Path

from .builds import cores
from .campaign import Campaign
from .clean import CleanError, CleanTests
from .console import Console
from .coverage import load_or_measure
from .entries import ListError
from .listed import listed_faults, mistakes_in_lists, unseen_changes
from .nearest import Nearest
from .options import parse_options
from .processes import Stopped, stop
from .record import Record
from .report import Run, json_report, markdown_report, text_report
from .seeded import seeded_faults
from .sources import Sources
from .suites import TestError
from .tree import Tree, TreeError

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutate"
MISTAKE = 2


def main(words):
    options = parse_options(words)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        if options.check_list:
            return check_list()
        return run(options, words)
    except (CleanError, ListError, TestError, TreeError) as error:
        print(f"tools/mutate: {error}", file=sys.stderr)
    except (KeyboardInterrupt, Stopped):
        print("tools/mutate: interrupted; --resume goes on", file=sys.stderr)
    return MISTAKE


def interrupt(*_):
    stop()
    raise KeyboardInterrupt


def source_texts():
    """The sources of the working tree, by path."""
    paths = [p for p in (ROOT / "src").rglob("*") if p.suffix in (".cpp", ".h")]
    return {str(p.relative_to(ROOT)): p.read_text() for p in paths}


def check_list():
    sources = source_texts()
    mistakes = mistakes_in_lists(ROOT, sources)
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    print(f"{len(listed_faults(ROOT, sources)[0])} listed faults, {len(mistakes)} mistakes")
    return MISTAKE if mistakes else 0


def run(options, words):
    begin = time.monotonic()
    console = Console()
    sources = Sources(ROOT, options.working_tree)
    WORK.mkdir(parents=True, exist_ok=True)
    lock = lock_of(WORK)  # held until the end
    jobs = max(1, cores() // options.workers)
    trees = [Tree(WORK / f"tree-{n}", sources, jobs, console) for n in range(options.workers)]
    listed = chosen_listed(options, sources)
    is_built = not (options.show and options.no_coverage)
    if is_built:
        for tree in trees:
            tree.set_up()
    coverage = None if options.no_coverage else load_or_measure(WORK / "coverage.json", trees[0], console)
    seeded = chosen_seeded(options, sources, coverage)
    if options.show:
        return show(listed + list(islice(seeded, options.count)), sources)
    clean = clean_trees(options, trees, sources, console)
    key = [sources.digest, options.seed, options.only, options.no_list, options.no_coverage, [f.new for f in listed]]
    record = Record(WORK / "last-run.jsonl", key, options.resume)
    deadline = begin + 60 * options.limit_minutes if options.limit_minutes else None
    campaign = Campaign(listed, seeded, options.count, trees, Nearest(coverage, clean.seconds, options.all_tests),
                        clean, record, console, deadline)
    campaign.run(sanitizers=not options.no_sanitizers)
    done = Run("tools/mutate " + shlex.join(words), date.today().isoformat(), sources.description,
               (time.monotonic() - begin) / 60, campaign.faults, record.outcomes, sources.texts)
    return finish(options, done)


def lock_of(folder):
    lock = open(folder / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise TreeError(f"another run works in {folder}") from error
    return lock


def chosen_listed(options, sources):
    if options.no_list:
        return []
    faults, mistakes = listed_faults(ROOT, sources.texts)
    if mistakes:
        raise ListError("\n".join(mistakes))
    return [f for f in faults if f.file.startswith(options.only)]


def chosen_seeded(options, sources, coverage):
    def is_executed(file, line):
        return file.startswith(options.only) and (coverage is None or coverage.is_executed(file, line))

    return seeded_faults(sources.texts, options.seed, is_executed, unseen_changes(ROOT))


def show(faults, sources):
    for fault in faults:
        print(f"{fault.name}: {fault.file}:{fault.line}  {fault.what}")
        for line in fault.diff(sources.texts[fault.file]):
            print(f"    {line}")
    return 0


def clean_trees(options, trees, sources, console):
    """All trees built, and their tests known to pass without a fault."""
    clean = CleanTests(WORK / "clean.json", sources.digest, options.timeout, options.exclude, console)
    for tree in trees:
        tree.prepare("default")
    clean.require_pass(trees[0], "default", clean.tests(trees[0], "default"))
    for tree in trees:
        tree.keep("default")
    return clean


def finish(options, done):
    print(text_report(done))
    if options.json:
        Path(options.json).write_text(json.dumps(json_report(done), indent=1) + "\n")
    if options.report:
        Path(options.report).write_text(markdown_report(done))
    if done.broken:
        return MISTAKE
    return 1 if any(o.status == "survived" for o in done.outcomes.values()) else 0
