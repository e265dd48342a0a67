"""Shared by the tests of the command line: finds and runs the program.

DISTAL_BINARY names the program, by default the one in build/. Temporary files go into folders of their own.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("DISTAL_BINARY", ROOT / "build" / "distal")).resolve()
ALGORITHMS = ROOT / "algorithms"
# In seconds. A command that takes longer hangs.
TIMEOUT = 120


def finished(command, cwd=None, env=None):
    """Runs a command and returns the finished process, its output as text."""
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )


def distal(*arguments, cwd=None, env=None):
    return finished([BINARY, *arguments], cwd, env)


def distal_within(mebibytes, *arguments):
    """Runs distal in a process whose memory is limited to a number of MiB."""
    return finished(["sh", "-c", f'ulimit -v {mebibytes * 1024} && exec "$@"', "sh", BINARY, *arguments])


def settings(values):
    """{"ni": 3, "gx": 2} as --set takes it."""
    return ",".join(f"{name}={value}" for name, value in values.items())


class CliTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def succeed(self, *arguments, **options):
        """Runs the program, which must end well, and returns what it printed on stdout."""
        done = distal(*arguments, **options)
        shown = " ".join(map(str, arguments))
        self.assertEqual(done.returncode, 0, f"distal {shown}\n{done.stdout}{done.stderr}")
        return done.stdout

    def json_of(self, *arguments, **options):
        """The object that the program prints with --json: exactly one line, and nothing else on stdout."""
        text = self.succeed(*arguments, "--json", **options)
        self.assertTrue(text.endswith("\n"), text)
        self.assertEqual(text.count("\n"), 1, text)
        return json.loads(text)

    def refuse(self, status, wanted, *arguments, **options):
        """Runs the program, which must refuse with that status and all the wanted texts on stderr, none on stdout."""
        done = distal(*arguments, **options)
        shown = f"distal {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
        self.assertEqual(done.returncode, status, shown)
        self.assertEqual(done.stdout, "", shown)
        for text in [wanted] if isinstance(wanted, str) else wanted:
            self.assertIn(text, done.stderr, shown)
        self.assertNotIn("internal error", done.stderr, shown)
        return done.stderr
