"""The outcomes of a run, on disk as they come, so that an interrupted run can go on."""

import json

from .trial import Outcome


class Record:
    def __init__(self, file, key, resume):
        self._file = file
        self.outcomes = {}  # by name of fault
        lines = file.read_text().splitlines() if resume and file.exists() else []
        if lines and json.loads(lines[0]) == {"run": key}:
            for line in lines[1:]:
                data = json.loads(line)
                name = data.pop("fault")
                self.outcomes[name] = Outcome(**data)
        else:
            file.write_text(json.dumps({"run": key}) + "\n")

    def add(self, fault, outcome):
        self.outcomes[fault.name] = outcome
        with self._file.open("a") as out:
            out.write(json.dumps({"fault": fault.name, **outcome.to_json()}) + "\n")
