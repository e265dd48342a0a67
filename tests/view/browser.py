"""Runs pages of `distal draw` in Chromium, without a window and without a network."""

import json
import re
import shutil
import subprocess
import tempfile
import zlib
from html import unescape
from pathlib import Path

import numpy as np

TIMEOUT = 120


def chromium():
    """The browser's path; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def run(page, address="", options=(), virtual_ms=1000):
    """Opens a page and returns the finished browser."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
            "--force-color-profile=srgb", f"--user-data-dir={profile}", f"--virtual-time-budget={virtual_ms}",
            *options, f"file://{page}{address}",
        ]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              timeout=TIMEOUT, check=False)


def document(page, address="", virtual_ms=1000):
    """The text of the page after its script has run."""
    done = run(page, address, ["--dump-dom"], virtual_ms)
    if "<body" not in done.stdout:
        raise RuntimeError(f"no page: {done.stdout[:500]} {done.stderr[-500:]}")
    return done.stdout


def body(text):
    """The data-* attributes of the body."""
    tag = re.search(r"<body[^>]*>", text)[0]
    return {name: unescape(value) for name, value in re.findall(r'data-(\w+)="([^"]*)"', tag)}


def answers(page, script, virtual_ms=3000):
    """Runs a script after that of the page. Returns its value, and the attributes of the body."""
    asking = Path(page).with_suffix(".asking.html")
    text = Path(page).read_text(encoding="utf-8")
    ask = (
        "<script>const said = (() => {" + script + "})();"
        'document.body.insertAdjacentHTML("beforeend", "<pre id=said></pre>");'
        'document.getElementById("said").textContent = JSON.stringify(said);</script>'
    )
    asking.write_text(text.replace("</body>", ask + "</body>"), encoding="utf-8")
    shown = document(asking, "", virtual_ms)
    asking.unlink()
    found = re.search(r'<pre id="said">(.*?)</pre>', shown, re.DOTALL)
    if not found:
        raise RuntimeError(f"the script did not end: {body(shown)}")
    return json.loads(unescape(found[1])), body(shown)


# ---- screenshots ----


def pixels(file):
    """A PNG of 8-bit RGB or RGBA as an array of rows, columns and channels."""
    raw = Path(file).read_bytes()
    width, height = (int.from_bytes(raw[at : at + 4], "big") for at in (16, 20))
    channels = {2: 3, 6: 4}[raw[25]]
    packed, at = b"", 8
    while at < len(raw):
        length = int.from_bytes(raw[at : at + 4], "big")
        if raw[at + 4 : at + 8] == b"IDAT":
            packed += raw[at + 8 : at + 8 + length]
        at += length + 12
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    out = np.zeros((height + 1, width * channels + channels), np.int64)  # with a row and a pixel of zeros before
    for y, row in enumerate(rows, 1):
        unfilter(int(row[0]), row[1:], out[y], out[y - 1], channels)
    return out[1:, channels:].reshape(height, width, channels)[:, :, :3]


def unfilter(kind, row, line, above, step):
    """Undoes one of PNG's filters; `line` and `above` begin with a pixel of zeros."""
    if kind == 0:
        line[step:] = row
    elif kind == 2:
        line[step:] = (row + above[step:]) % 256
    else:
        for x, value in enumerate(row.tolist(), step):
            left, up, corner = int(line[x - step]), int(above[x]), int(above[x - step])
            if kind == 1:
                guess = left
            elif kind == 3:
                guess = (left + up) // 2
            else:
                base = left + up - corner
                guess = min((left, up, corner), key=lambda c: abs(base - c))
            line[x] = (value + guess) % 256


def coarse(image, rows=12, columns=16):
    """The mean colours of a grid of fields."""
    height, width, _ = image.shape
    fields = image[: height // rows * rows, : width // columns * columns]
    return fields.reshape(rows, height // rows, columns, width // columns, 3).mean(axis=(1, 3)).round().astype(int)


def screenshot(page, address, file, size=(1040, 720)):
    run(page, address, [f"--screenshot={file}", f"--window-size={size[0]},{size[1]}"], 1500)
    return coarse(pixels(file))
