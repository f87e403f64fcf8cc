"""Those who work a queue, each in its own way, and what they said.

A Java KafkaShareConsumer and franz-go's share consumer are processes (`queue-work`) that say, split by tabs,

    got      TOPIC PARTITION OFFSET DELIVERY VALUE
    settled  TOPIC PARTITION OFFSET WORD            once the broker has answered; WORD is accept or reject
    refused  TOPIC PARTITION OFFSET REASON

and end in order on SIGTERM. Who receives over HTTP is a thread here that says the same. One that is picky rejects what begins with BAD.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "groups"))

from members import Failed, until  # noqa: E402, F401

BAD = "bad"
"""What the values begin with that a picky one can do nothing with."""

PROGRAMS = {
    "java": lambda: [
        "java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", os.environ["JAVA_CLIENT_CLASS_PATH"],
        "fanlog.Client", "queue-work",
    ],
    "franz-go": lambda: [str(Path(os.environ["GO_CLIENTS"]) / "franz"), "queue-work"],
}


class Worker:
    """What one of them said, as lists of words."""

    def __init__(self):
        self.lines = []
        self.is_stopping = threading.Event()

    def said(self, word):
        return [line[1:] for line in list(self.lines) if line[0] == word]

    def got(self):
        """Places, and what was there, with repeats."""
        return [((topic, int(partition), int(offset)), value) for topic, partition, offset, _, value in self.said("got")]

    def settled(self):
        """Places and words, with repeats."""
        return [((topic, int(partition), int(offset)), word) for topic, partition, offset, word in self.said("settled")]


class ShareConsumer(Worker):
    """A process of a Kafka client."""

    def __init__(self, client, bootstrap, queue, topic, is_picky):
        super().__init__()
        self.name = client
        command = PROGRAMS[client]() + ["--bootstrap", bootstrap, "--group", queue, "--topic", topic]
        if is_picky:
            command += ["--reject", BAD]
        self.complaints = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.complaints, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            if line.endswith("\n"):
                self.lines.append(line.rstrip("\n").split("\t"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = "no end within 60 s"
        self.reader.join(10)
        self.complaints.seek(0)
        # Java reports the signal as 143 where its hooks ran in order.
        if status not in (0, 143):
            raise Failed(f"{self.name} ended with {status}: {self.complaints.read()[-600:]}")


class Receiver(Worker):
    """A thread that receives and settles over HTTP."""

    def __init__(self, http, queue, is_picky):
        super().__init__()
        self.name, self.http, self.queue, self.is_picky, self.failure = "HTTP", http, queue, is_picky, None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        try:
            while not self.is_stopping.is_set():
                messages = self.http.receive(self.queue, 20, "500ms", consumer="over-http")
                good, bad = [], []
                for message in messages:
                    self.lines.append(["got", *message["id"].rsplit("/", 2), message["attempt"], message["value"]])
                    (bad if self.is_picky and message["value"].startswith(BAD) else good).append(message)
                self._settle("ack", "accept", good)
                self._settle("reject", "reject", bad, reason="it is bad")
                # Work takes a while, or the first would have all.
                time.sleep(0.02 if messages else 0)
        except Exception as error:  # whatever it is, the check must know
            self.failure = error

    def _settle(self, verb, word, messages, **more):
        if not messages:
            return
        for message, result in zip(messages, self.http.settle(self.queue, verb, messages, **more)):
            place = message["id"].rsplit("/", 2)
            problem = result.get("problem")
            self.lines.append(["refused", *place, problem["detail"]] if problem else ["settled", *place, word])

    def stop(self):
        self.is_stopping.set()
        self.thread.join(60)
        if self.failure:
            raise Failed(f"over HTTP: {type(self.failure).__name__}: {self.failure}")


class Crew:
    """Workers; those that are left end with it."""

    def __init__(self, bootstrap, http):
        self.bootstrap, self.http, self.all = bootstrap, http, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.all:
            worker.is_stopping.set()
            if isinstance(worker, ShareConsumer) and worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()

    def java(self, queue, topic, is_picky=False):
        return self._joined(ShareConsumer("java", self.bootstrap, queue, topic, is_picky))

    def franz_go(self, queue, topic, is_picky=False):
        return self._joined(ShareConsumer("franz-go", self.bootstrap, queue, topic, is_picky))

    def over_http(self, queue, is_picky=False):
        return self._joined(Receiver(self.http, queue, is_picky))

    def _joined(self, worker):
        self.all.append(worker)
        return worker

    def stop(self):
        for worker in self.all:
            worker.stop()
