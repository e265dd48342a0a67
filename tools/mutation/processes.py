"""Runs commands that may hang, crash or take all memory."""

import os
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

# If memory runs out, the system ends these processes first.
EXPENDABLE = ["sh", "-c", 'echo 1000 >/proc/self/oom_score_adj 2>/dev/null; exec "$@"', "sh"]


running = set()
stopped = threading.Event()


class Stopped(Exception):
    """The run is to end, and commands with it."""


def run(command, timeout=None, env=None, cwd=None):
    """Runs a command in a session of its own. Returns its exit status, or None after a timeout, and its output."""
    # Not a pipe: what a command leaves running would keep that open.
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(EXPENDABLE + [str(word) for word in command], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, cwd=cwd, start_new_session=True,
                                   env={**os.environ, **(env or {})})
        running.add(process)
        try:
            status = wait_for(process, timeout)
        finally:
            running.discard(process)
        output.seek(0)
        return status, output.read()


def wait_for(process, timeout):
    if stopped.is_set():
        end_session(process)
    try:
        status = process.wait(timeout)
    except subprocess.TimeoutExpired:
        end_session(process)
        process.wait()
        status = None
    if stopped.is_set():  # the command was ended, so its status says nothing
        raise Stopped()
    return status


def end_session(process):
    """Ends a command and what it has started. Ninja and ctest put that into process groups of its own."""
    for pid in all_processes():
        try:
            if os.getsid(pid) == process.pid:
                os.kill(pid, signal.SIGKILL)
        except OSError:  # it has ended
            continue


def all_processes():
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]


def stop():
    """Ends the commands that are running. No further one begins."""
    stopped.set()
    for process in list(running):
        end_session(process)


def end_strays(folder):
    """Ends the processes whose program lies in a folder: what a crashed test has left."""
    for pid in all_processes():
        try:
            if os.readlink(f"/proc/{pid}/exe").startswith(str(folder) + os.sep):
                os.kill(pid, signal.SIGKILL)
        except OSError:  # it has ended, or belongs to another user
            continue
