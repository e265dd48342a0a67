"""Prints random programs as a JSON list of texts. Usage: random_programs.py FIRST_SEED COUNT"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from random_program import RandomProgram

first, count = map(int, sys.argv[1:])
print(json.dumps([RandomProgram(seed).text for seed in range(first, first + count)]))
