"""How every client program here talks to the runner (`cargo xtask compat`): its arguments, the records, the lines it prints.

The same few commands exist for each client, so that one history checker judges them all:

    version
    create   --topic T --partitions N
    produce  --topic T --first-id I --plan CODEC:ACKS:COUNT[,...] [--pace-ms MS]
    consume  --topic T --group G --commit-every N          until SIGTERM: commit, leave, end
    admin    --topic T --group G --partitions N --records N

ACKS is 0, 1, all or idempotent. Lines are split by tabs:

    client     NAME VERSION
    acked      ID PARTITION OFFSET                         offset -1 where the acknowledgement tells none
    got        PARTITION OFFSET KEY VALUE HEADERS          headers as k=v,k=v
    committed  PARTITION=OFFSET[,...]                      the broker accepted this commit
    refused    REASON                                      the broker refused a commit
    ok         WHAT                                        one thing that the client checked and found right
"""

import argparse
import asyncio
import signal
import sys
import time
from dataclasses import dataclass

KEYS = 40


@dataclass(frozen=True)
class Leg:
    """A run of records sent with one codec and one kind of acknowledgement."""

    codec: str
    acks: str
    ids: range

    @property
    def batch(self):
        return f"{self.codec}/{self.acks}"


def key_of(record_id):
    return f"key-{record_id % KEYS}"


def value_of(record_id):
    padding = "abcdefghij" * 20
    return f"{record_id}:{padding[: 50 + record_id % 150]}"


def headers_of(record_id, leg):
    return [("id", str(record_id).encode()), ("batch", leg.batch.encode())]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["version", "create", "produce", "consume", "admin"])
    parser.add_argument("--bootstrap")
    parser.add_argument("--topic")
    parser.add_argument("--group")
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--records", type=int)
    parser.add_argument("--first-id", type=int, default=0)
    parser.add_argument("--plan", default="")
    parser.add_argument("--pace-ms", type=float, default=0)
    parser.add_argument("--commit-every", type=int, default=100)
    return parser.parse_args()


def legs_of(args):
    first = args.first_id
    for part in args.plan.split(","):
        codec, acks, count = part.split(":")
        yield Leg(codec, acks, range(first, first + int(count)))
        first += int(count)


def tell(*fields):
    sys.stdout.write("\t".join(str(field) for field in fields) + "\n")
    sys.stdout.flush()


def tell_record(partition, offset, key, value, headers):
    named = ",".join(f"{name}={value.decode()}" for name, value in headers or [])
    tell("got", partition, offset, key.decode(), value.decode(), named)


def tell_commit(offsets):
    """`offsets`: partition -> the next offset to read."""
    tell("committed", ",".join(f"{p}={o}" for p, o in sorted(offsets.items())))


def check(condition, what):
    if not condition:
        sys.exit(f"check failed: {what}")
    tell("ok", what)


EVENTUALLY = 10
"""Seconds: Apache Kafka answers a change of its metadata before the broker that is asked next has seen it."""


def check_soon(holds, what):
    """`holds` is a function; it may take a moment until it is true."""
    deadline = time.monotonic() + EVENTUALLY
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    check(holds(), what)


async def check_soon_async(holds, what):
    """The same for a coroutine function."""
    deadline = time.monotonic() + EVENTUALLY
    while not await holds() and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    check(await holds(), what)


class StopFlag:
    """True once the runner asked for a clean end."""

    def __init__(self):
        self.is_set = False
        signal.signal(signal.SIGTERM, self._set)
        signal.signal(signal.SIGINT, self._set)

    def _set(self, *_):
        self.is_set = True
