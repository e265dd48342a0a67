"""The files of the repository that are built and tested."""

import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

# They do not change what is built or tested, so that an edit of them keeps the clean build and the coverage.
WITHOUT_EFFECT = ("tools/mutate", "tools/mutation/", "docs/mutation.md")


class Sources:
    """A commit, or the files of the working tree as they are. `files` are (mode, bytes) by path."""

    def __init__(self, root, working_tree):
        self.root = Path(root)
        self.commit = self._git("rev-parse", "HEAD").decode().strip()
        self.is_working_tree = working_tree
        self.files = self._on_disk() if working_tree else self._in_commit()
        self.texts = {path: data.decode() for path, (_, data) in self.files.items() if path.startswith("src/")}
        self.digest = self._digest()

    @property
    def description(self):
        return f"{self.commit[:12]} with the changes of the working tree" if self.is_working_tree else self.commit[:12]

    def _git(self, *words):
        return subprocess.run(["git", "-C", str(self.root), *words], stdout=subprocess.PIPE, check=True).stdout

    def _in_commit(self):
        archive = tarfile.open(fileobj=io.BytesIO(self._git("archive", self.commit)))
        return {m.name: (m.mode, archive.extractfile(m).read()) for m in archive if m.isfile()}

    def _on_disk(self):
        names = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")
        paths = {name: self.root / name for name in names if name}
        return {name: (p.stat().st_mode & 0o777, p.read_bytes()) for name, p in paths.items() if p.is_file()}

    def _digest(self):
        out = hashlib.sha256()
        for path in sorted(self.files):
            if not path.startswith(WITHOUT_EFFECT):
                mode, data = self.files[path]
                out.update(f"{path}\0{mode & 0o100}\0{len(data)}\0".encode() + data)
        return out.hexdigest()[:16]


def write_files(files, folder):
    """Makes a folder hold exactly these files beside its builds. Files that are right keep their times."""
    written = folder / ".files"
    before = written.read_text().split("\n") if written.exists() else []
    for path in before:
        if path and path not in files:
            (folder / path).unlink(missing_ok=True)
    for path, (mode, data) in files.items():
        target = folder / path
        if not target.is_file() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        target.chmod(mode | 0o600)
    written.write_text("\n".join(sorted(files)))
