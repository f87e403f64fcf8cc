"""A history: a line of JSON for each event, with the operating system before anything is done about it, so that it outlives `kill -9`."""

import json
import os


class Writer:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def __call__(self, **event):
        os.write(self.file, json.dumps(event, separators=(",", ":")).encode() + b"\n")


def read(path):
    """The events of one file. A last line that was cut off is left out."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]
