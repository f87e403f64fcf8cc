"""The flash sale of an online shop: what publish/subscribe over one durable log must do, seen from outside.

Each order yields `placed`, then `paid` or `cancelled`, under one key. Four groups consume (inventory, payments,
warehouse, email); email is held to a small rate; a payments consumer is killed in mid-batch; fraud joins late and
replays from the start. Consumers write what they did to files; the summary is computed from those files alone.
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

PARTITIONS = 6
BATCH = 100
GROUPS = ("inventory", "payments", "warehouse", "email")


def order_event(order, kind):
    event = {"order": order, "event": kind, "at": time.time(), "customer": f"customer-{hash(order) % 5000}",
             "lines": [{"sku": f"sku-{i}", "quantity": 1 + i, "cents": 995 * (i + 1)} for i in range(8)]}
    text = json.dumps(event)
    return text[:-1] + f', "note": "{"x" * max(0, 1000 - len(text))}"}}'


class Effects:
    """What one consumer did: a line a delivery, on disk before its offset is committed."""

    def __init__(self, folder, group, member):
        self.folder, self.group = folder, group
        self.file = open(folder / f"{group}-{member}.jsonl", "a", encoding="utf-8")

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")

    def flush(self):
        self.file.flush()
        os.fsync(self.file.fileno())


def read_effects(folder, group):
    for path in sorted(folder.glob(f"{group}-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def consume(bootstrap, topic, folder, group, member, rate, dies, stop):
    """One consumer: process a batch, write its effects, commit. `dies`: it kills itself inside a batch."""
    effects = Effects(folder, group, member)
    charged = set()

    def on_assign(_, __):
        # The dedup table: orders that this group has charged already, whoever did it.
        charged.update(line["order"] for line in read_effects(folder, group) if line.get("charge"))

    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "client.id": f"{group}-{member}",
                         "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 6000})
    consumer.subscribe([topic], on_assign=on_assign)
    seen = 0
    while not stop.is_set():
        messages = [m for m in consumer.consume(BATCH if not rate else max(1, rate // 5), 0.2) if not m.error()]
        for message in messages:
            event = json.loads(message.value())
            charge = group == "payments" and event["event"] == "paid" and event["order"] not in charged
            if charge:
                charged.add(event["order"])
            effects.write(order=event["order"], event=event["event"], partition=message.partition(),
                          offset=message.offset(), charge=charge)
            seen += 1
            if dies and seen == 3 * BATCH // 2:
                effects.flush()
                os.kill(os.getpid(), signal.SIGKILL)
            if rate:
                time.sleep(1 / rate)
        effects.flush()
        if messages:
            try:
                consumer.commit(asynchronous=False)
            except Exception as error:  # a rebalance took the partitions: the next owner does these again
                print(f"{group}-{member}: commit refused ({error}); its batch will be delivered again", flush=True)
    consumer.close()


class Shop:
    """The publisher, and what it was promised."""

    def __init__(self, bootstrap, topic):
        self.topic, self.acknowledged, self.latencies, self.failed = topic, {}, [], 0
        self.producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1,
                                  "partitioner": "murmur2_random"})

    def publish(self, order, kind):
        begun = time.monotonic()

        def acknowledged(error, message):
            if error:
                self.failed += 1
            else:
                self.latencies.append(time.monotonic() - begun)
                self.acknowledged[(message.partition(), message.offset())] = (order, kind)

        self.producer.produce(self.topic, order_event(order, kind), key=order, on_delivery=acknowledged)

    def run(self, per_second, seconds, every_second):
        """`per_second` orders: placed now, settled two seconds later."""
        begun, number, settle = time.monotonic(), 0, collections.deque()
        second, over = 0, threading.Event()
        # Acknowledgements are taken in by a thread of their own, so that nothing else here delays them.
        poller = threading.Thread(target=lambda: [self.producer.poll(0.05) for _ in iter(over.is_set, True)])
        poller.start()
        while (elapsed := time.monotonic() - begun) < seconds or settle:
            while elapsed < seconds and number < elapsed * per_second:
                number += 1
                order = f"order-{number:07}"
                self.publish(order, "placed")
                settle.append((elapsed + 2, order))
            while settle and settle[0][0] <= elapsed:
                order = settle.popleft()[1]
                self.publish(order, "cancelled" if random.random() < 0.1 else "paid")
            time.sleep(0.002)
            if elapsed >= second + 1:
                second += 1
                every_second(second)
        self.producer.flush(60)
        over.set()
        poller.join()


def lag_of(bootstrap, topic, group):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    partitions = [TopicPartition(topic, p) for p in range(PARTITIONS)]
    lag = 0
    for at in consumer.committed(partitions, timeout=10):
        low, high = consumer.get_watermark_offsets(at, timeout=10)
        lag += high - (at.offset if at.offset >= 0 else low)
    consumer.close()
    return lag


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000 if ordered else float("nan")


def summary(shop, folder, groups):
    """Computed from the consumers' files; returns the promises that were broken."""
    broken = []
    events = set(shop.acknowledged.values())
    print(f"\nacknowledged {len(events)} events, failed {shop.failed}, "
          f"acknowledgement p50 {percentile(shop.latencies, .5):.1f} ms, p99 {percentile(shop.latencies, .99):.1f} ms")
    repeated_everywhere = 0
    for group in groups:
        lines = list(read_effects(folder, group))
        deliveries = collections.Counter((line["partition"], line["offset"]) for line in lines)
        lost = len(set(shop.acknowledged) - set(deliveries))
        repeated = sum(deliveries.values()) - len(deliveries)
        repeated_everywhere += repeated
        first = {}
        for line in lines:
            first.setdefault(line["order"], {}).setdefault(line["event"], (line["partition"], line["offset"]))
        misplaced = sum(1 for seen in first.values() if "placed" in seen
                        and any(at[0] != seen["placed"][0] or at[1] < seen["placed"][1] for at in seen.values()))
        print(f"{group:10} lost {lost}  repeated {repeated}  order violations {misplaced}")
        if lost or misplaced:
            broken.append(f"{group}: lost {lost}, order violations {misplaced}")
    charges = collections.Counter(line["order"] for line in read_effects(folder, "payments") if line["charge"])
    paid = {order for order, kind in events if kind == "paid"}
    print(f"charges per paid order: {sorted(set(charges.values())) or 'none'} for {len(charges)} of {len(paid)} paid orders")
    if set(charges) != paid or set(charges.values()) - {1}:
        broken.append("an order was not charged exactly once")
    if repeated_everywhere == 0:
        broken.append("the killed consumer's batch was not delivered again")
    if shop.failed:
        broken.append(f"{shop.failed} events were not acknowledged")
    return broken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap", default="127.0.0.1:9092")
    parser.add_argument("--orders-per-second", type=int, default=100)
    parser.add_argument("--email-per-second", type=int, default=60)
    parser.add_argument("--seconds", type=int, default=20)
    args = parser.parse_args()
    run = f"{os.getpid()}-{int(time.time())}"
    topic = f"flash-sale-{run}"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flash-sale-"))
    admin = AdminClient({"bootstrap.servers": args.bootstrap})
    for future in admin.create_topics([NewTopic(topic, PARTITIONS, 1)]).values():
        future.result(30)

    stop = multiprocessing.Event()
    workers = []

    def start(group, member, rate=0, dies=False):
        worker = multiprocessing.Process(target=consume, daemon=True, args=(
            args.bootstrap, topic, folder, group, member, rate, dies, stop))
        worker.start()
        workers.append(worker)

    for group in GROUPS:
        start(group, 1, rate=args.email_per_second if group == "email" else 0)
    start("payments", 2, dies=True)
    groups = list(GROUPS)

    def every_second(second):
        if second == args.seconds // 2:
            groups.append("fraud")
            start("fraud", 1)
        lags = "  ".join(f"{g} {lag_of(args.bootstrap, topic, g):5}" for g in groups) if second % 2 == 0 else ""
        print(f"{second:3} s  acknowledged {len(shop.acknowledged):6}  "
              f"p99 {percentile(shop.latencies[-1000:], .99):6.1f} ms  {lags and 'lag: ' + lags}", flush=True)

    shop = Shop(args.bootstrap, topic)
    shop.run(args.orders_per_second, args.seconds, every_second)
    print("the sale is over; the backlogs drain", flush=True)
    deadline = time.monotonic() + 60 + 2 * len(shop.acknowledged) / args.email_per_second
    while any(lag_of(args.bootstrap, topic, g) for g in groups) and time.monotonic() < deadline:
        time.sleep(0.5)
    stop.set()
    for worker in workers:
        worker.join(20)
    broken = summary(shop, folder, groups)
    if broken:
        print("BROKEN: " + "; ".join(broken))
        print(f"what the consumers wrote lies in {folder}")
        return 1
    shutil.rmtree(folder)
    print("all promises held")
    return 0


if __name__ == "__main__":
    sys.exit(main())
