"""A member by confluent-kafka (librdkafka) that says what it owns and since when: the lines of members.py."""

import argparse
import signal
import time

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition


def tell(word, *fields):
    print(word, time.time_ns(), *fields, sep="\t", flush=True)


def names(partitions):
    return ",".join(sorted(f"{each.topic}:{each.partition}" for each in partitions))


class Member:
    def __init__(self, args):
        self.processed = {}
        self.is_stopping = False
        signal.signal(signal.SIGTERM, self.stop)
        settings = {
            "bootstrap.servers": args.bootstrap, "group.id": args.group, "group.protocol": args.protocol,
            "auto.offset.reset": "earliest", "enable.auto.commit": False, "topic.metadata.refresh.interval.ms": 1000,
        }
        if args.protocol == "classic":
            settings |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500}
            settings |= {"partition.assignment.strategy": args.assignor}
        if args.instance:
            settings["group.instance.id"] = args.instance
        self.consumer = Consumer(settings)
        topics = [args.pattern] if args.pattern else args.topics.split(",")
        self.consumer.subscribe(topics, on_assign=self.assigned, on_revoke=self.revoked, on_lost=self.lost)

    def stop(self, *_):
        self.is_stopping = True

    def assigned(self, _, partitions):
        tell("assigned", names(partitions))

    def revoked(self, _, partitions):
        self.commit()
        self.forget(partitions)
        tell("revoked", names(partitions))

    def lost(self, _, partitions):
        self.forget(partitions)
        tell("lost", names(partitions))

    def forget(self, partitions):
        for each in partitions:
            self.processed.pop((each.topic, each.partition), None)

    def commit(self):
        if not self.processed:
            return
        try:
            offsets = [TopicPartition(*partition, offset) for partition, offset in self.processed.items()]
            for answer in self.consumer.commit(offsets=offsets, asynchronous=False):
                if answer.error:
                    raise KafkaException(answer.error)
        except KafkaException as error:
            tell("refused", error.args[0].name())
            return
        tell("committed", ",".join(f"{t}:{p}={offset}" for (t, p), offset in sorted(self.processed.items())))
        self.processed.clear()

    def run(self, commit_every):
        since_commit = 0
        while not self.is_stopping:
            # One at a time: a call for several may collect some, then revoke their partition, then return them.
            message = self.consumer.poll(0.1)
            if message is None:
                pass
            elif message.error():
                if message.error().fatal() or message.error().code() not in PASSING:
                    # Of what is fatal only the text tells the broker's reason.
                    tell("error", message.error().str() if message.error().fatal() else message.error().name())
                    break
            else:
                tell("got", f"{message.topic()}:{message.partition()}", message.offset(), message.value().decode())
                self.processed[message.topic(), message.partition()] = message.offset() + 1
                since_commit += 1
            if since_commit >= commit_every:
                self.commit()
                since_commit = 0
        self.commit()
        self.consumer.close()


# What librdkafka tells and gets over by itself.
PASSING = {KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError.UNKNOWN_TOPIC_OR_PART}


def main():
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "group", "protocol", "topics", "pattern", "instance"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--assignor", default="range")
    parser.add_argument("--commit-every", type=int, default=20)
    args = parser.parse_args()
    Member(args).run(args.commit_every)


main()
