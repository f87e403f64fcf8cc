"""What is done to the broker while the clients work. Each scenario begins with an empty data directory."""

import re
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import checker, history
from .broker import Broker
from .disk_image import DiskImage
from .load import Load

TOPIC = "torture"
# The smallest that Kafka allows: segments are closed every few seconds, so that faults come upon that too.
SMALL_SEGMENTS = {"segment.bytes": "1048576"}
FIRST_SEGMENT = "00000000000000000000.log"


def skip_syncs(data, partitions):
    """A command before the broker's: syncs of the topic's segments answer success without being done.

    Only those: without the rest a broker may not come up again, and no record would have been looked for.
    """
    segments = [str(data / f"{TOPIC}-{partition}" / FIRST_SEGMENT) for partition in range(partitions)]
    paths = [word for segment in segments for word in ("-P", segment)]
    calls = "fdatasync,fsync,sync_file_range"
    return ("strace", "-f", "--seccomp-bpf", "-o", "/dev/null", *paths, "-e", f"trace={calls}",
            "-e", f"inject={calls}:retval=0")


@dataclass
class Stage:
    """One scenario's broker, clients and findings."""

    folder: Path
    options: object
    random: object
    say: object
    disk: DiskImage = None
    wrapper: tuple = ()
    broker: Broker = None
    load: Load = None
    made_topics: list = field(default_factory=list)
    violations: list = field(default_factory=list)

    def set_up(self, topic_config=None):
        data = (self.disk.mount_point if self.disk else self.folder) / "data"
        self.broker = Broker(self.options.serve, data, self.options.port, self.folder / "broker.log",
                             self.options.start_seconds)
        self.broker.start(self.wrapper)
        config = {**(topic_config or {}), **self.options.topic_config}
        self.broker.create_topic(TOPIC, self.options.partitions, config)
        self.load = Load(self.folder / "history", self.broker, TOPIC, self.options)
        self.load.start()
        self.load.wait_for_acks(self.options.acks_between, self.options.patience_seconds)

    def make_topic(self):
        """One more topic just before a fault: its creation was answered, so it must be there afterwards."""
        name = f"made-{len(self.made_topics)}"
        self.broker.create_topic(name, 1)
        self.made_topics.append(name)

    def check_topics(self):
        for name in sorted(set(self.made_topics) - self.broker.topics()):
            self.violations.append(checker.Violation("topic-lost", f"{name} had been created; it is gone"))
            self.made_topics.remove(name)

    def finish(self):
        self.load.finish()
        self.broker.stop()
        files = history.read_all(self.load.folder)
        self.violations.extend(checker.check(files))
        return files

    def check_what_there_is(self):
        """After a failure: the histories end in mid-air, and may show why."""
        if self.load:
            self.load.kill()
            found = checker.check(history.read_all(self.load.folder))
            self.violations.extend(violation for violation in found if violation.kind != "untested")

    def tear_down(self):
        if self.load:
            self.load.kill()
        if self.broker:
            self.broker.kill()
        if self.disk:
            self.disk.unmount()


def quiet(stage):
    """No fault at all: what fails here is not the faults' doing."""
    stage.set_up()
    stage.load.wait_for_acks(stage.options.acks_between * 5, stage.options.patience_seconds * 5)


def kill(stage):
    """kill -9 under load, again and again."""
    stage.set_up(SMALL_SEGMENTS)
    for number in range(1, stage.options.kill_rounds + 1):
        stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)
        time.sleep(stage.random.uniform(0, 2))
        stage.make_topic()
        stage.broker.kill()
        took = stage.broker.start()
        stage.check_topics()
        stage.say(f"kill -9, round {number}: {stage.load.acks.update()} acknowledged, back after {took:.1f} s")
    stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)


def pause(stage):
    """The broker stands still for a while and goes on, as under a long page-in or a suspended machine."""
    stage.set_up(SMALL_SEGMENTS)
    for number in range(1, stage.options.pause_rounds + 1):
        stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)
        seconds = stage.random.uniform(1, 12)
        stage.broker.signal(signal.SIGSTOP)
        time.sleep(seconds)
        stage.broker.signal(signal.SIGCONT)
        stage.say(f"stopped for {seconds:.1f} s, round {number}: {stage.load.acks.update()} acknowledged")
    stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)


def power(stage):
    """The power fails in mid-write, again and again."""
    stage.disk = DiskImage(stage.folder)
    stage.disk.make()
    if stage.options.planted == "skip-sync":
        stage.wrapper = skip_syncs(stage.disk.mount_point / "data", stage.options.partitions)
    stage.set_up({} if stage.wrapper else SMALL_SEGMENTS)
    for number in range(1, stage.options.power_rounds + 1):
        stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)
        time.sleep(stage.random.uniform(0, 2))
        stage.make_topic()
        # A power cut takes the broker and its answers at the same moment as the disk. The shutdown leaves processes running,
        # and a sync that is under way may then answer success for bytes that are not there: see disk_image.py.
        stage.broker.freeze()
        stage.disk.cut_power()
        stage.broker.kill()
        stage.disk.restore_power()
        took = stage.broker.start(stage.wrapper)
        stage.check_topics()
        stage.say(f"power cut, round {number}: {stage.load.acks.update()} acknowledged, back after {took:.1f} s")
    stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)


def full(stage):
    """The disk is full for a while: sends wait, nothing is lost, and all goes on when there is space again."""
    stage.disk = DiskImage(stage.folder)
    stage.disk.make()
    stage.set_up(SMALL_SEGMENTS)
    for number in range(1, stage.options.full_rounds + 1):
        stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)
        stage.disk.fill()
        seconds = stage.random.uniform(2, 6)
        time.sleep(seconds)
        stage.broker.check_alive()
        is_killed = number % 2 == 0
        if is_killed:
            stage.broker.kill()
        stage.disk.empty()
        if is_killed:
            stage.broker.start()
        stage.say(f"disk full for {seconds:.1f} s, round {number}: {stage.load.acks.update()} acknowledged")
    stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)


FAILED_SYNC = re.compile(r"^\d+\s+(\d+\.\d+) .*EIO .*INJECTED", re.MULTILINE)
# Answers that were under way when the sync failed may still arrive.
GRACE_SECONDS = 1.0


def eio(stage):
    """One sync of one partition's log fails; the next ones would succeed. None of them may be believed."""
    stage.set_up()
    for partition in range(min(stage.options.eio_rounds, stage.options.partitions)):
        stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)
        failed_at = fail_one_sync(stage, partition)
        time.sleep(GRACE_SECONDS)
        if stage.options.partitions > 1:
            # The neighbours go on.
            stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)
        time.sleep(3)
        before_restart = time.time()
        stage.broker.kill()
        took = stage.broker.start()
        files = history.read_all(stage.load.folder)
        late = checker.check_no_acks_between(files, partition, failed_at + GRACE_SECONDS, before_restart)
        stage.violations.extend(late)
        stage.say(f"EIO from a sync of partition {partition}: {stage.load.acks.update()} acknowledged, "
                  f"back after {took:.1f} s")
    stage.load.wait_for_acks(stage.options.acks_between, stage.options.patience_seconds)


def fail_one_sync(stage, partition):
    """Lets the third sync from now of this partition's active segment fail; gives the time of it."""
    data = stage.folder / "data" / f"{TOPIC}-{partition}"
    segment = max(data.glob("*.log"))
    trace = stage.folder / f"strace-{partition}.txt"
    command = ["strace", "-f", "-ttt", "-o", str(trace), "-p", str(stage.broker.process.pid), "-P", str(segment),
               "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO:when=3"]
    strace = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
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
    finally:
        # Leaves the broker running: strace lets go of it.
        strace.terminate()
        strace.wait()


SCENARIOS = {"quiet": quiet, "kill": kill, "pause": pause, "power": power, "full": full, "eio": eio}
IMAGE = ("mkfs.ext4", "mount", "umount")
NEEDS = {"power": IMAGE, "full": IMAGE, "eio": ("strace",)}
