"""Worker processes, and the line protocol of serve.h."""

import contextlib
import dataclasses
import subprocess
import time

SETTLE = 0.05  # seconds after which the idle threads of other workers stop spinning


class Unsupported(Exception):
    """The worker does not support the variant."""


@dataclasses.dataclass(frozen=True)
class Timing:
    best: float
    median: float
    repetitions: int
    work: float  # 0: Kernel.work


class Worker:
    """A process that starts at its first request. A worker that leaks memory is ended by drop()."""

    def __init__(self, name, command, env=None, leaks=False):
        self.name = name
        self._command = command
        self._env = env
        self._leaks = leaks
        self._process = None

    def _start(self):
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=self._env
        )

    def ask(self, *words):
        if self._process is None:
            self._start()
        with contextlib.suppress(BrokenPipeError):  # the missing answer raises a better error
            self._process.stdin.write(" ".join(map(str, words)) + "\n")
            self._process.stdin.flush()
        state, _, rest = self._process.stdout.readline().strip().partition(" ")
        if state == "none":
            raise Unsupported
        if state != "ok":
            raise RuntimeError(f"{self.name}: {' '.join(map(str, words))}: {rest or 'the worker ended'}")
        return rest

    def prepare(self, kernel, sizes):
        extents = ",".join(f"{index}={n}" for index, n in sizes.items())
        self.ask("prepare", kernel.name, kernel.type, kernel.distributed, extents, kernel.statement)

    def check(self, variant):
        return float(self.ask("check", variant))

    def time(self, variant, seconds):
        time.sleep(min(SETTLE, seconds))
        best, median, repetitions, work = self.ask("time", variant, seconds).split()
        return Timing(float(best), float(median), int(repetitions), float(work))

    def drop(self):
        if self._leaks:
            self.close()
        else:
            self.ask("drop")

    def close(self):
        if self._process is None:
            return
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._process = None
