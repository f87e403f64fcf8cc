"""Real clients: the scripts of `clients/`, each against both brokers, and what its program gets to see compared.

What differs here although the bytes are equal would be a matter of timing; what differs where the bytes differ shows whether
anybody notices. Read next: `clients/steps.py`.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys

import compare
import expected_of_clients
from rules import HOUR
from session import DAY_MS, Answer

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ["confluent", "kafka_python"]
# The longest that a script may take.
SCRIPT_SECONDS = 280
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Of one disk, or of one cluster's own bookkeeping, whoever asks.
LEFT_OUT = {"throttle_time_ms", "latency", "orig_broker_name", "finalized_epoch"}
EPOCHS = {"leader_epoch"}
TEXTS = {"error_message", "message"}
NUMBERED = {"topic_id": "id", "member_id": "member", "replica_directory_id": "directory", "producer_id": "producer"}
# Lists of records are the log's order; every other list is sorted by what is there of these.
ORDER = ("offset", "topic", "name", "partition", "partition_index", "group_id", "id", "broker_id", "partition_id")


class Rules:
    """The normalisation of one script against one broker."""

    def __init__(self, client, side):
        self.client, self.side, self.seen, self.call = client, side, {}, ""

    def answer(self, call, answer):
        self.call = call
        return self.value("", answer)

    def value(self, name, value):
        if isinstance(value, dict):
            pairs = sorted((self.text("", key), each) for key, each in value.items() if key not in LEFT_OUT)
            return {key: self.value(key, each) for key, each in pairs}
        if isinstance(value, list):
            return [self.value(name, each) for each in self.in_order(value)]
        if name in EPOCHS and isinstance(value, int) and value >= 0:
            # The quorum of controllers counts its own.
            return self.numbered("quorum's epoch" if "quorum" in self.call else "epoch", value)
        if name in NUMBERED and value:
            return self.numbered(NUMBERED[name], value)
        if name == "port":
            return "port"
        if isinstance(value, int) and not isinstance(value, bool):
            return self.time(value)
        return self.text(name, value) if isinstance(value, str) else value

    def in_order(self, values):
        if values and all(isinstance(each, dict) for each in values):
            names = [name for name in ORDER if all(name in each for each in values)]
            return sorted(values, key=lambda each: [(str(type(each[name])), each[name]) for name in names])
        return values

    def time(self, value):
        past = self.side.now_ms - DAY_MS
        if abs(value - past) < 12 * HOUR or abs(value - past) < 28 * HOUR and (value - past) % HOUR == 0:
            return f"past{value - past:+}"
        return "now" if abs(value - self.side.now_ms) < HOUR else value

    def text(self, name, value):
        if name in TEXTS:
            return "a text" if value not in ("", "NONE") else None
        if name == "cluster_id":
            return "the cluster's id"
        if value.startswith("/"):
            return "a folder"
        if value.startswith("[Error "):  # kafka-python: number, name, and what it says
            return value.split(":")[0]
        value = value.replace(f"{self.client}-{self.side.run}.", "").replace(self.side.bootstrap, "the broker")
        return UUID.sub(lambda found: self.numbered("id", found.group()), value)

    def numbered(self, kind, value):
        known = self.seen.setdefault(kind, {})
        return f"{kind} #{known.setdefault(value, len(known) + 1)}"


def run(sides, tally):
    """Every script against both brokers; returns what broke."""
    broken = []
    for script in SCRIPTS:
        with concurrent.futures.ThreadPoolExecutor(len(sides)) as pool:
            ran = list(pool.map(lambda side: transcript(script, side), sides))
        errors = [error for _, error in ran if error]
        ours, theirs = (answers for answers, _ in ran)
        before = len(tally.unexplained)
        tally.add(script, ours, theirs, expected_of_clients.ALL)
        if not errors and [each.note for each in ours] != [each.note for each in theirs]:
            errors.append(f"{script}: the two transcripts took different ways")
        found = tally.unexplained[before:]
        word = "ok" if not found and not errors else "DIFFERS" if found else "BROKEN"
        print(f"{word}\treal client {script}\t{min(len(ours), len(theirs))} calls", flush=True)
        for line in [each.line() for each in found] + errors:
            print("    " + line, flush=True)
        broken += errors
    return broken


def transcript(script, side):
    """What the script told, and how it broke if it did."""
    command = [sys.executable, "-B", "-W", "ignore", os.path.join(HERE, "clients", f"{script}.py")]
    command += ["--bootstrap", side.bootstrap, "--run", side.run, "--now-ms", str(side.now_ms)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SCRIPT_SECONDS)
    except subprocess.TimeoutExpired:
        return [], f"{script} on {side.name}: did not end in {SCRIPT_SECONDS} s"
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    if ended.returncode or not lines:
        return [], f"{script} on {side.name}: ended with {ended.returncode}: {ended.stderr[-2000:]}"
    client, version = lines[0]["client"], lines[0]["version"]
    rules = Rules(client, side)
    return [Answer(client, version, each["call"], rules.answer(each["call"], each["answer"])) for each in lines[1:]], None


def missing(tally):
    """Scripts of which nothing was compared."""
    cases = {case for each in tally.cases.values() for case in each}
    return [f"script {script}" for script in SCRIPTS if script not in cases]


NAMES = [
    ("order", "lists come in the order of names and numbers; records, which have offsets, in theirs"),
    ("names", "topics and groups without the client and the mark of the run"),
    ("errors", "by kind, code, and whether they may be tried again; what they say is for people"),
    ("left out", "throttles, latencies, the number of the last change of features"),
]
