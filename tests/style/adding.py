"""Checks that the example of docs/adding.md applies to the sources and compiles, and that a forgotten member does not.

Usage: adding.py SOURCE BUILD
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Beside the files that the page changes: those that ask every relation between variables.
ASKING = ["src/ir/relation.cpp", "src/ir/iteration_space.cpp"]
FORGOTTEN = re.compile(r"\n  template <class Text>\n  std::vector<std::string> recovery.*?\n  }\n", re.DOTALL)


def patches(page):
    """The diffs of the page."""
    return re.findall(r"^```diff\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def changed(patch):
    """The files that a diff changes."""
    return re.findall(r"^\+\+\+ b/(\S+)", patch, re.MULTILINE)


def command_for(file, source, copy, commands):
    """The command that checks a file of the copy, made from that of a file in the same folder."""
    folder = (source / file).parent
    like = next(c for c in commands if Path(c["file"]).parent == folder)
    words = [w.replace(f"{source}/src", f"{copy}/src").replace(f"{source}/include", f"{copy}/include")
             for w in shlex.split(like["command"])]
    end = words.index("-o")
    return words[:end] + ["-fsyntax-only", str(copy / file)], like["directory"]


def compiles(file, source, copy, commands):
    """Whether a file of the copy compiles, and what the compiler says."""
    words, directory = command_for(file, source, copy, commands)
    run = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stderr


def mistakes(source, build):
    """What is wrong with the page, as lines to print."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = patches((source / "docs/adding.md").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ["src", "include"]:
            shutil.copytree(source / part, copy / part)
        for patch in found:
            run = subprocess.run(["patch", "-p1", "--fuzz=3"], cwd=copy, input=patch, capture_output=True, text=True,
                                 check=False)
            if run.returncode:
                return [f"docs/adding.md: the change of {', '.join(changed(patch))} does not apply:", run.stdout]
        files = [f for patch in found for f in changed(patch) if f.endswith(".cpp")] + ASKING
        for file in files:
            fine, said = compiles(file, source, copy, commands)
            if not fine:
                return [f"docs/adding.md: {file} does not compile:", said]
        header = copy / "src/ir/reversal.h"
        header.write_text(FORGOTTEN.sub("", header.read_text(encoding="utf-8")), encoding="utf-8")
        if compiles("src/ir/iteration_space.cpp", source, copy, commands)[0]:
            return ["a relation without `recovery` compiles"]
    return []


def main():
    found = mistakes(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
    print("\n".join(found) if found else "the example applies and compiles")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
