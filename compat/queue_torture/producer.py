"""Publishes messages `first` to `last`, by HTTP in batches or by a Kafka client one after the other, at a rate. Each stands once in the log,
whatever happens to the broker: by its message id, or by the idempotent producer.

usage: producer.py OPTIONS (JSON: way (http or kafka), port, topic, first, last, keys, rate, batch, history, distance)

Events: `send` t, m: [first, last]; `ack` t, m: [number, partition, offset] each; `refused` what.
"""

import json
import sys
import time

from confluent_kafka import Producer

from api import Api, Lost, kind_of
from clock import Clock
from plan import message, value
from writer import Writer

PAUSE_SECONDS = 0.1


class Pace:
    def __init__(self, rate):
        self.rate, self.began, self.count = rate, time.monotonic(), 0

    def wait(self, count, idle=time.sleep):
        self.count += count
        while (early := self.began + self.count / self.rate - time.monotonic()) > 0:
            idle(min(early, 0.1))


def due_of(planned, now):
    """The delay as a header or a field has it: by a time, or from now on."""
    if planned.delay is None:
        return None
    return ("at", int(now + planned.delay)) if planned.delay_is_at else ("after", planned.delay)


class ByHttp:
    def __init__(self, options, write, clock):
        self.options, self.write, self.clock = options, write, clock
        self.api = Api(options["port"])

    def record(self, planned, now):
        record = {"key": planned.key, "value": value(planned), "headers": {"kind": planned.kind}, "message_id": f"m{planned.number}"}
        due = due_of(planned, now)
        if due is not None:
            way, ms = due
            record[f"deliver_{way}"] = f"{ms}ms" if way == "after" else ms
        return record

    def publish(self, first, last):
        planned = [message(number, self.options["keys"]) for number in range(first, last + 1)]
        now = self.clock()
        self.write(k="send", t=now, m=[first, last])
        records = [self.record(one, now) for one in planned]
        while planned:
            try:
                status, answer = self.api.post(f"/v1/topics/{self.options['topic']}/records", {"records": records})
            except Lost:
                time.sleep(PAUSE_SECONDS)
                continue
            results = answer.get("records") or [{"problem": answer}] * len(planned)
            acks, again = [], []
            for one, record, result in zip(planned, records, results):
                if "problem" in result:
                    assert kind_of(result["problem"]) == "unavailable", result
                    again.append((one, record))
                else:
                    acks.append([one.number, result["partition"], result["offset"]])
            self.write(k="ack", t=self.clock(), m=acks)
            planned, records = [one for one, _ in again], [record for _, record in again]
            if again:
                time.sleep(PAUSE_SECONDS)

    def run(self):
        pace, batch = Pace(self.options["rate"]), self.options["batch"]
        for first in range(self.options["first"], self.options["last"] + 1, batch):
            last = min(first + batch - 1, self.options["last"])
            self.publish(first, last)
            pace.wait(last - first + 1)


class ByKafka:
    def __init__(self, options, write, clock):
        self.options, self.write, self.clock = options, write, clock
        settings = {"bootstrap.servers": f"127.0.0.1:{options['port']}", "enable.idempotence": True, "linger.ms": 5, "partitioner": "murmur2_random",
                    "message.timeout.ms": 600_000, "retry.backoff.max.ms": 200, "reconnect.backoff.max.ms": 200}
        self.producer, self.acks = Producer(settings), []

    def on_delivery(self, number):
        def told(error, record):
            assert error is None, f"number {number} was refused: {error}"
            self.acks.append([number, record.partition(), record.offset()])
        return told

    def flush_acks(self, seconds):
        self.producer.poll(seconds)
        if self.acks:
            self.write(k="ack", t=self.clock(), m=self.acks)
            self.acks = []

    def run(self):
        pace, batch = Pace(self.options["rate"]), self.options["batch"]
        for first in range(self.options["first"], self.options["last"] + 1, batch):
            last = min(first + batch - 1, self.options["last"])
            now = self.clock()
            self.write(k="send", t=now, m=[first, last])
            for number in range(first, last + 1):
                self.produce(message(number, self.options["keys"]), now)
            pace.wait(last - first + 1, self.flush_acks)
            while len(self.producer) > 50_000:
                self.flush_acks(0.1)
        deadline = time.monotonic() + 600
        while len(self.producer) and time.monotonic() < deadline:
            self.flush_acks(0.1)
        self.flush_acks(0)
        assert len(self.producer) == 0, "not everything was acknowledged"

    def produce(self, planned, now):
        headers = {"kind": planned.kind}
        due = due_of(planned, now)
        if due is not None:
            headers[f"deliver-{due[0]}"] = str(due[1])
        self.producer.produce(self.options["topic"], value(planned), key=planned.key, headers=headers, on_delivery=self.on_delivery(planned.number))


def main():
    options = json.loads(sys.argv[1])
    way = {"http": ByHttp, "kafka": ByKafka}[options["way"]]
    way(options, Writer(options["history"]), Clock(options["distance"])).run()


if __name__ == "__main__":
    main()
