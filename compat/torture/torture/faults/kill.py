"""kill -9 under load, again and again."""

import time

from ..topics import SMALL_SEGMENTS

ROUNDS, ROUNDS_QUICK = 50, 3
NEEDS = ()


def run(stage):
    stage.set_up(SMALL_SEGMENTS)
    for number in range(1, stage.rounds + 1):
        stage.wait_for_acks()
        time.sleep(stage.random.uniform(0, 2))
        stage.make_topic()
        stage.broker.kill()
        took = stage.start_broker()
        stage.check_topics()
        stage.say(f"kill -9, round {number}: {stage.acked()} acknowledged, back after {took:.1f} s")
    stage.wait_for_acks()
