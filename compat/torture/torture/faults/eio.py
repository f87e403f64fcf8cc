"""One sync fails, of the journal or of a segment; the next ones would succeed. None of them may be believed.

The logs that it hit say so and acknowledge nothing until a restart has read the disk; the others go on. Every second restart
comes after a power cut: then what only the failed sync had covered is gone, and an acknowledgement that believed in it shows.
"""

import re
import subprocess
import time

from .. import checker
from ..disk_image import TOOLS
from ..topics import SMALL_SEGMENTS
from .power import cut

ROUNDS, ROUNDS_QUICK = 4, 2
NEEDS = (*TOOLS, "strace")

FAILED_SYNC = re.compile(r"^\d+\s+(\d+\.\d+) .*EIO .*INJECTED", re.MULTILINE)
# Answers that were under way when the sync failed may still arrive.
GRACE_SECONDS = 1.0
WATCHED_SECONDS = 4.0
# Names of the journal's files that may be in use before the failure.
JOURNAL_FILES = 8


def run(stage):
    stage.make_disk()
    stage.set_up(SMALL_SEGMENTS)
    for number in range(1, stage.rounds + 1):
        stage.wait_for_acks()
        what, paths = target(stage, number)
        failed_at = fail_one_sync(stage, paths, stage.folder / f"strace-{number}.txt")
        stopped = watch(stage, what, failed_at)
        if number % 2 == 0:
            cut(stage)
        else:
            stage.broker.kill()
        took = stage.start_broker()
        stage.say(f"EIO from a sync of {what}: {len(stopped)} partitions stopped; {stage.acked()} acknowledged, "
                  f"back after {took:.1f} s")
    stage.wait_for_acks()


def target(stage, number):
    """The journal twice, for both ways of restarting, then a segment twice."""
    if (number - 1) // 2 % 2 == 0:
        return "the journal", [stage.data / "journal" / f"{index}.journal" for index in range(JOURNAL_FILES)]
    partition = number % stage.options.partitions
    folder = stage.data / f"{stage.load.topic.name}-{partition}"
    return f"partition {partition}", [max(folder.glob("*.log"))]


def watch(stage, what, failed_at):
    """What is acknowledged from the failure on; gives the partitions of the first topic that say that they have stopped."""
    time.sleep(GRACE_SECONDS)
    reasons = "\n".join(stage.broker.reasons())
    stopped = {int(index) for index in re.findall(rf"\b{stage.load.topic.name}-(\d+)\b", reasons)}
    # A commit of the journal may have held nothing but records of another topic, or of the broker's own.
    if not (reasons if what == "the journal" else stopped):
        stage.violate("not-said", f"EIO from {what}, and no partition says that it has stopped: {reasons}")
    going_on = stage.loads[1:] if what == "the journal" else stage.loads
    for load in going_on:
        load.wait_for_acks(stage.options.acks_between // 4, stage.options.patience_seconds)
    time.sleep(WATCHED_SECONDS)
    files = stage.histories(stage.load)
    for partition in stopped:
        stage.violations.extend(
            checker.check_no_acks_between(files, partition, failed_at + GRACE_SECONDS, time.time()))
    return stopped


def fail_one_sync(stage, paths, trace):
    """Lets one of the next syncs of one of these files fail; gives the time of it."""
    named = [word for path in paths for word in ("-P", str(path))]
    command = ["strace", "-f", "-ttt", "-o", str(trace), "-p", str(stage.broker.process.pid), *named,
               "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO:when=1"]
    strace = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return wait_for_failure(stage, strace, trace, paths)
    finally:
        # Leaves the broker running: strace lets go of it.
        strace.terminate()
        strace.wait()


def wait_for_failure(stage, strace, trace, paths):
    deadline = time.monotonic() + stage.options.patience_seconds
    while True:
        failed = FAILED_SYNC.search(trace.read_text()) if trace.exists() else None
        if failed:
            return float(failed[1])
        if strace.poll() is not None:
            raise RuntimeError(f"strace ended with {strace.returncode}; may it attach to processes here?")
        if time.monotonic() > deadline:
            raise RuntimeError(f"no sync of {', '.join(map(str, paths))} was seen")
        time.sleep(0.05)
