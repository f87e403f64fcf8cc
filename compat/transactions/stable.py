"""Watches from outside how long the last stable offset of any partition stands still below what is written.

That is what a transaction that hangs does to everybody else: nobody reads past it, and no member of the group takes over its offsets.
"""

import threading
import time

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

EVERY_SECONDS = 0.2


class Watch:
    def __init__(self, bootstrap, topics):
        # It asks while there is no broker: that is no news.
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "reconnect.backoff.max.ms": 200, "log_level": 0, "metadata.recovery.strategy": "none"})
        self.topics = topics
        self.since = {}  # partition -> (the offset that it stands at, since when)
        self.longest, self.where, self.looked = 0.0, None, 0
        self.thread, self.ends = threading.Thread(target=self.run, daemon=True), threading.Event()
        self.thread.start()

    def run(self):
        while not self.ends.wait(EVERY_SECONDS):
            try:
                self.look()
            except KafkaException:
                pass

    def stop(self):
        self.ends.set()
        self.thread.join()

    def look(self):
        """A stop of the broker counts as well: whoever waits does not care why."""
        known = self.admin.list_topics(timeout=2).topics
        places = [TopicPartition(topic, part) for topic in self.topics if topic in known for part in known[topic].partitions]
        written = self.ends_of(places, IsolationLevel.READ_UNCOMMITTED)
        stable = self.ends_of(places, IsolationLevel.READ_COMMITTED)
        now = time.monotonic()
        self.looked += 1
        for place, offset in stable.items():
            if place not in written or offset >= written[place]:
                self.since.pop(place, None)
                continue
            at, since = self.since.get(place, (None, now))
            if at != offset:
                since = now
            self.since[place] = offset, since
            if now - since > self.longest:
                self.longest, self.where = now - since, f"{place[0]}-{place[1]} at {offset}"

    def ends_of(self, places, isolation):
        asked = self.admin.list_offsets({place: OffsetSpec.latest() for place in places}, isolation_level=isolation, request_timeout=2)
        return {(place.topic, place.partition): each.result().offset for place, each in asked.items()}
