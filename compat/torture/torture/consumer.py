"""A consumer that writes down every record it is given until SIGTERM.

    tail    reads all partitions from the start and stays; a broker that loses its place is a violation, unless the
            topic's class allows it: then, with --goes-on, it goes on from the end of what is left
    group   reads as a member of a group, committing after each batch
    final   reads every partition from its start to its end, and ends
"""

import argparse
import signal
import sys
import time

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from . import values
from .history import History

BATCH_MAX = 500
# The broker no longer has the position that this reader had reached.
LOST = {KafkaError._AUTO_OFFSET_RESET, KafkaError._LOG_TRUNCATION, KafkaError.OFFSET_OUT_OF_RANGE}
FINAL_SECONDS = 180
# How long a reader that lost its place asks where the partition ends.
END_SECONDS = 60


class Reader:
    def __init__(self, args):
        self.args = args
        self.history = History(args.history, args.name, args.role, args.group)
        self.stopping = False
        self.positions = {}
        signal.signal(signal.SIGTERM, self.stop)
        self.consumer = Consumer({
            "bootstrap.servers": args.bootstrap,
            "client.id": args.name,
            "group.id": args.group or args.name,
            "enable.auto.commit": False,
            # Only a group that has no commit yet may begin by this rule; a reader that has a place must keep it.
            "auto.offset.reset": "earliest" if args.role == "group" else "error",
            "session.timeout.ms": 10_000,
            "heartbeat.interval.ms": 1_000,
            "fetch.wait.max.ms": 200,
            "reconnect.backoff.max.ms": 500,
            "socket.timeout.ms": 10_000,
            "log_level": 0,
        })

    def stop(self, *_):
        self.stopping = True

    def run(self):
        if self.args.role == "group":
            self.consumer.subscribe([self.args.topic], on_assign=self.on_assign, on_revoke=self.on_revoke)
        else:
            self.start_at_the_beginning()
        outcome = self.read_to_the_end() if self.args.role == "final" else self.read_until_stopped()
        self.consumer.close()
        self.history.close()
        return outcome

    def start_at_the_beginning(self):
        partitions = range(self.args.partitions)
        self.history.write("assign", p=list(partitions))
        self.consumer.incremental_assign([TopicPartition(self.args.topic, partition, 0) for partition in partitions])

    def on_assign(self, _, assigned):
        self.positions.clear()
        self.history.write("assign", p=[each.partition for each in assigned])

    def on_revoke(self, *_):
        self.positions.clear()

    def read_batch(self):
        """Fills `positions` with the position behind each partition that had something.

        One message at a time: the library's batches may hold messages of the assignment before last.
        """
        self.positions.clear()
        message = self.consumer.poll(0.2)
        for _ in range(BATCH_MAX):
            if message is None:
                break
            self.take(message)
            message = self.consumer.poll(0)
        if message is not None:
            self.take(message)
        self.history.flush()

    def take(self, message):
        error = message.error()
        if error is None:
            self.positions[message.partition()] = message.offset() + 1
            self.record(message)
        elif error.code() in LOST:
            self.history.write("lost-position", p=message.partition(), e=error.str())
            if self.args.goes_on:
                self.go_on(message.partition())

    def go_on(self, partition):
        """From the end of what is left."""
        place = TopicPartition(self.args.topic, partition)
        high = self.end_of(place)
        if high is None:
            return
        self.consumer.incremental_unassign([place])
        self.consumer.incremental_assign([TopicPartition(self.args.topic, partition, high)])
        self.history.write("assign", p=[partition])

    def end_of(self, place):
        """The end of a partition; asked again where the broker goes away meanwhile."""
        deadline = time.monotonic() + END_SECONDS
        while not self.stopping:
            try:
                return self.consumer.get_watermark_offsets(place, timeout=30)[1]
            except KafkaException as error:
                if time.monotonic() > deadline:
                    # The reader will be seen to stall.
                    print(f"{self.args.name}: partition {place.partition}: {error}", file=sys.stderr, flush=True)
                    return None
                time.sleep(0.1)
        return None

    def record(self, message):
        name, is_whole = values.name_of(message.value())
        fields = {} if is_whole else {"bad": True}
        fields["e"] = message.leader_epoch()
        self.history.write("poll", p=message.partition(), o=message.offset(), v=name, **fields)

    def read_until_stopped(self):
        while not self.stopping:
            self.read_batch()
            if self.positions and self.args.role == "group":
                self.commit(dict(self.positions))
        return 0

    def commit(self, positions):
        asked = round(time.time(), 4)
        offsets = [TopicPartition(self.args.topic, *each) for each in positions.items()]
        try:
            answers = self.consumer.commit(offsets=offsets, asynchronous=False)
            done = {each.partition for each in answers if each.error is None}
        except KafkaException:
            done = set()
        for partition, offset in positions.items():
            self.history.write("commit", t0=asked, p=partition, o=offset, ok=partition in done)

    def read_to_the_end(self):
        ends = {}
        for partition in range(self.args.partitions):
            place = TopicPartition(self.args.topic, partition)
            ends[partition] = self.consumer.get_watermark_offsets(place, timeout=30)
        open_ends = {partition: high for partition, (low, high) in ends.items() if high > low}
        deadline = time.monotonic() + FINAL_SECONDS
        while open_ends and not self.stopping and time.monotonic() < deadline:
            self.read_batch()
            for partition, position in self.positions.items():
                if position >= open_ends.get(partition, position + 1):
                    del open_ends[partition]
        for partition, (low, high) in ends.items():
            self.history.write("end", p=partition, low=low, high=high)
        if open_ends:
            print(f"{self.args.name}: partitions {sorted(open_ends)} could not be read to the end", file=sys.stderr)
        return 1 if open_ends else 0


def main():
    parser = argparse.ArgumentParser()
    for name in ("name", "role", "bootstrap", "topic", "history"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--group")
    parser.add_argument("--goes-on", action="store_true")
    parser.add_argument("--partitions", type=int, required=True)
    sys.exit(Reader(parser.parse_args()).run())


if __name__ == "__main__":
    main()
