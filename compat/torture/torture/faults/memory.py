"""A memory limit a little above what the broker says it needs, and clients that ask it for much more.

Half of them begin frames of 50 MB and stop; the others ask for records without end and never read the answers. The broker
must live and serve the real clients, and may refuse the others or close their connections.
"""

import time

from ..cgroup import NEED, MemoryGroup
from ..flood import Flood, fetch, half_a_frame

ROUNDS, ROUNDS_QUICK = 3, 1
NEEDS = ("root", NEED)

MB = 1 << 20
REQUEST_BYTES = 64 * MB
# What docs/operations.md lists: requests, records copied for consumers, what waits for the journal; and the process itself.
BUDGET_BYTES = REQUEST_BYTES + 256 * MB + 32 * MB + 48 * MB
LIMIT_BYTES = BUDGET_BYTES * 6 // 5
SLOW_READERS, HALF_FRAMES = 1_000, 500
FRAME_BYTES, SENT_BYTES = 50 * MB, 1 * MB
FLOOD_SECONDS = 15.0


def run(stage):
    group = MemoryGroup(f"fanlog-torture-{stage.options.port}", LIMIT_BYTES)
    try:
        stage.wrapper = group.wrapper
        stage.serve_more = ("--set", f"fanlog.request.memory.bytes={REQUEST_BYTES}")
        stage.set_up()
        for number in range(1, stage.rounds + 1):
            peak = flood(stage, group)
            stage.say(f"memory limit of {LIMIT_BYTES // MB} MB, round {number}: {stage.acked()} acknowledged, "
                      f"at most {peak} MB resident")
        stage.notes.append(f"at most {peak} MB resident of {LIMIT_BYTES // MB} MB")
        stage.finish()
    finally:
        stage.broker.kill()
        group.remove()


def flood(stage, group):
    stage.wait_for_acks()
    bad = Flood(stage.options.port)
    asking = 8 * fetch(stage.load.topic.name, stage.options.partitions, 8 * MB)
    try:
        for index in range(max(SLOW_READERS, HALF_FRAMES)):
            bad.send(asking)
            if index < HALF_FRAMES:
                bad.send(half_a_frame(FRAME_BYTES, SENT_BYTES))
            if index % 100 == 0:
                stage.broker.check_alive()
        deadline = time.monotonic() + FLOOD_SECONDS
        while time.monotonic() < deadline:
            stage.broker.check_alive()
            time.sleep(0.2)
        # The real clients are served in the midst of it.
        stage.wait_for_acks()
        stage.say(f"{len(bad.sockets)} bad clients: {bad.closed()} of them closed, {bad.refused} refused")
    finally:
        bad.close()
    if group.kills():
        stage.violate("killed", f"the kernel ended {group.kills()} processes for want of memory")
    stage.wait_for_acks()
    return stage.broker.peak_mb()
