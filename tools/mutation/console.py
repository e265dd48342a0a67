"""Lines on the terminal: those that stay, and one that passes."""

import sys
import threading


class Console:
    def __init__(self, stream=sys.stderr):
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, text, passing=False):
        with self._lock:
            if passing and not self._stream.isatty():
                return
            clear = "\r\033[K" if self._stream.isatty() else ""
            self._stream.write(clear + text + ("" if passing else "\n"))
            self._stream.flush()
