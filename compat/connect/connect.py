"""Kafka Connect in distributed mode over the broker: lines from a file, through a topic, into a file.

    connect.py BOOTSTRAP [--fanlog]

Prints a line for each check: `ok` or `failed`, a tab, and what. The worker is killed (kill -9) in the midst of it, then stopped in order; each
time it must go on where it was. Class path: CONNECT_CLASS_PATH, of `compat/connect/pom.xml`.
Read next: `worker.py`.
"""

import json
import os
import sys
import tempfile
import threading
import time
import uuid

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from worker import Worker, Wrong, until

RUN = uuid.uuid4().hex[:8]
LINES = 3000
# They are written so many at a time, so that a kill comes while they flow.
PIECE = 20


class Pipeline:
    def __init__(self, bootstrap, name="connect", **settings):
        self.bootstrap = bootstrap
        self.topic = f"{name}-lines-{RUN}"
        self.folder = tempfile.mkdtemp(prefix="connect-")
        self.source, self.sink = (os.path.join(self.folder, name) for name in ("source.txt", "sink.txt"))
        self.worker = Worker(bootstrap, self.folder, f"{name}-{RUN}", settings)
        self.admin = AdminClient({"bootstrap.servers": bootstrap})
        self.written = []

    def write(self, count):
        lines = [f"line {len(self.written) + n}" for n in range(count)]
        with open(self.source, "a") as out:
            out.writelines(f"{line}\n" for line in lines)
        self.written += lines

    def write_slowly(self, count):
        """In a thread of its own, over a few seconds."""
        def pieces():
            for _ in range(count // PIECE):
                self.write(PIECE)
                time.sleep(0.02)

        writer = threading.Thread(target=pieces)
        writer.start()
        return writer

    def read(self):
        if not os.path.exists(self.sink):
            return []
        with open(self.sink) as file:
            return file.read().splitlines()

    def until_all(self):
        until(f"all {len(self.written)} lines are in the sink", lambda: len(set(self.read())) == len(self.written))
        in_order = list(dict.fromkeys(self.read()))
        if in_order != self.written:
            raise Wrong("the lines came in another order")

    # In this order.

    def lines_flow(self):
        """a source and a sink are created over REST, and lines flow from file to topic to file"""
        self.admin.create_topics([NewTopic(self.topic, 1, 1)])[self.topic].result(20)
        self.write(LINES)
        self.worker.start()
        self.create("source", "FileStreamSource", {"file": self.source, "topic": self.topic})
        self.create("sink", "FileStreamSink", {"file": self.sink, "topics": self.topic})
        self.until_all()
        if len(self.read()) != LINES:
            raise Wrong(f"{len(self.read())} lines of {LINES}, though nothing was killed")

    def create(self, name, kind, rest):
        config = {"connector.class": f"org.apache.kafka.connect.file.{kind}Connector", "tasks.max": "1"} | rest
        self.worker.ask("POST", "/connectors", {"name": name, "config": {key: str(value) for key, value in config.items()}})
        until(f"{name} runs", lambda: self.worker.is_running(name))

    def killed(self):
        """the worker is killed while lines flow: started again it goes on; no line is missing, and the order holds"""
        before = len(self.read())
        writer = self.write_slowly(LINES)
        until("some of the lines are through", lambda: len(self.read()) > before + PIECE)
        self.worker.kill()
        writer.join()
        self.worker.start()
        self.until_all()

    def stopped(self):
        """the worker is stopped in order and started again: nothing comes twice"""
        # What the source has sent is committed before it ends.
        self.worker.stop()
        before = len(self.read())
        self.write(100)
        self.worker.start()
        self.until_all()
        if len(self.read()) != before + 100:
            raise Wrong(f"{len(self.read()) - before} lines more instead of 100")

    def internal_topics(self):
        """the internal topics are compacted, with the partitions asked for, and hold configurations, positions and states"""
        expected = {"config": 1, "offset": 3, "status": 2}
        for name, partitions in expected.items():
            topic = self.worker.topics[name]
            found = len(self.admin.list_topics(topic, 10).topics[topic].partitions)
            resource = ConfigResource(ResourceType.TOPIC, topic)
            policy = self.admin.describe_configs([resource])[resource].result(10)["cleanup.policy"].value
            if (found, policy) != (partitions, "compact"):
                raise Wrong(f"{topic}: {found} partitions, cleanup.policy={policy}")
        configs = self.latest(self.worker.topics["config"])
        if not {"connector-source", "connector-sink", "task-source-0", "task-sink-0"} <= set(configs):
            raise Wrong(f"configurations: {sorted(configs)}")
        states = self.latest(self.worker.topics["status"])
        if json.loads(states["status-task-sink-0"])["state"] != "RUNNING":
            raise Wrong(f"states: {states}")
        size = os.path.getsize(self.source)
        def position():
            return [json.loads(value)["position"] for key, value in self.latest(self.worker.topics["offset"]).items() if '"source"' in key]
        until("the source's position is the end of its file", lambda: position() == [size])

    def latest(self, topic):
        """The last value of each key, tombstones left out."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": f"look-{RUN}", "enable.auto.commit": False, "enable.partition.eof": True})
        partitions = list(self.admin.list_topics(topic, 10).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, index, 0) for index in partitions])
        found, ended = {}, set()
        deadline = time.monotonic() + 30
        while len(ended) < len(partitions):
            if time.monotonic() > deadline:
                raise Wrong(f"{topic}: its end is not reached")
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error():
                ended.add(message.partition())
            elif message.value() is None:
                found.pop(message.key().decode(), None)
            else:
                found[message.key().decode()] = message.value().decode()
        consumer.close()
        return found

    def group(self):
        """the sink's group has committed all that the topic holds"""
        _, end = self.watermarks()

        def is_there():
            wanted = [ConsumerGroupTopicPartitions("connect-sink", [TopicPartition(self.topic, 0)])]
            found = self.admin.list_consumer_group_offsets(wanted)["connect-sink"].result(10)
            return found.topic_partitions[0].offset == end

        until(f"connect-sink is at {end}", is_there)

    def watermarks(self):
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": f"look-{RUN}"})
        found = consumer.get_watermark_offsets(TopicPartition(self.topic, 0), 10)
        consumer.close()
        return found

    def offsets_reset(self):
        """a stopped sink's offsets are shown and reset over REST; resumed, it reads everything again"""
        self.worker.ask("PUT", "/connectors/sink/stop")
        until("the sink is stopped", lambda: self.worker.ask("GET", "/connectors/sink/status")["connector"]["state"] == "STOPPED")
        _, end = self.watermarks()
        shown = self.worker.ask("GET", "/connectors/sink/offsets")["offsets"]
        if [each["offset"] for each in shown] != [{"kafka_offset": end}]:
            raise Wrong(f"offsets: {shown}")
        until("the sink's group is empty", self.reset_is_taken)
        os.remove(self.sink)
        self.worker.ask("PUT", "/connectors/sink/resume")
        self.until_all()

    def reset_is_taken(self):
        """Refused while the task's consumer is still a member."""
        try:
            return "successfully" in self.worker.ask("DELETE", "/connectors/sink/offsets")["message"]
        except Wrong as error:
            if "active" in str(error) or "empty" in str(error):
                return False
            raise

    def deleted(self):
        """deleted connectors are gone"""
        for name in ("source", "sink"):
            self.worker.ask("DELETE", f"/connectors/{name}")
        until("none is left", lambda: self.worker.ask("GET", "/connectors") == [])
        self.worker.stop()

    def once(self):
        """with exactly.once.source.support the topic holds every line once, though the worker was killed"""
        found = self.values(self.topic)
        if found != self.written:
            raise Wrong(f"{len(found)} lines in the topic, {len(set(found))} different; {len(self.written)} were written")

    def values(self, topic):
        """What is committed, in the order of the topic's only partition."""
        consumer = Consumer({
            "bootstrap.servers": self.bootstrap, "group.id": f"look-{RUN}", "enable.auto.commit": False, "enable.partition.eof": True,
            "isolation.level": "read_committed",
        })
        consumer.assign([TopicPartition(topic, 0, 0)])
        found, deadline = [], time.monotonic() + 30
        while time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None and message.error():
                consumer.close()
                return found
            if message is not None:
                found.append(json.loads(message.value()))
        raise Wrong(f"{topic}: its end is not reached")

    # A pipeline whose source sends in transactions, beside the others.
    EXACTLY_ONCE = (lines_flow, killed, once, deleted)
    ALL = (lines_flow, killed, stopped, internal_topics, group, offsets_reset, deleted)


def run(pipeline, checks, name):
    """Each goes on from the one before, hence none after one that failed."""
    try:
        for check in checks:
            what = f"{name}: {check.__doc__.strip()}"
            try:
                check(pipeline)
                print(f"ok\t{what}", flush=True)
            except Exception as error:  # whatever it is, it did not work
                said = str(error) or type(error).__name__
                print(f"failed\t{what}: {said} (worker's log below {pipeline.folder})".replace("\n", " | "), flush=True)
                return False
        return True
    finally:
        if pipeline.worker.process and pipeline.worker.process.poll() is None:
            pipeline.worker.kill()


def main():
    bootstrap = sys.argv[1]
    holds = run(Pipeline(bootstrap), Pipeline.ALL, "Connect")
    settings = {"exactly.once.source.support": "enabled", "consumer.isolation.level": "read_committed"}
    once = Pipeline(bootstrap, "connect-once", **settings)
    holds = run(once, Pipeline.EXACTLY_ONCE, "Connect, exactly once") and holds
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
