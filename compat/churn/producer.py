"""Writes numbers to every partition, steadily: the number is the offset. Ends on SIGTERM, when all is acknowledged.

usage: producer.py BOOTSTRAP TOPIC PARTITIONS HISTORY SECONDS_BETWEEN
"""

import json
import signal
import sys
import time

from confluent_kafka import Producer


def main():
    bootstrap, topic, partitions, history, between = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], float(sys.argv[5])
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5})
    is_over = []
    signal.signal(signal.SIGTERM, lambda *_: is_over.append(True))
    with open(history, "a", encoding="utf-8") as file:

        def on_delivery(error, message):
            assert error is None, f"the producer lost a record: {error}"
            line = {"k": "ack", "t": time.monotonic(), "p": message.partition(), "o": message.offset(), "v": int(message.value())}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

        due, number = time.monotonic(), 0
        while not is_over:
            for partition in range(partitions):
                producer.produce(topic, str(number), partition=partition, on_delivery=on_delivery)
            number, due = number + 1, due + between
            while time.monotonic() < due and not is_over:
                producer.poll(max(due - time.monotonic(), 0))
        assert producer.flush(60) == 0, "the input is not written"


main()
