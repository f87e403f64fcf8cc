"""One sync of one partition's log fails; the next ones would succeed. None of them may be believed."""

import re
import subprocess
import time

from .. import checker
from ..topics import SYNC

ROUNDS, ROUNDS_QUICK = 3, 1
NEEDS = ("root", "strace")

FAILED_SYNC = re.compile(r"^\d+\s+(\d+\.\d+) .*EIO .*INJECTED", re.MULTILINE)
# Answers that were under way when the sync failed may still arrive.
GRACE_SECONDS = 1.0


def run(stage):
    stage.set_up(classes=["sync"])
    for number in range(stage.rounds):
        partition = number % stage.options.partitions
        stage.wait_for_acks()
        failed_at = fail_one_sync(stage, partition)
        time.sleep(GRACE_SECONDS)
        if stage.options.partitions > 1:
            # The neighbours go on.
            stage.wait_for_acks()
        time.sleep(3)
        before_restart = time.time()
        stage.broker.kill()
        took = stage.start_broker()
        files = stage.histories(stage.load)
        late = checker.check_no_acks_between(files, partition, failed_at + GRACE_SECONDS, before_restart)
        stage.violations.extend(late)
        stage.say(f"EIO from a sync of partition {partition}: {stage.acked()} acknowledged, back after {took:.1f} s")
    stage.wait_for_acks()


def fail_one_sync(stage, partition):
    """Lets the third sync from now of this partition's active segment fail; gives the time of it."""
    segment = max((stage.data / f"{SYNC.name}-{partition}").glob("*.log"))
    trace = stage.folder / f"strace-{partition}.txt"
    trace.unlink(missing_ok=True)
    command = ["strace", "-f", "-ttt", "-o", str(trace), "-p", str(stage.broker.process.pid), "-P", str(segment),
               "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO:when=3"]
    strace = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return wait_for_failure(stage, strace, trace, segment)
    finally:
        # Leaves the broker running: strace lets go of it.
        strace.terminate()
        strace.wait()


def wait_for_failure(stage, strace, trace, segment):
    deadline = time.monotonic() + stage.options.patience_seconds
    while True:
        failed = FAILED_SYNC.search(trace.read_text()) if trace.exists() else None
        if failed:
            return float(failed[1])
        if strace.poll() is not None:
            raise RuntimeError(f"strace ended with {strace.returncode}; may it attach to processes here?")
        if time.monotonic() > deadline:
            raise RuntimeError(f"no sync of {segment} was seen")
        time.sleep(0.05)
