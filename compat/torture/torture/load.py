"""The clients of one scenario: producers, readers that stay, members of a group, and the final reader."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from .checker import Histories, check_stalled
from .history import Progress, read_all

COMPRESSIONS = ("none", "lz4", "zstd", "snappy", "gzip")
STOP_SECONDS = 180
# For readers to reach the end once all is quiet: a group may have to wait for its members' sessions to run out.
STILL_SECONDS = 60


class ClientFailed(Exception):
    """A client ended in a way that it should not."""


class Load:
    def __init__(self, folder, broker, topic, options):
        self.folder = Path(folder)
        self.folder.mkdir()
        self.broker = broker
        self.topic = topic
        self.options = options
        self.producers = {}
        self.readers = {}
        self.acks = Progress(self.folder, "ack")

    def start(self):
        for index, acks in enumerate(self.topic.producers):
            compression = COMPRESSIONS[index % len(COMPRESSIONS)]
            more = ("--rate", str(self.options.rate), "--compression", compression, "--acks", acks)
            self.producers[f"producer-{index}"] = self._spawn("producer", f"producer-{index}", *more)
        for index in range(self.topic.tails):
            more = ("--role", "tail", *(("--goes-on",) if self.topic.is_weak else ()))
            self.readers[f"tail-{index}"] = self._spawn("consumer", f"tail-{index}", *more)
        for index in range(self.topic.members):
            more = ("--role", "group", "--group", self.topic.name)
            self.readers[f"member-{index}"] = self._spawn("consumer", f"member-{index}", *more)

    def _spawn(self, module, name, *more):
        command = [sys.executable, "-m", f"torture.{module}", "--name", name, "--bootstrap", self.broker.bootstrap,
                   "--topic", self.topic.name, "--partitions", str(self.options.partitions),
                   "--history", str(self.folder / f"{name}.jsonl"), *more]
        environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parents[1]))
        with open(self.folder / f"{name}.log", "ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def wait_for_acks(self, count, seconds):
        """Until this many more were acknowledged; the broker must stay up meanwhile."""
        target = self.acks.update() + count
        deadline = time.monotonic() + seconds
        while self.acks.update() < target:
            self.broker.check_alive()
            self.check_alive()
            if time.monotonic() > deadline:
                raise ClientFailed(f"{self.topic.name}: only {self.acks.count - target + count} of {count} acknowledgements in {seconds} s")
            time.sleep(0.05)

    def check_alive(self):
        for name, client in {**self.producers, **self.readers}.items():
            if client.poll() is not None:
                raise ClientFailed(f"{name} ended with {client.returncode}: {self._last_words(name)}")

    def _last_words(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")[-500:]

    def finish(self):
        """Lets everything come to rest: no more sends, all answers in, all readers at the end, one reading of all."""
        self._end(self.producers)
        final = {"final": self._spawn("consumer", "final", "--role", "final")}
        if final["final"].wait() != 0:
            raise ClientFailed(f"the final reader failed: {self._last_words('final')}")
        self._wait_for_readers()
        self._end(self.readers)

    def _wait_for_readers(self):
        """Whoever does not come to the end in this time is the checker's to report."""
        deadline = time.monotonic() + STILL_SECONDS
        while time.monotonic() < deadline:
            if not list(check_stalled(Histories(read_all(self.folder)))):
                return
            time.sleep(1)

    def _end(self, clients):
        for client in clients.values():
            client.send_signal(signal.SIGTERM)
        for name, client in clients.items():
            try:
                returned = client.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                raise ClientFailed(f"{name} did not come to an end") from None
            if returned != 0:
                raise ClientFailed(f"{name} ended with {returned}: {self._last_words(name)}")
        clients.clear()

    def kill(self):
        for client in (*self.producers.values(), *self.readers.values()):
            if client.poll() is None:
                client.kill()
                client.wait()
