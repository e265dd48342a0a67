"""A copy of the repository with its builds, in which one fault after the other is planted."""

import os
from contextlib import contextmanager

from .builds import builds
from .processes import end_strays, run
from .snapshot import make_like
from .sources import write_files

BUILD_LIMIT = 2 * 3600  # seconds


class TreeError(Exception):
    """A clean tree cannot be built."""


class Tree:
    def __init__(self, folder, sources, jobs, say):
        self.folder = folder
        self.sources = sources
        self.jobs = jobs
        self._say = say
        self._builds = builds()
        self._ready = set()
        self._snapshots = folder.parent / (folder.name + ".clean")

    def set_up(self):
        """Copies the sources. Builds that are there go back to their clean state."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, build in self._builds.items():
            if (self._snapshots / name).exists():
                make_like(build.folder(self.folder), self._snapshots / name)
        write_files(self.sources.files, self.folder)
        self._link_legion()

    def _link_legion(self):
        """Legion is fetched once, into build/legion of the repository."""
        fetched, link = self.sources.root / "build" / "legion", self.folder / "build" / "legion"
        if fetched.exists() and not link.is_symlink():
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(fetched)

    def build_of(self, name):
        return self._builds[name]

    def prepare(self, name, keep=True):
        """Makes a build of the clean sources, and keeps a copy of it to go back to."""
        if name in self._ready:
            return
        build = self._builds[name]
        folder = build.folder(self.folder)
        if not (folder / "build.ninja").exists():
            self._say(f"configuring {name} in {self.folder}")
            self._must(build.configure_command(self.folder), f"configuring {name}")
        self._say(f"building {name} in {self.folder}")
        self._must(self._ninja(build, ()), f"building {name}")
        self._ready.add(name)
        if keep:
            self.keep(name)

    def keep(self, name):
        """Takes the build as it is for the clean one, with what clean tests have left in their caches."""
        make_like(self._snapshots / name, self._builds[name].folder(self.folder))

    def _must(self, command, what):
        status, output = run(command, timeout=BUILD_LIMIT, cwd=self.folder)
        if status != 0:
            raise TreeError(f"{what} failed for the clean sources:\n{output[-4000:]}")

    def _ninja(self, build, targets):
        return [*build.prefix, "ninja", "-C", build.folder(self.folder), "-j", self.jobs, *sorted(targets)]

    def make(self, name, targets):
        """Builds some targets, or all if there are none. Returns whether that worked, and what ninja said."""
        build = self._builds[name]
        status, output = run(self._ninja(build, targets), timeout=BUILD_LIMIT, env=build.environment(self.folder))
        return status == 0, output

    @contextmanager
    def planted(self, fault, name):
        """The sources have the fault in here. Afterwards the sources and the build are clean again."""
        path = self.folder / fault.file
        times = path.stat()
        path.write_text(fault.apply(self.sources.texts[fault.file]))
        try:
            yield
        finally:
            end_strays(self.folder)
            path.write_bytes(self.sources.files[fault.file][1])
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            make_like(self._builds[name].folder(self.folder), self._snapshots / name)
