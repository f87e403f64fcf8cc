"""Message ids from a Kafka client (confluent-kafka): of the records of a topic that bear the same one, only the first is stored.

    dedup.py BOOTSTRAP --fanlog --http ADDRESS [CASE...]

It runs a broker of its own, which it kills. One line for each check: `ok` or `failed`, and what.
"""

import sys
import time
import uuid

from confluent_kafka import Consumer, Producer, TopicPartition

from over_http import Http
from own_broker import OwnBroker

PATIENCE_S = 30
MANY = 2_000


def check(holds, what):
    print(("ok" if holds else "failed") + f"\t{what}", flush=True)


class Topic:
    """A topic that remembers message ids for an hour."""

    def __init__(self, broker, name, partitions=1):
        self.bootstrap, self.name, self.partitions = broker.bootstrap, f"dedup.{name}", partitions
        self.http = Http(broker.http)
        self.http.topic(self.name, partitions, dedup_window_ms=3_600_000)

    def producer(self, **settings):
        settings = {key.replace("_", "."): value for key, value in settings.items()}
        return Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 0} | settings)

    def send(self, producer, *messages, partition=0):
        """Where each (id, value) is, as the broker answers it: partition and offset, or the error."""
        answers = {}

        def told(error, message, number):
            answers[number] = str(error) if error else (message.partition(), message.offset())

        for number, (identity, value) in enumerate(messages):
            headers = [("message-id", identity)] if identity else []
            on_delivery = lambda error, message, number=number: told(error, message, number)  # noqa: E731
            producer.produce(self.name, value, partition=partition, headers=headers, on_delivery=on_delivery)
        producer.flush(PATIENCE_S)
        return [answers.get(number) for number in range(len(messages))]

    def read(self, isolation="read_committed"):
        """All values that a consumer sees."""
        consumer = Consumer({
            "bootstrap.servers": self.bootstrap, "group.id": f"reader-{uuid.uuid4().hex[:8]}", "isolation.level": isolation,
            "enable.partition.eof": True,
        })
        consumer.assign([TopicPartition(self.name, partition, 0) for partition in range(self.partitions)])
        values, ended, until = [], set(), time.monotonic() + PATIENCE_S
        while len(ended) < self.partitions and time.monotonic() < until:
            for message in consumer.consume(500, 1.0):
                if message.error() is None:
                    values.append(message.value().decode())
                else:
                    ended.add(message.partition())
        consumer.close()
        return values


def across_producers(broker):
    for kind in (False, True):
        topic = Topic(broker, f"producers-{kind}".lower(), 2)
        name = "idempotent producers" if kind else "plain producers"
        one, other = (topic.producer(enable_idempotence=kind) for _ in range(2))
        first = topic.send(one, ("a", "first"))
        check(first == [(0, 0)], f"{name}: the first is stored ({first})")
        again = topic.send(one, ("a", "again"))
        check(again == [(0, 0)], f"{name}: the same producer is told where the first is ({again})")
        from_other = topic.send(other, ("a", "by another"))
        check(from_other == [(0, 0)], f"{name}: another one is told so too ({from_other})")
        elsewhere = topic.send(other, ("a", "elsewhere"), partition=1)
        check(len(elsewhere) == 1 and isinstance(elsewhere[0], tuple), f"{name}: to another partition it is no error ({elsewhere})")
        topic.send(other, ("b", "another id"), (None, "without one"), (None, "without one"))
        check(sorted(topic.read()) == ["another id", "first", "without one", "without one"], f"{name}: a consumer sees one of each id ({topic.read()})")


def in_one_batch(broker):
    topic = Topic(broker, "batch")
    producer = topic.producer(linger_ms=50, enable_idempotence=True)
    messages = [(f"id-{number % 100}", f"v{number % 100}") for number in range(1_000)]
    answers = topic.send(producer, *messages)
    check(all(isinstance(answer, tuple) for answer in answers), "a batch: no error for any of its records")
    values = topic.read()
    check(sorted(values) == sorted(f"v{number}" for number in range(100)), f"a batch: one of each id is left ({len(values)})")
    topic.send(producer, *messages)
    after = topic.send(producer, ("new", "new"))
    check(len(topic.read()) == 101 and isinstance(after[0], tuple), "a batch: wholly repeated, and the producer goes on after it")


def after_restart(broker):
    topic = Topic(broker, "restart", 2)
    producer = topic.producer()
    messages = [(f"id-{number}", f"v{number}") for number in range(MANY)]
    for partition in range(2):
        topic.send(producer, *messages[partition * MANY // 2:(partition + 1) * MANY // 2], partition=partition)
    first = topic.send(producer, ("once", "once"))
    for name, restart in (("kill -9", broker.kill), ("an orderly stop", broker.stop)):
        restart()
        again = topic.send(topic.producer(), ("once", "again"))
        check(again == first, f"after {name}: the answer is where the first is ({again}, {first})")
        # Each goes to the partition in which it is not, and to the one in which it is.
        topic.send(topic.producer(), *messages, partition=1)
        topic.send(topic.producer(), *messages, partition=0)
        values = topic.read()
        check(len(values) == MANY + 1 and len(set(values)) == MANY + 1, f"after {name}: {MANY} ids in two partitions are remembered ({len(values)})")


def transactions(broker):
    topic = Topic(broker, "transactions")
    producer = topic.producer(transactional_id="dedup-tx")
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    topic.send(producer, ("t", "aborted"))
    producer.abort_transaction(PATIENCE_S)
    after = topic.send(topic.producer(), ("t", "after the abort"))
    check(isinstance(after[0], tuple) and topic.read() == ["after the abort"], f"an aborted transaction's id does not count ({after}, {topic.read()})")
    producer.begin_transaction()
    topic.send(producer, ("u", "committed"), ("t", "again"))
    # Its transaction is open: another one with this id waits for what becomes of it.
    waiting = topic.producer()
    told = []
    waiting.produce(topic.name, "meanwhile", headers=[("message-id", "u")], on_delivery=lambda error, message: told.append(error or message.offset()))
    waiting.poll(1.0)
    check(not told, "an open transaction's id: another one waits")
    producer.commit_transaction(PATIENCE_S)
    waiting.flush(PATIENCE_S)
    check(len(told) == 1 and isinstance(told[0], int), f"an open transaction's id: then it is answered ({told})")
    check(sorted(topic.read()) == ["after the abort", "committed"], f"a committed transaction's id counts ({topic.read()})")


def from_http(broker):
    topic = Topic(broker, "http")
    topic.send(topic.producer(), ("x", "by kafka"))
    answer = topic.http("POST", f"/v1/topics/{topic.name}/records", raw=b"by http", headers={"idempotency-key": "x"})["records"][0]
    check(answer.get("duplicate") is True and answer["id"] == f"{topic.name}/0/0", f"over HTTP the id that a Kafka client used is known ({answer})")
    topic.http("POST", f"/v1/topics/{topic.name}/records", {"records": [{"value": "first", "message_id": "y"}]})
    again = topic.send(topic.producer(), ("y", "by kafka"))
    check(again == [(0, 1)], f"and the other way round ({again})")
    check(topic.read() == ["by kafka", "first"], "a consumer sees one of each")


def cancelled_by_id(broker):
    topic = Topic(broker, "cancel", 2)
    topic.http.queue("cancelling", topic.name)
    later = [("deliver-after", "1h")]
    producer = topic.producer()
    for number in range(3):
        producer.produce(topic.name, f"v{number}", partition=number % 2, headers=[("message-id", f"reminder-{number}")] + later)
    producer.flush(PATIENCE_S)

    def cancel(path, number):
        return topic.http("POST", f"{path}/cancel", {"messages": [{"message_id": f"reminder-{number}"}]})["results"][0]["queues"]

    told = cancel("/v1/queues/cancelling", 0)
    check(told == [{"queue": "cancelling", "cancelled": True}], f"cancel: by the id that a Kafka client gave ({told})")
    broker.kill()
    told = cancel(f"/v1/topics/{topic.name}", 1)
    check(told == [{"queue": "cancelling", "cancelled": True}], f"cancel: after kill -9 the id is known ({told})")
    told = cancel("/v1/queues/cancelling", 0)
    check(told == [{"queue": "cancelling", "cancelled": False}], f"cancel: and what was cancelled stays so ({told})")
    depth = topic.http.status("cancelling")["depth"]
    check(depth == 1, f"cancel: the third is left ({depth})")


CASES = (across_producers, in_one_batch, after_restart, transactions, from_http, cancelled_by_id)


def main():
    arguments = sys.argv[1:]
    chosen = arguments[arguments.index("--http") + 2:]
    with OwnBroker() as broker:
        for case in CASES:
            if chosen and case.__name__ not in chosen:
                continue
            try:
                case(broker)
            except Exception as error:  # whatever it is, the case proves nothing
                check(False, f"{case.__name__}: {type(error).__name__}: {error}")


main()
