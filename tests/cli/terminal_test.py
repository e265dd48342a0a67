"""What `distal` shows on a terminal, how Ctrl-C ends it, and what it tells shells and `man`."""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
import unittest

from support import ALGORITHMS, BINARY, CliTest

SUMMA = ALGORITHMS / "summa.distal"
# Many short leaves, which take seconds in all.
LONG = ["run", ALGORITHMS / "cannon.distal", "--set", "ni=1500,nj=1500,nk=1500", "--reps", "100000", "--no-check"]
HAS_MPI = (BINARY.parent / "distal-mpi").exists()


class Terminal:
    """A process whose stdout and stderr are a terminal."""

    def __init__(self, *words, env=None, columns=80):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self.process = subprocess.Popen(
            [BINARY, *map(str, words)], stdin=slave, stdout=slave, stderr=slave,
            env={**inherited, "TERM": "xterm", **(env or {})}, start_new_session=True,
        )
        os.close(slave)
        self.shown = ""

    def read(self, seconds, until=None):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until and re.search(until, self.shown)):
            ready, _, _ = select.select([self.master], [], [], 0.05)
            if ready:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    break  # the other side is closed
                if not data:
                    break
                self.shown += data.decode("utf-8", "replace")
        return self.shown

    def interrupt(self):
        """Seconds until the process has ended, and its status."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=30)
        return time.monotonic() - start, status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)


class TerminalTest(CliTest):
    def terminal(self, *words, **options):
        terminal = Terminal(*words, **options)
        self.addCleanup(terminal.close)
        return terminal


class Progress(TerminalTest):
    def test_of_a_run(self):
        terminal = self.terminal(*LONG)
        shown = terminal.read(30, until=r"running \d+ of 100000")
        self.assertRegex(shown, r"\r\x1b\[K(running \d+ of 100000|placing data|compiling the leaves)")

    def test_quiet(self):
        terminal = self.terminal(*LONG, "--quiet")
        self.assertEqual(terminal.read(2), "")

    def test_results_stay(self):
        terminal = self.terminal("run", SUMMA, "--set", "ni=40,nj=40,nk=40", "--quiet", env={"NO_COLOR": "1"})
        self.assertIn("check     correct", terminal.read(60, until="check .*\n"))
        self.assertEqual(terminal.process.wait(timeout=30), 0)

    def test_nothing_in_a_pipe(self):
        process = subprocess.Popen([BINARY, *map(str, LONG)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual((out, err, process.returncode), (b"", b"interrupted\n", 130))

    @unittest.skipUnless(HAS_MPI, "no MPI")
    def test_on_ranks(self):
        terminal = self.terminal(*LONG, "--engine", "mpi", "--ranks", 2)
        shown = terminal.read(60, until=r"running \d+ of 100000")
        self.assertRegex(shown, r"\r\x1b\[Krunning \d+ of 100000")


MARK = re.compile(r"\x1b\[[\d;]*m")
FREE = """
param n = 512, m = 64
machine M = Grid(2, 8)
tensor A(n, m) on M
tensor B(n, n) on M
tensor C(n, m) on M
A(i, j) = B(i, k) * C(k, j)
"""


class Results(TerminalTest):
    """What run, explain and optimize print: the text of a pipe in lines that fit, and what to look at first."""

    def shown(self, *words, status=0, **options):
        terminal = self.terminal(*words, "--quiet", **options)
        shown = terminal.read(60)
        self.assertEqual(terminal.process.wait(timeout=30), status, shown)
        return shown.replace("\r\n", "\n")

    def commands(self):
        free = self.write("free.distal", FREE)
        return [
            ["run", SUMMA, "--set", "ni=40,nj=30,nk=20"],
            ["run", free],
            ["explain", ALGORITHMS / "solomonik.distal"],
            ["explain", free],
            ["optimize", free],
        ]

    def test_fits(self):
        for columns in (80, 53):
            for command in self.commands():
                with self.subTest(command=command, columns=columns):
                    lines = MARK.sub("", self.shown(*command, columns=columns)).splitlines()
                    self.assertEqual([line for line in lines if len(line) > columns and " " in line.strip()], [])
                    self.assertTrue(any("look" in line.lower() for line in lines), lines)

    def test_says_what_a_pipe_gets(self):
        for command in self.commands()[2:]:
            shown = MARK.sub("", self.shown(*command)).split()
            piped = self.succeed(*command).split()
            if command[0] == "explain":
                shown = shown[: len(shown) - 1 - shown[::-1].index("Look")]
            else:
                shown = shown[: shown.index("look")]
            words = [word for word in shown if word != "#"]
            self.assertEqual(words, [word for word in piped if word != "#"])

    def test_what_was_found_can_be_copied(self):
        """Long lines of a program go on in lines that are read as one."""
        text = FREE.replace("n = 512", "a_param_of_a_name_that_is_long = 512, n = a_param_of_a_name_that_is_long")
        program = self.write("long.distal", text)
        shown = MARK.sub("", self.shown("optimize", program, columns=60))
        self.assertEqual(
            self.succeed("optimize", self.write("copied.distal", shown)),
            self.succeed("optimize", program).split("\n# ")[0] + "\n",
        )

    def test_colours(self):
        words = ["run", SUMMA, "--set", "ni=40,nj=40,nk=40"]
        self.assertRegex(self.shown(*words), r"check     \x1b\[32mcorrect\x1b\[0m")
        self.assertIn("\x1b[1mTotal\x1b[0m\n", self.shown("explain", SUMMA))
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            self.assertNotIn("\x1b", self.shown(*words, env=env), env)
        self.assertIn("\x1b", self.shown(*words, env={"NO_COLOR": ""}))

    def test_json_is_one_line(self):
        for command in self.commands():
            shown = self.shown(*command, "--json")
            self.assertEqual(shown.count("\n"), 1)
            self.assertIsInstance(json.loads(shown), dict)

    def test_what_to_look_at_first(self):
        apart = self.shown("explain", SUMMA, "--set", "ni=40,nj=40,nk=40", columns=200, env={"NO_COLOR": "1"})
        self.assertRegex(apart, r"Look first at\n  Certificate    processor \(0, 0\) exchanges [\d.]+ times the least")
        self.assertRegex(apart, r"  Communication  [BC] at ko is 50 % of the bytes that move \(broadcast\)\n$")
        alone = self.shown("explain", SUMMA, "--set", "gx=1,gy=1", env={"NO_COLOR": "1"})
        self.assertIn("  Communication  nothing moves\n", alone)
        idle = self.shown("run", SUMMA, "--set", "ni=3,nj=1,nk=2,gx=3,gy=2", env={"NO_COLOR": "1"})
        self.assertIn("  look at   ran on: 3 of 6 processors have no work\n", idle)
        for options, wanted in ([], "speed: nothing is copied"), (["--own-memory"], "moved: `distal explain` says"):
            shown = self.shown("run", SUMMA, "--reps", 1, *options, env={"NO_COLOR": "1"})
            self.assertIn(f"  look at   {wanted}", shown)
        free = self.write("free.distal", FREE)
        self.assertRegex(self.shown("optimize", free), "#   look at the (grid|alternatives): ")

    @unittest.skipUnless(HAS_MPI, "no MPI")
    def test_of_ranks(self):
        words = ["run", SUMMA, "--set", "ni=40,nj=40,nk=40", "--engine", "mpi", "--ranks", 2]
        shown = self.shown(*words, columns=50)
        self.assertIn("\x1b[32mcorrect\x1b[0m", shown)
        self.assertEqual([line for line in MARK.sub("", shown).splitlines() if len(line) > 50], [])
        self.assertNotIn("\x1b", self.succeed(*words))


class Interrupt(TerminalTest):
    def test_a_run(self):
        terminal = self.terminal(*LONG)
        terminal.read(30, until="running")
        seconds, status = terminal.interrupt()
        self.assertEqual(status, 130)
        self.assertLess(seconds, 2)
        self.assertTrue(terminal.read(2).endswith("\r\x1b[Kinterrupted\r\n"), terminal.shown)

    def test_a_plan(self):
        terminal = self.terminal("check", SUMMA, "--set", "ni=100000,nj=100000,nk=100000,gx=200,gy=200,chunk=1000")
        terminal.read(1, until="planning")
        if terminal.process.poll() is None:
            seconds, status = terminal.interrupt()
            self.assertEqual(status, 130)
            self.assertLess(seconds, 2)

    def test_leaves_no_half_written_file(self):
        """A file of 800 MB is saved; the process ends while it writes, or before."""
        words = ["run", SUMMA, "--set", "ni=10000,nj=10000,nk=2", "--reps", 1, "--no-check"]
        for engine in ("threads", "mpi") if HAS_MPI else ("threads",):
            with self.subTest(engine=engine):
                terminal = self.terminal(*words, "--save", f"A={self.folder}/a.npy", "--engine", engine)
                end = time.monotonic() + 60
                while not any(self.folder.glob("a.npy*")) and time.monotonic() < end:
                    time.sleep(0.005)
                seconds, status = terminal.interrupt()
                self.assertIn(status, (0, 130))
                self.assertLess(seconds, 10)
                # Nothing, or the whole file.
                left = {file.name: file.stat().st_size for file in self.folder.iterdir()}
                self.assertIn(left, ({}, {"a.npy": 128 + 8 * 10000 * 10000}))
                (self.folder / "a.npy").unlink(missing_ok=True)

    @unittest.skipUnless(HAS_MPI, "no MPI")
    def test_on_ranks(self):
        terminal = self.terminal(*LONG, "--engine", "mpi", "--ranks", 2)
        terminal.read(60, until=r"running \d+ of")
        listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, encoding="utf-8", check=True)
        rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
        family, before = {terminal.process.pid}, 0
        while len(family) != before:
            before = len(family)
            family |= {int(pid) for pid, parent, _ in rows if int(parent) in family}
        ranks = [int(pid) for pid, _, name in rows if int(pid) in family and name.strip().startswith("distal-mpi")]
        self.assertEqual(len(ranks), 2)
        seconds, status = terminal.interrupt()
        self.assertEqual(status, 130)
        self.assertLess(seconds, 4)
        self.assertTrue(terminal.read(2).endswith("interrupted\r\n"), terminal.shown[-200:])
        time.sleep(0.2)
        for rank in ranks:
            self.assertFalse(os.path.exists(f"/proc/{rank}/exe"), rank)


class Words(CliTest):
    def test_bash(self):
        script = self.write("distal.bash", self.succeed("completion", "bash"))
        for words, wanted in {
            "distal ''": "run explain check",
            "distal ru": "run",
            "distal run --lo": "--load",
            "distal run --leaf ''": "auto generated interpreted",
            "distal optimize --js": "--json",
            "distal explain x.distal --dump pl": "placement plan",
        }.items():
            line = f"source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _distal"
            done = subprocess.run(["bash", "-c", line + '; echo "${COMPREPLY[@]}"'], capture_output=True, text=True,
                                  check=True)
            self.assertEqual(done.stderr, "", words)
            for word in wanted.split():
                self.assertIn(word, done.stdout.split(), words)

    def test_other_shells(self):
        for shell in ("zsh", "fish"):
            text = self.succeed("completion", shell)
            for word in ("redistribute", "strict-order", "interpreted"):
                self.assertIn(word, text)
            if shutil.which(shell):
                script = self.write(f"distal.{shell}", text)
                subprocess.run([shell, "-n", script], check=True, capture_output=True)
        self.refuse(2, "SHELL: tcsh not in {bash,zsh,fish}", "completion", "tcsh")

    def test_manual(self):
        page = self.write("distal.1", self.succeed("manual"))
        text = page.read_text(encoding="utf-8")
        for wanted in ("distal redistribute", "\\-\\-strict\\-order", ".SH EXIT STATUS", "distal optimize"):
            self.assertIn(wanted, text)
        if shutil.which("man"):
            done = subprocess.run(
                ["man", "--warnings", "-l", page], capture_output=True, text=True, check=True,
                env={**os.environ, "MANWIDTH": "80"}
            )
            self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
