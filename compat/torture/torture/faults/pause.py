"""The broker stands still for a while and goes on, as under a long page-in or a suspended machine."""

import signal
import time

from ..topics import SMALL_SEGMENTS

ROUNDS, ROUNDS_QUICK = 5, 1
NEEDS = ()
# The longest is longer than a member's session.
SECONDS = (1, 20)


def run(stage):
    stage.set_up(SMALL_SEGMENTS)
    for number in range(1, stage.rounds + 1):
        stage.wait_for_acks()
        seconds = stage.random.uniform(*SECONDS)
        stage.broker.signal(signal.SIGSTOP)
        time.sleep(seconds)
        stage.broker.signal(signal.SIGCONT)
        stage.say(f"stopped for {seconds:.1f} s, round {number}: {stage.acked()} acknowledged")
    stage.wait_for_acks()
