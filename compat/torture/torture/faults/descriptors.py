"""Few files may be open at once, with many partitions and more connections than the limit allows.

The clients that are there are served, none of their records is lost, the others are refused; once those are gone, new clients
are let in, and topics are created.
"""

import time

from .. import topics
from ..flood import Flood

ROUNDS, ROUNDS_QUICK = 4, 1
NEEDS = ("prlimit",)

FILES = 160
IDLE_PARTITIONS, CONNECTIONS = 60, 400
FLOOD_SECONDS = 6.0


def run(stage):
    stage.wrapper = ("prlimit", f"--nofile={FILES}:{FILES}")
    stage.set_up(topics.SMALL_SEGMENTS)
    stage.broker.create_topic("idle", IDLE_PARTITIONS)
    for number in range(1, stage.rounds + 1):
        refused = crowd(stage)
        if number % 2 == 0:
            stage.broker.kill()
            stage.start_broker()
        stage.make_topic()
        stage.check_topics()
        stage.say(f"{FILES} files, round {number}: {stage.acked()} acknowledged, {refused} of {CONNECTIONS} more "
                  f"connections refused")
        if not refused:
            stage.violate("untested", f"{CONNECTIONS} connections fit into {FILES} files")
    stage.wait_for_acks()


def crowd(stage):
    """More connections than there are files, while the load goes on; how many of them the broker did not keep."""
    stage.wait_for_acks()
    bad = Flood(stage.options.port)
    try:
        for _ in range(CONNECTIONS):
            bad.connect()
        time.sleep(FLOOD_SECONDS)
        stage.broker.check_alive()
        stage.wait_for_acks()
        return bad.closed() + bad.refused
    finally:
        bad.close()
