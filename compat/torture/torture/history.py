"""What one client saw: a file of JSON lines, the first of which says who wrote it.

    {"k": "start", "actor": "producer-1", "role": "producer", "group": null, "acks": "all"}
    {"k": "send",   "t": 12.5, "p": 3, "v": "producer-1.0:17"}                  before it was handed to the client library
    {"k": "ack",    "t": 12.6, "p": 3, "v": "producer-1.0:17", "o": 5120}       o is -1 where the broker did not say
    {"k": "gone",   "t": 12.6, "p": 3, "v": "producer-1.0:17"}                  handed over with acks=0: no answer, no promise
    {"k": "fail",   "t": 12.6, "p": 3, "v": "producer-1.0:17", "e": "...", "definite": false}
    {"k": "fatal",  "t": 12.6, "e": "..."}       the producer cannot keep its order any more; a new session begins
    {"k": "assign", "t": 12.6, "p": [0, 1]}      the next poll of these partitions need not follow the last
    {"k": "poll",   "t": 12.6, "p": 3, "o": 5120, "v": "producer-1.0:17", "e": 4}   e is the record's leader epoch
    {"k": "commit", "t0": 12.6, "t": 12.7, "p": 3, "o": 5121, "ok": true}       t0 asked, t answered
    {"k": "lost-position", "t": 12.6, "p": 3, "e": "..."}                       the broker does not know the position
    {"k": "end",    "t": 99.0, "p": 3, "low": 0, "high": 5121}                  of the final reader, per partition
    {"k": "cut",    "t0": 50.1, "t": 50.9}       of the runner: the power failed between these times

Times are seconds of this machine's clock. A value is `<producer>.<session>:<number>`; numbers rise within a session.
"""

import json
import os
import time
from pathlib import Path


class History:
    """Appends to one file."""

    def __init__(self, path, actor, role, group=None, **more):
        self._file = open(path, "a", encoding="utf-8", buffering=1 << 16)
        self._flushed = time.time()
        self.write("start", actor=actor, role=role, group=group, **more)

    def write(self, kind, **fields):
        fields.setdefault("t", round(time.time(), 4))
        self._file.write(json.dumps({"k": kind, **fields}, separators=(",", ":")) + "\n")

    def flush(self, is_now=False):
        """To be called now and then: the runner follows the file while it grows."""
        if is_now or time.time() - self._flushed > 0.2:
            self._file.flush()
            self._flushed = time.time()

    def close(self):
        self._file.close()


def read(path):
    """The events of one file, the first of them its start. A last line that was cut off is left out."""
    events = []
    with open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            events.append(json.loads(line))
    return events


def read_all(folder):
    """The events of every file of a folder, by file."""
    return {path.name: read(path) for path in sorted(Path(folder).glob("*.jsonl"))}


class Progress:
    """Counts events of a kind over all files of a folder while they grow."""

    def __init__(self, folder, kind):
        self._folder = Path(folder)
        self._mark = f'{{"k":"{kind}",'.encode()
        self._read = {}
        self.count = 0

    def update(self):
        for path in self._folder.glob("*.jsonl"):
            start = self._read.get(path, 0)
            if os.path.getsize(path) <= start:
                continue
            with open(path, "rb") as file:
                file.seek(start)
                chunk = file.read()
            whole = chunk.rfind(b"\n") + 1
            self.count += chunk[:whole].count(self._mark)
            self._read[path] = start + whole
        return self.count
