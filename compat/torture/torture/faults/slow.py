"""A slow disk: each sync takes from a tenth of a second to two. Acknowledgements wait for it, and for nothing else."""

import time

from ..shim import TOOLS, Shim
from ..topics import SMALL_SEGMENTS

ROUNDS, ROUNDS_QUICK = 5, 1
NEEDS = TOOLS

SLOW_SECONDS, SYNC_SECONDS = 10.0, 2.0
# A start from which all logs recover syncs each of them several times, many at once.
START_SECONDS = 120.0


def run(stage):
    shim = Shim(stage.folder)
    stage.environment = shim.environment
    stage.set_up(SMALL_SEGMENTS)
    for number in range(1, stage.rounds + 1):
        stage.wait_for_acks()
        before = stage.acked()
        shim.order(sync_seconds=SYNC_SECONDS)
        time.sleep(SLOW_SECONDS)
        stage.broker.check_alive()
        meanwhile = stage.acked() - before
        if number % 2 == 0:
            # What waits for a slow sync when the process ends was not acknowledged, or is there.
            stage.broker.kill()
            stage.broker.start_seconds = max(stage.broker.start_seconds, START_SECONDS)
            stage.start_broker()
        shim.order()
        check_went_on(stage, meanwhile)
        stage.say(f"syncs of {SYNC_SECONDS / 10:.1f} to {SYNC_SECONDS:.0f} s, round {number}: {meanwhile} acknowledged meanwhile")
    stage.wait_for_acks()


def check_went_on(stage, meanwhile):
    """One slow sync covers all that waits for it: acknowledgements come in flocks, but they come."""
    if meanwhile == 0:
        stage.violate("stood-still", f"nothing was acknowledged in {SLOW_SECONDS} s of slow syncs")
