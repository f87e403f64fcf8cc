"""The disk is full for a while: sends wait, nothing is lost, and all goes on when there is space again."""

import time

from ..disk_image import TOOLS
from ..topics import SMALL_SEGMENTS

ROUNDS, ROUNDS_QUICK = 4, 2
NEEDS = TOOLS


def run(stage):
    stage.make_disk()
    stage.set_up(SMALL_SEGMENTS)
    for number in range(1, stage.rounds + 1):
        stage.wait_for_acks()
        stage.disk.fill()
        seconds = stage.random.uniform(2, 6)
        time.sleep(seconds)
        stage.broker.check_alive()
        is_killed = number % 2 == 0
        if is_killed:
            stage.broker.kill()
        stage.disk.empty()
        if is_killed:
            stage.start_broker()
        stage.say(f"disk full for {seconds:.1f} s, round {number}: {stage.acked()} acknowledged")
    stage.wait_for_acks()
