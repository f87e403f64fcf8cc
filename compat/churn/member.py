"""One member of the group: reads, commits, and writes down what it was told, until it is told to leave, or killed.

usage: member.py BOOTSTRAP GROUP TOPIC HISTORY SEED
"""

import json
import random
import signal
import struct
import sys
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

COMMIT_SECONDS = 0.4
# Codes of a broker that leave open what became of a request.
UNDECIDED = {7, 13, 14, 15, 16}


class Member:
    def __init__(self, bootstrap, group, topic, history, seed):
        self.topic, self.random = topic, random.Random(seed)
        # Line by line, so that who is killed leaves what it knew.
        self.history = open(history, "a", encoding="utf-8", buffering=1)
        self.positions, self.is_over, self.committed_at = {}, False, 0
        self.consumer = Consumer({
            "bootstrap.servers": bootstrap, "group.id": group, "group.protocol": "consumer", "enable.auto.commit": False,
            "auto.offset.reset": "earliest", "max.poll.interval.ms": 60_000, "fetch.wait.max.ms": 100,
            "reconnect.backoff.max.ms": 200, "log_level": 3,
        })
        self.write("start")
        self.consumer.subscribe([topic], on_assign=self.on_assign, on_revoke=self.on_revoke, on_lost=self.on_lost)

    def write(self, kind, **fields):
        fields.setdefault("t", time.monotonic())
        self.history.write(json.dumps({"k": kind, **fields}, separators=(",", ":")) + "\n")

    def whoami(self):
        """Member id and epoch, which librdkafka has for producers of transactions."""
        metadata = self.consumer.consumer_group_metadata()
        if not metadata:
            return {"m": "", "e": -1}
        rest = metadata.removeprefix(b"CGMDv2:")
        epoch, (_, member, *_) = struct.unpack("<i", rest[:4])[0], rest[4:].split(b"\0")
        return {"m": member.decode(), "e": epoch}

    def on_assign(self, _, partitions):
        self.write("assign", p=[each.partition for each in partitions], **self.whoami())

    def on_revoke(self, _, partitions):
        indexes = [each.partition for each in partitions]
        if self.random.random() < 0.7:
            self.commit({index: self.positions[index] for index in indexes if index in self.positions})
        self.forget("revoke", indexes)

    def on_lost(self, _, partitions):
        self.forget("lost", [each.partition for each in partitions])

    def forget(self, kind, indexes):
        for index in indexes:
            self.positions.pop(index, None)
        self.write(kind, p=indexes, **self.whoami())

    def commit(self, positions):
        if not positions:
            return
        began = time.monotonic()
        self.write("commit", t=began, o=sorted(positions.items()), **self.whoami())
        offsets = [TopicPartition(self.topic, index, offset) for index, offset in positions.items()]
        try:
            answers = self.consumer.commit(offsets=offsets, asynchronous=False)
            codes = {each.partition: each.error.code() if each.error else 0 for each in answers}
        except KafkaException as error:
            codes = dict.fromkeys(positions, error.args[0].code())
        for index, code in codes.items():
            verdict = "ok" if code == 0 else "open" if code < 0 or code in UNDECIDED else "refused"
            self.write("committed", t0=began, p=index, o=positions[index], v=verdict, c=code)

    def run(self):
        while not self.is_over:
            message = self.consumer.poll(0.1)
            if message is not None and not message.error():
                index, offset = message.partition(), message.offset()
                self.write("read", p=index, o=offset, v=int(message.value()))
                self.positions[index] = offset + 1
            if time.monotonic() - self.committed_at > COMMIT_SECONDS:
                self.commit(dict(self.positions))
                self.committed_at = time.monotonic()
        self.write("leave")
        self.consumer.close()
        self.write("left")

    def leave(self, *_):
        self.is_over = True


member = Member(*sys.argv[1:5], int(sys.argv[5]))
signal.signal(signal.SIGTERM, member.leave)
member.run()
