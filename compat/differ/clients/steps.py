"""What a script of a real client is made of: calls, each with what the program that made it gets to see.

    client.py --bootstrap HOST:PORT --run MARK --now-ms MS

prints a line of JSON first for the client itself, then for each call: `{"call": ..., "answer": ...}`. What the client gives back
is taken apart by its public fields, whatever they are, so that nothing is left out by hand. `../real_clients.py` compares.
"""

import argparse
import enum
import json
import time
import uuid

WAIT_SECONDS = 30
DAY_MS = 24 * 3600 * 1000
DEPTH_MAX = 8


class Script:
    def __init__(self, client, version, options):
        self.client, self.bootstrap, self.run = client, options.bootstrap, options.run
        # Records are as old as yesterday, so that a time that the broker put in cannot be mistaken for one of them.
        self.past = options.now_ms - DAY_MS
        print(json.dumps({"client": client, "version": version}), flush=True)

    def name(self, name):
        """A name that no other script and no other run uses."""
        return f"{self.client}-{self.run}.{name}"

    def call(self, what, work, see=lambda value: value):
        """Makes a call, tells what came out, and returns it."""
        value = None
        try:
            value = work()
            answer = plain(see(value))
        except Exception as error:  # whatever the client raises is its answer
            answer = {"raised": plain(error)}
        print(json.dumps({"call": what, "answer": answer}), flush=True)
        return value

    def until(self, is_reached):
        """Waits for what the script needs in order to go on; both sides get there."""
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            try:
                if is_reached():
                    return
            except Exception:  # not yet
                pass
            time.sleep(0.05)
        raise SystemExit("waited in vain")


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--now-ms", required=True, type=int)
    return parser.parse_args()


def plain(value, depth=0):
    """As JSON: errors by their code, everything else by its public fields."""
    if isinstance(value, uuid.UUID):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value.name if isinstance(value, enum.Enum) else value
    if isinstance(value, bytes | bytearray):
        return value.decode("latin-1")
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Exception):
        return error(value, depth)
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, dict):
        return {key(each): plain(inner, depth + 1) for each, inner in value.items()}
    for as_dictionary in ("_asdict", "to_dict"):
        if hasattr(value, as_dictionary):
            return plain(getattr(value, as_dictionary)(), depth)
    if isinstance(value, set | frozenset):
        return sorted((plain(each, depth + 1) for each in value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(each, depth + 1) for each in value]
    if hasattr(value, "code") and hasattr(value, "retriable"):
        return {"code": value.name(), "retriable": value.retriable(), "fatal": value.fatal()}
    if depth >= DEPTH_MAX:
        raise ValueError(f"{type(value).__name__} has no end")
    return fields(value, depth)


def error(value, depth):
    """By its kind and code. What it says is for people."""
    inner = [each for each in value.args if each is not None and not isinstance(each, str | bytes)]
    out = {"kind": type(value).__name__, "of": plain(inner, depth + 1)} if inner else {"kind": type(value).__name__}
    for name in ("errno", "retriable"):
        if hasattr(value, name):
            out[name] = plain(getattr(value, name))
    return out


def fields(value, depth):
    names = [name for name in dir(value) if not name.startswith("_")]
    pairs = [(name, getattr(value, name)) for name in names]
    return {name: plain(each, depth + 1) for name, each in pairs if not callable(each)}


def key(each):
    """The name of what a dictionary is keyed by."""
    if isinstance(each, enum.Enum):
        return each.name
    if hasattr(each, "topic") and hasattr(each, "partition"):
        return f"{each.topic}[{each.partition}]"
    if hasattr(each, "restype"):
        return f"{each.restype.name} {each.name}"
    if hasattr(each, "resource_type"):
        return f"{each.resource_type.name} {each.name}"
    return str(each)
