"""One member of the race (see race.py): it commits after COMMIT_AT records and stalls, in mid-batch, after a number of records.

Lines it prints: `start OFFSET`, `stalled`, `commit OK|REASON`, `end`. After `stalled` it waits for a line on standard input.
Each processed record becomes a line `NAME OFFSET` in the file of effects: the effect that must never be skipped.
"""

import argparse
import os
import sys

COMMIT_AT = 5


def tell(*fields):
    print(*fields, flush=True)


class Confluent:
    def __init__(self, args):
        from confluent_kafka import Consumer

        self.topic = args.topic
        self.consumer = Consumer(
            {
                "bootstrap.servers": args.bootstrap,
                "group.id": args.group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 500,
                "max.poll.interval.ms": 7000,
            }
        )
        self.consumer.subscribe([args.topic])

    def poll(self):
        return [m.offset() for m in self.consumer.consume(20, 0.5) if not m.error()]

    def commit(self, offset):
        from confluent_kafka import KafkaException, TopicPartition

        try:
            results = self.consumer.commit(offsets=[TopicPartition(self.topic, 0, offset)], asynchronous=False)
        except KafkaException as error:
            return error.args[0].name()
        return results[0].error.name() if results[0].error else "OK"


class KafkaPython:
    def __init__(self, args):
        from kafka import KafkaConsumer

        self.topic = args.topic
        self.consumer = KafkaConsumer(
            args.topic,
            bootstrap_servers=args.bootstrap,
            group_id=args.group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6000,
            heartbeat_interval_ms=500,
            max_poll_interval_ms=7000,
            max_poll_records=20,
        )

    def poll(self):
        return [r.offset for records in self.consumer.poll(timeout_ms=500).values() for r in records]

    def commit(self, offset):
        from kafka import TopicPartition
        from kafka.errors import KafkaError
        from kafka.structs import OffsetAndMetadata

        try:
            self.consumer.commit({TopicPartition(self.topic, 0): OffsetAndMetadata(offset, "", -1)})
        except KafkaError as error:
            return type(error).__name__
        return "OK"


def main():
    parser = argparse.ArgumentParser()
    for name in ("client", "name", "bootstrap", "topic", "group", "effects"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--stall-after", type=int, required=True)
    parser.add_argument("--commit-first", action="store_true")
    parser.add_argument("--end", type=int, required=True)
    args = parser.parse_args()
    member = {"confluent-kafka": Confluent, "kafka-python": KafkaPython}[args.client](args)
    processed = 0
    with open(args.effects, "a", buffering=1) as effects:
        while True:
            for offset in member.poll():
                if processed == 0:
                    tell("start", offset)
                effects.write(f"{args.name} {offset}\n")
                processed += 1
                if args.commit_first and processed == COMMIT_AT:
                    tell("commit", member.commit(offset + 1))
                if processed == args.stall_after:
                    tell("stalled")
                    sys.stdin.readline()
                if args.commit_first and processed == 20 or offset + 1 == args.end:
                    tell("commit", member.commit(offset + 1))
                    tell("end")
                    # No goodbye: what matters has been said, and a polite leave would only blur it.
                    os._exit(0)


if __name__ == "__main__":
    main()
