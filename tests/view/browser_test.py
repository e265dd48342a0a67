"""Pages of `distal draw` in a real browser. Skipped where there is no Chromium, and says so.

With DISTAL_UPDATE_GOLDEN=1 the coarse screenshots in tests/golden/view are written anew; look at them first.
"""

import json
import os
import random
import re
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import browser
import numpy as np
from support import ALGORITHMS, ROOT, CliTest

GOLDEN = ROOT / "tests" / "golden" / "view"
PROGRAMS = {
    "cannon": ("cannon.distal", "gx=3,gy=3"),
    "summa": ("summa.distal", "gx=3,gy=3"),
    "johnson": ("johnson.distal", "ni=64,nj=64,nk=64"),
    "solomonik": ("solomonik.distal", "g=4,c=2"),
    "mttkrp": ("mttkrp.distal", ""),
    "contraction4": ("contraction4.distal", "gx=3,gy=3"),
}
SHOTS = {
    "cannon": "#step=1",
    "summa": "#step=2",
    "johnson": "#step=2",
    "mttkrp": "#view=data",
    "solomonik": "#view=plan",
}

# Runs through all views and steps; the last step is reached by the keys.
TOUR = """
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const seen = [];
for (const key of ["2", "3", "4", "1"]) {
  press(key);
  seen.push(document.getElementById("picture").getAttribute("aria-label").split(",")[0]);
}
press("Home");
const steps = [document.body.dataset.step];
for (let n = 0; n < 200; ++n) {
  press("ArrowRight");
  if (document.body.dataset.step === steps.at(-1)) break;
  steps.push(document.body.dataset.step);
}
press("]");
press("Escape");
return { seen, steps, loaded: performance.getEntriesByType("resource").length,
         bad: /NaN|undefined|Infinity/.test(document.getElementById("picture").innerHTML) };
"""

# The texts at the pointer for every piece of every tensor.
PIECES = """
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
press("2");
return [...document.querySelectorAll("#picture [data-owner]")].map((cell) => {
  cell.dispatchEvent(new MouseEvent("mousemove", { bubbles: true }));
  return document.getElementById("tip").textContent;
});
"""

# The texts at the pointer for every arrow of every step.
ARROWS = """
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
press("Home");
const out = [];
for (let before = ""; before !== document.body.dataset.step; press("ArrowRight")) {
  before = document.body.dataset.step;
  const said = new Set();
  for (const arrow of document.querySelectorAll("#picture [data-from]")) {
    arrow.dispatchEvent(new MouseEvent("mousemove", { bubbles: true }));
    for (const line of document.querySelectorAll("#tip div")) said.add(line.textContent);
  }
  out.push([...said]);
}
return out;
"""


LARGE = {
    "cannon": "gx=64,gy=64,ni=16384,nj=16384,nk=16384",
    "summa": "gx=64,gy=64,ni=16384,nj=16384,nk=16384,chunk=256",
    "johnson": "gx=16,gy=16,gz=16,ni=16384,nj=16384,nk=16384",
}
LARGE_TOUR = """
const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const seen = [];
for (const key of ["2", "3", "4", "1"]) {
  press(key);
  seen.push(document.getElementById("picture").getAttribute("aria-label").split(",")[0]);
}
press("ArrowRight");
const arrows = document.querySelectorAll("#picture [data-from]").length;
const tip = () => document.getElementById("tip").textContent;
document.querySelector("#picture .node").dispatchEvent(new MouseEvent("mousemove", { bubbles: true }));
const first = tip();
press("Home");
press("]");
document.querySelector("#picture .node.selected").dispatchEvent(new MouseEvent("mousemove", { bubbles: true }));
return { seen, arrows, tip: first, chosen: tip() };
"""

# The text at the pointer in the middle of each piece.
ELEMENTS = """
document.dispatchEvent(new KeyboardEvent("keydown", { key: "2", bubbles: true }));
return [...document.querySelectorAll("#picture [data-block]")].map((cell) => {
  const { left, right, top, bottom } = cell.getBoundingClientRect();
  const at = { clientX: (left + right) / 2, clientY: (top + bottom) / 2 };
  cell.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, ...at }));
  return document.getElementById("tip").textContent;
});
"""


def many_indices(count, rng):
    """A product over `count` indices on a random grid, distributed along two of them where there are two."""
    names = "ijklmn"[:count]
    cut = rng.sample(names, min(2, count))
    out = sorted(rng.sample(names, rng.randint(0, count)))
    left = sorted(set(names) & set(rng.sample(names, rng.randint(1, count)) + cut))
    right = sorted(set(names) - set(left)) or [rng.choice(names)]
    grid = ", ".join(str(rng.randint(1, 3)) for _ in cut)
    access = lambda tensor, indices: f"{tensor}({', '.join(indices)})" if indices else tensor
    shape = lambda indices: f"({', '.join(str(rng.sizes[i]) for i in indices)})" if indices else ""
    rng.sizes = {name: rng.randint(2, 7) for name in names}
    where = lambda indices: (
        f" : {''.join(indices)} -> {''.join(i if i in indices else '*' for i in cut)} on M" if indices else ""
    )
    tensors = "".join(f"tensor {t}{shape(i)}{where(i)}\n" for t, i in (("A", out), ("B", left), ("C", right)))
    first, last = ", ".join(f"{i}o" for i in cut), ", ".join(f"{i}i" for i in cut)
    return (
        f"machine M = Grid({grid})\n{tensors}{access('A', out)} = {access('B', left)} * {access('C', right)}\n"
        f"schedule\n  distribute({{{', '.join(cut)}}}, {{{first}}}, {{{last}}}, M)\n"
        f"  communicate({{A, B, C}}, {cut[-1]}o)\n"
    )


@unittest.skipUnless(browser.chromium(), "SKIPPED: there is no chromium")
class Pages(CliTest):
    def page(self, name):
        file, settings = PROGRAMS[name]
        return self.page_of(ALGORITHMS / file, name, *(["--set", settings] if settings else []))

    def page_of(self, program, name, *options):
        page = self.folder / f"{name}.html"
        self.succeed("draw", program, "-o", page, *options)
        return page

    def tour(self, page, steps=None):
        said, attributes = browser.answers(page, TOUR)
        self.assertNotIn("error", attributes)
        self.assertEqual(attributes["ready"], "yes")
        self.assertEqual(said["seen"], ["data", "plan", "memory", "film"])
        self.assertEqual(said["loaded"], 0, "the page loads nothing")
        self.assertFalse(said["bad"])
        if steps is not None:
            self.assertEqual(len(said["steps"]), steps)
        last = re.match(r"Step (\d+) of (\d+)", said["steps"][-1])
        self.assertEqual(last[1], last[2])

    def test_films_reach_their_last_steps(self):
        for name, steps in {"cannon": 3, "johnson": 2, "solomonik": 3, "contraction4": 3}.items():
            with self.subTest(name):
                self.tour(self.page(name), steps)

    def test_films_of_levels_a_copy_and_a_found_schedule(self):
        for name, steps in {"two-levels": 2, "copy": 12, "found": 2}.items():
            with self.subTest(name):
                self.tour(self.page_of(ROOT / "docs" / "pictures" / f"{name}.distal", name), steps)

    def test_a_film_plays(self):
        attributes = browser.body(browser.document(self.page("cannon"), "#play=1", 6000))
        self.assertTrue(attributes["step"].startswith("Step 3 of 3"), attributes)

    def test_pieces_are_those_of_explain(self):
        for name in ("cannon", "johnson", "mttkrp"):
            said, _ = browser.answers(self.page(name), PIECES)
            drawn = set()
            for line in said:
                what, who = line.split(" lives on ")
                who = re.sub(r" \(\d+ processors\)", "", who)
                drawn |= {(what, p) for p in who.split(" and ")}
            file, settings = PROGRAMS[name]
            options = ["--set", settings] if settings else []
            placed = set()
            for line in self.succeed("explain", ALGORITHMS / file, *options).split("Program\n")[0].splitlines():
                tensor = re.match(r"  (\w+)\(.*\) : ", line)
                piece = re.match(r"    \(([\d, ]+)\) (\[.*\])$", line)
                if tensor:
                    held = tensor[1]
                elif piece:
                    placed.add((held + piece[2], piece[1].replace(" ", "")))
            self.assertEqual(drawn, placed, name)

    def test_arrows_are_the_messages_of_explain(self):
        said, _ = browser.answers(self.page("cannon"), ARROWS)
        drawn = []
        for step in said:
            sums = {}
            for line in step:
                from_, to, tensor = re.match(r"(\S+) → (\S+): (\w+)\[", line).groups()
                sums[tensor, from_, to] = sums.get((tensor, from_, to), 0) + 1
            drawn.append(set(sums))
        dump = self.succeed("explain", ALGORITHMS / "cannon.distal", "--set", "gx=3,gy=3", "--dump=messages")
        told = [set() for _ in drawn]
        for block in re.split(r"^(?=\w+ at )", dump, flags=re.MULTILINE)[1:]:
            tensor, step = re.match(r"(\w+) at \w+, step (\d+)", block).groups()
            head, *rows = [line for line in block.splitlines()[1:] if line.startswith("  ")]
            columns = [name.replace(" ", "") for name in re.findall(r"\([\d, ]+\)", head)]
            for row in rows:
                name, values = re.match(r"  \(([\d, ]+)\)(.*)", row).groups()
                for column, value in zip(columns, values.split()):
                    if value != ".":
                        told[int(step)].add((tensor, name.replace(" ", ""), column.strip("()")))
        self.assertEqual(drawn, told)

    def test_random_programs_of_1_to_6_indices(self):
        rng = random.Random(37)
        for count in range(1, 7):
            program = many_indices(count, rng)
            with self.subTest(program):
                self.tour(self.page_of(self.write(f"p{count}.distal", program), f"p{count}"))

    def test_4096_processors(self):
        for name, settings in LARGE.items():
            with self.subTest(name):
                page = self.page_of(ALGORITHMS / f"{name}.distal", name, "--set", settings)
                self.assertLess(page.stat().st_size, 20_000_000)
                said, attributes = browser.answers(page, LARGE_TOUR, 20_000)
                self.assertNotIn("error", attributes)
                self.assertEqual(said["seen"], ["data", "plan", "memory", "film"])
                self.assertLess(said["arrows"], 400, "arrows that can be told apart")
                self.assertRegex(said["tip"], r"^processor ")
                self.assertIn("computes (i, j, k) in [0:", said["chosen"])

    def test_an_element_says_where_it_lives(self):
        said, _ = browser.answers(self.page("cannon"), ELEMENTS)
        self.assertEqual(len(said), 3 * 9)
        for line in said:
            tensor, row, column, owner, piece = re.match(
                r"(\w)\((\d+), (\d+)\) lives on (\d,\d)in the piece \w\[(.*)\]", line).groups()
            for x, span in zip((row, column), piece.split(", ")):
                lo, hi = map(int, span.split(":"))
                self.assertTrue(lo <= int(x) < hi, line)
            self.assertEqual(owner, f"{int(row) // 342},{int(column) // 342}", tensor)

    def test_screenshots(self):
        for name, address in SHOTS.items():
            with self.subTest(name):
                shown = browser.screenshot(self.page(name), address, self.folder / f"{name}.png")
                golden = GOLDEN / f"{name}.json"
                if os.environ.get("DISTAL_UPDATE_GOLDEN"):
                    golden.parent.mkdir(exist_ok=True)
                    golden.write_text(json.dumps(shown.tolist(), separators=(",", ":")) + "\n", encoding="utf-8")
                    continue
                apart = np.abs(shown - np.array(json.loads(golden.read_text(encoding="utf-8"))))
                self.assertLess(apart.mean(), 4, f"{name} looks different")
                self.assertLess(apart.max(), 60, f"{name} looks different somewhere")


if __name__ == "__main__":
    if not browser.chromium():
        print("SKIPPED: there is no chromium, so no page is looked at", file=sys.stderr)
    unittest.main()
