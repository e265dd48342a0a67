"""The tests of a tree without a fault must pass; how long they take sets the limits for trees with one."""

import json
import threading

from .suites import run_tests, tests_of

TIMES_LONGER = 5


class CleanError(Exception):
    """Tests fail without any fault."""


class CleanTests:
    """Runs tests of clean trees as they are needed, and remembers the seconds that they took."""

    def __init__(self, file, digest, shortest_limit, excluded, say):
        self._file = file
        self._digest = digest
        self._shortest_limit = shortest_limit
        self._excluded = excluded  # a pattern of names
        self._say = say
        self._lock = threading.Lock()
        self._tests = {}
        self.seconds = {}
        if file.exists() and (data := json.loads(file.read_text())).get("digest") == digest:
            self.seconds = data["seconds"]

    def tests(self, tree, name):
        """The tests of a build of a clean tree."""
        with self._lock:
            if name not in self._tests:
                listed = tests_of(tree.build_of(name), tree.folder)
                self._tests[name] = [t for t in listed if not (self._excluded and self._excluded.search(t.name))]
            return self._tests[name]

    def require_pass(self, tree, name, tests):
        with self._lock:
            new = [t for t in tests if t.name not in self.seconds]
            if not new:
                return
            self._say(f"running {len(new)} tests of the clean sources ({name})")
            results = run_tests(tree.build_of(name), tree.folder, new, {}, tree.jobs, stop=False)
            failed = [r for r in results if r.status == "failed"]
            if failed:
                names = ", ".join(sorted(r.test for r in failed))
                raise CleanError(f"tests fail without any fault: {names}; mend them, or leave them out with "
                                 f"--exclude. {failed[0].test} said:\n{failed[0].output}")
            self.seconds.update((r.test, r.seconds) for r in results)
            self._file.write_text(json.dumps({"digest": self._digest, "seconds": self.seconds}))

    def limits(self):
        return {name: max(self._shortest_limit, TIMES_LONGER * s) for name, s in self.seconds.items()}
