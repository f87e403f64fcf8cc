"""The power fails in mid-write, again and again."""

import time

from .. import topics
from ..disk_image import TOOLS

ROUNDS, ROUNDS_QUICK = 50, 3
NEEDS = TOOLS


def run(stage):
    stage.make_disk()
    if stage.options.planted == "skip-sync":
        stage.wrapper = skip_syncs(stage.data, stage.options.partitions)
    stage.set_up({} if stage.wrapper else topics.SMALL_SEGMENTS)
    for number in range(1, stage.rounds + 1):
        stage.wait_for_acks()
        time.sleep(stage.random.uniform(0, 2))
        stage.make_topic()
        cut(stage)
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


def skip_syncs(data, partitions):
    """A command before the broker's: syncs of the topic's segments answer success without being done.

    Only those: without the rest a broker may not come up again, and no record would have been looked for.
    """
    segments = [str(data / f"{topics.SYNC.name}-{index}" / f"{0:020}.log") for index in range(partitions)]
    paths = [word for segment in segments for word in ("-P", segment)]
    calls = "fdatasync,fsync,sync_file_range"
    return ("strace", "-f", "--seccomp-bpf", "-o", "/dev/null", *paths, "-e", f"trace={calls}",
            "-e", f"inject={calls}:retval=0")
