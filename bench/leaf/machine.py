"""Describes the machine and the software of a measurement."""

import datetime
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path


def first_line(command):
    """The first line that a command prints; "unknown" if the command fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return (done.stdout.splitlines() or ["unknown"])[0]


def cpu():
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    fields = [re.search(rf"^{name}\s*:\s*(.*)$", text, re.MULTILINE) for name in ("model name", "cpu family", "model")]
    name, family, model = [f.group(1) if f else "unknown" for f in fields]
    widest = next((x for x in ("amx_tile", "avx512f", "avx2") if re.search(rf"\b{x}\b", text)), "no AVX2")
    return f"{name}, family {family} model {model}, {widest}"


def describe(threads, workers):
    """The lines before the tables of a report."""
    root = Path(__file__).resolve().parent
    compiler = shlex.split(os.environ.get("DISTAL_CXX", "c++"))
    pages = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    setting = re.search(r"\[(\w+)\]", pages.read_text(encoding="utf-8")) if pages.exists() else None
    return [
        f"- CPU: {cpu()}",
        f"- cores: {os.cpu_count()}, threads used: {threads}, load at the start: {os.getloadavg()[0]:.2f}",
        f"- compiler of the leaves: {first_line([*compiler, '--version'])}",
        *[f"- {name}: {worker.ask('about')}" for name, worker in workers.items() if name != "distal"],
        f"- transparent huge pages: {setting.group(1) if setting else 'none'}; all arrays ask for them by madvise",
        f"- commit: {first_line(['git', '-C', str(root), 'describe', '--always', '--dirty'])}",
        f"- command: bench/leaf/{' '.join(shlex.quote(word) for word in [Path(sys.argv[0]).name, *sys.argv[1:]])}",
        f"- date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
    ]
