"""One topic, one event, several ways at once.

    ways.py BOOTSTRAP --fanlog --http ADDRESS [--quick]

A Kafka client produces. Two consumer groups, one of each protocol, read; over HTTP, by a Java and by a Go share consumer the same
records are worked off, each on a queue of its own and all three side by side on one; one queue rejects what is bad, and its dead letters
must say where they come from. One line for each check: `ok` or `failed`, and what.
"""

import json
import subprocess
import sys
import threading
import uuid
from collections import Counter

from confluent_kafka import Consumer, Producer

from over_http import Http, Refused
from workers import BAD, Crew, Failed, until

RUN = uuid.uuid4().hex[:8]
GROUPS = ("classic", "consumer")
PARTITIONS = 4
MANY = 3_000
HEADER = ("trace", b"abc")
REASONS = ("it is bad", "a share consumer rejected it")


def check(holds, what):
    print(("ok" if holds else "failed") + f"\t{what}", flush=True)


class Reader:
    """A consumer of a group, which sees the stream and settles nothing."""

    def __init__(self, bootstrap, protocol, topic):
        self.name, self.group = f"{protocol} group", f"{RUN}-{protocol}-of-{topic}"
        settings = {"bootstrap.servers": bootstrap, "group.id": self.group, "auto.offset.reset": "earliest"}
        self.consumer = Consumer(settings | {"group.protocol": protocol, "enable.auto.commit": False})
        self.consumer.subscribe([topic])
        self.seen, self.is_stopping = [], threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.is_stopping.is_set():
            for message in self.consumer.consume(500, 0.2):
                if message.error() is None:
                    place = (message.topic(), message.partition(), message.offset())
                    self.seen.append((place, message.value().decode()))
        self.consumer.close()

    def stop(self):
        self.is_stopping.set()
        self.thread.join(60)


def produce(bootstrap, topic, values):
    """Where each value stands: place -> value."""
    places = {}

    def stored(error, message):
        if error is None:
            places[(topic, message.partition(), message.offset())] = message.value().decode()

    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number, value in enumerate(values):
        producer.produce(topic, value, key=f"k{number % 50}", headers=[HEADER], on_delivery=stored)
        producer.poll(0)
    producer.flush(30)
    if len(places) != len(values):
        raise Failed(f"{len(places)} of {len(values)} records were stored")
    return places


def check_books(http, queue, accepted, rejected):
    """The queue's own books: each message acknowledged or dead-lettered, and nothing is left."""
    def books():
        status = http.status(queue)
        return {name: status[name] for name in ("depth", "in_flight_records", "acknowledged", "dead_letters", "moving", "lost", "given_up")}

    wanted = {"depth": 0, "in_flight_records": 0, "acknowledged": accepted, "dead_letters": rejected, "moving": 0, "lost": 0, "given_up": 0}
    try:
        until(lambda: books() == wanted, "", 20)
    except Failed:
        pass
    found = books()
    check(found == wanted, f"{queue}: {accepted} acknowledged, {rejected} dead letters, nothing left ({found})")


def check_dead(http, queue, bad):
    """Each bad record is a dead letter once, with its origin, its own headers and the reason."""
    listed = http("GET", f"/v1/topics/{queue}.dead")
    letters = [record for each in listed["partitions"] for record in http.records(f"{queue}.dead", each["partition"])]
    origins = Counter()
    is_told = True
    for letter in letters:
        headers = letter["headers"]
        said = {name.removeprefix("fanlog.dead."): value for name, value in headers.items() if name.startswith("fanlog.dead.")}
        place = (said["topic"], int(said["partition"]), int(said["offset"]))
        origins[place] += 1
        history = json.loads(said["history"])
        is_told &= said["queue"] == queue and int(said["timestamp"]) > 0 and said["reason"] in REASONS
        is_told &= said["attempts"] == "1" and len(history) == 1 and history[0]["reason"] == said["reason"] and bool(history[0]["consumer"])
        is_told &= letter["value"] == bad.get(place) and headers.get(HEADER[0]) == HEADER[1].decode() and bool(letter["key"])
    check(origins == Counter(bad.keys()), f"{queue}: each of {len(bad)} bad records is a dead letter once ({len(letters)})")
    check(is_told, f"{queue}: dead letters say queue, origin, time, attempts and reason, and keep value, key and headers")


class Scene:
    """A topic with queues, and who reads and works."""

    def __init__(self, bootstrap, http, name, partitions):
        self.bootstrap, self.http, self.name = bootstrap, http, name
        self.topic = f"{RUN}.{name}"
        http.topic(self.topic, partitions)
        self.queues, self.workers = [], {}

    def queue(self, name, *workers, is_picky=False):
        """A queue, and those who work it side by side."""
        queue = f"{RUN}-{self.name}-{name}"
        self.http.queue(queue, self.topic, backoff="none")
        self.queues.append((queue, is_picky))
        self.workers[queue] = workers

    def run(self, values, least=0):
        """Produces while all read and work; each worker of several must have done with at least so many."""
        readers = [Reader(self.bootstrap, protocol, self.topic) for protocol in GROUPS]
        with Crew(self.bootstrap, self.http) as crew:
            at_work = {queue: [] for queue, _ in self.queues}
            for queue, is_picky in self.queues:
                for way in self.workers[queue]:
                    place = (queue,) if way == "over_http" else (queue, self.topic)
                    at_work[queue].append(getattr(crew, way)(*place, is_picky=is_picky))
            places = self.warm_up(at_work) if least else {}
            places |= produce(self.bootstrap, self.topic, values)
            for queue, _ in self.queues:
                until(lambda: sum(len(one.settled()) for one in at_work[queue]) >= len(places), lambda: self.behind(queue, at_work), 120)
            for reader in readers:
                until(lambda: len(reader.seen) >= len(places), lambda: f"{reader.name}: {len(reader.seen)} of {len(places)} records", 60)
                reader.stop()
            crew.stop()
        for reader in readers:
            check(sorted(reader.seen) == sorted(places.items()), f"{self.name}: a {reader.name} reads each record once, where it is stored")
        for queue, is_picky in self.queues:
            self.judge(queue, is_picky, at_work[queue], places, least)
        ends = sum(each["end_offset"] for each in self.http("GET", f"/v1/topics/{self.topic}")["partitions"])
        check(ends == len(places), f"{self.name}: queues leave the topic as it is ({ends} records)")

    def warm_up(self, at_work):
        """One record after the other until every worker was given one: the first that is there would have all."""
        places = {}

        def has_begun():
            places.update(produce(self.bootstrap, self.topic, [f"warm-up {len(places)}"]))
            return all(one.got() for workers in at_work.values() for one in workers)

        until(has_begun, lambda: [(queue, one.name) for queue, workers in at_work.items() for one in workers if not one.got()], 60)
        return places

    def behind(self, queue, at_work):
        return f"{queue}: {[(one.name, len(one.settled()), one.said('refused')[:3]) for one in at_work[queue]]} {self.http.status(queue)}"

    def judge(self, queue, is_picky, workers, places, least):
        names = ", ".join(one.name for one in workers)
        told = [one for worker in workers for one in worker.settled()]
        bad = {place: value for place, value in places.items() if is_picky and value.startswith(BAD)}
        wanted = {place: "reject" if place in bad else "accept" for place in places}
        check(len(told) == len(wanted) and dict(told) == wanted, f"{queue}: {names}: each of {len(wanted)} records is settled once ({len(told)})")
        given = {one for worker in workers for one in worker.got()}
        check(given == set(places.items()), f"{queue}: {names}: what is given is what is stored ({len(given)})")
        if len(workers) > 1:
            shares = {worker.name: len(worker.settled()) for worker in workers}
            check(min(shares.values()) >= least, f"{queue}: side by side all have their share ({shares})")
        check_books(self.http, queue, len(wanted) - len(bad), len(bad))
        if is_picky:
            check_dead(self.http, queue, bad)


def one_event(bootstrap, http):
    scene = Scene(bootstrap, http, "one", 1)
    scene.queue("http", "over_http")
    scene.queue("java", "java")
    scene.queue("go", "franz_go")
    scene.queue("picky", "over_http", is_picky=True)
    scene.run([f"{BAD} order"])


def many_events(bootstrap, http):
    scene = Scene(bootstrap, http, "many", PARTITIONS)
    scene.queue("http", "over_http")
    scene.queue("java", "java")
    scene.queue("go", "franz_go")
    scene.queue("together", "over_http", "java", "franz_go")
    scene.queue("picky", "over_http", "java", "franz_go", is_picky=True)
    values = [(BAD if number % 100 == 7 else "good") + f" order {number}" for number in range(MANY)]
    scene.run(values, least=MANY // 50)


def main():
    arguments = sys.argv[1:]
    bootstrap, http = arguments[0], Http(arguments[arguments.index("--http") + 1])
    for case in (one_event,) if "--quick" in arguments else (one_event, many_events):
        try:
            case(bootstrap, http)
        except (Failed, Refused, OSError, subprocess.SubprocessError) as error:
            check(False, f"{case.__name__}: {type(error).__name__}: {error}")


main()
