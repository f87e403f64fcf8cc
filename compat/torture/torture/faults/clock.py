"""The broker's wall clock jumps: a day ahead, an hour back, ten years ahead; then a restart under a clock of ten years hence.

Retention of an hour deletes nothing that is younger by the time that really passed; no member of a group loses its session.
"""

import time

from ..load import ClientFailed
from ..shim import TOOLS, Shim

ROUNDS, ROUNDS_QUICK = 2, 1
NEEDS = TOOLS

HOUR, DAY = 3600, 86_400
JUMPS = (("a day ahead", DAY), ("right again", 0), ("an hour back", -HOUR), ("ten years ahead", 3_652 * DAY))
# Longer than a session (consumer.py), and than several rounds of retention.
WATCHED_SECONDS = 12.0
KEEPS_AN_HOUR = {"retention.ms": str(HOUR * 1000), "segment.bytes": "1048576"}


def run(stage):
    shim = Shim(stage.folder)
    stage.environment = shim.environment
    stage.serve_more = ("--set", "log.retention.check.interval.ms=1000")
    stage.set_up(KEEPS_AN_HOUR)
    wait_for_members(stage)
    for number in range(1, stage.rounds + 1):
        for name, seconds in JUMPS:
            jump(stage, shim, name, seconds)
        # The clock is still ten years ahead.
        stage.broker.kill()
        stage.start_broker()
        stage.wait_for_acks()
        shim.order()
        stage.say(f"clock jumps, round {number}: {stage.acked()} acknowledged")
    # Nothing was deleted: the final reader, who begins at offset 0, finds it all.
    stage.wait_for_acks()


def jump(stage, shim, name, seconds):
    stage.wait_for_acks()
    before = assignments(stage)
    shim.order(clock_seconds=seconds)
    time.sleep(WATCHED_SECONDS)
    stage.broker.check_alive()
    moved = assignments(stage) - before
    if moved:
        stage.violate("session-lost", f"clock {name}: {moved} assignments of the group's partitions meanwhile")
    stage.say(f"clock {name}: {stage.acked()} acknowledged, {moved} members lost their session")


def assignments(stage):
    """How often the members of groups were given partitions."""
    return sum(event["k"] == "assign" for events in members(stage) for event in events)


def members(stage):
    files = [item for load in stage.loads for item in stage.histories(load).items()]
    return [events for name, events in files if name.startswith("member")]


def wait_for_members(stage):
    """Until each has read something: the group has come to its first balance."""
    deadline = time.monotonic() + stage.options.patience_seconds
    while not all(any(event["k"] == "poll" for event in events) for events in members(stage)):
        if time.monotonic() > deadline:
            raise ClientFailed("a member of the group was given nothing to read")
        time.sleep(0.2)
