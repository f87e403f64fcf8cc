"""The power fails in mid-write, again and again."""

import time

from .. import topics
from ..disk_image import TOOLS
from ..shim import Shim

ROUNDS, ROUNDS_QUICK = 50, 3
NEEDS = TOOLS


def run(stage):
    stage.make_disk()
    shim = Shim(stage.folder) if stage.options.planted == "skip-sync" else None
    stage.environment = shim.environment if shim else {}
    stage.set_up(topics.SMALL_SEGMENTS)
    for number in range(1, stage.rounds + 1):
        if shim:
            # The topics are there, and stay; what is promised from here to the cut is a lie.
            shim.order(skip_syncs=number == 1)
        stage.wait_for_acks()
        time.sleep(stage.random.uniform(0, 2))
        stage.make_topic()
        cut(stage)
        if shim:
            shim.order()
        took = stage.start_broker()
        stage.check_topics()
        stage.say(f"power cut, round {number}: {stage.acked()} acknowledged, back after {took:.1f} s")
    stage.wait_for_acks()


def cut(stage):
    """A power cut takes the broker and its answers at the same moment as the disk.

    The shutdown leaves processes running, and a sync that is under way may then answer success for bytes that are not
    there (disk_image.py): so the broker stands still before and is gone afterwards.
    """
    before = time.time()
    stage.broker.freeze()
    stage.disk.cut_power()
    stage.broker.kill()
    stage.note("cut", t0=before, t=time.time())
    stage.disk.restore_power()
