"""A producer that writes down every send and every answer until SIGTERM.

A session is one life of the library's producer; a new one begins only after a fatal error. Sends never time out, so an
answer is final: acknowledged, or failed in a way that the history tells definite from indefinite.
With acks=all it is idempotent. With acks=1 and acks=0 it sends each value once, so that no copy of it may appear.
"""

import argparse
import signal
import sys
import time

from confluent_kafka import KafkaError, KafkaException, Producer

from . import values
from .history import History

# Never left this process: no broker can have stored it. What a fatal error purges from the queue may have been sent before, and wait for a
# second try.
DEFINITE = {KafkaError._QUEUE_FULL, KafkaError.MSG_SIZE_TOO_LARGE, KafkaError._INVALID_ARG}
FLUSH_SECONDS = 120


class Load:
    def __init__(self, args):
        self.args = args
        self.history = History(args.history, args.name, "producer", acks=args.acks)
        self.session = 0
        self.stopping = False
        self.fatal = False
        signal.signal(signal.SIGTERM, self.stop)

    def stop(self, *_):
        self.stopping = True

    def connect(self):
        return Producer({
            "bootstrap.servers": self.args.bootstrap,
            "client.id": self.args.name,
            **self.promises(),
            "linger.ms": 5,
            "compression.type": self.args.compression,
            "message.timeout.ms": 0,
            "reconnect.backoff.max.ms": 500,
            "retry.backoff.max.ms": 500,
            "socket.timeout.ms": 10_000,
            "queue.buffering.max.messages": 2_000,
            "log_level": 0,
            "error_cb": self.on_error,
        })

    def promises(self):
        if self.args.acks == "all":
            return {"enable.idempotence": True, "acks": "all"}
        return {"acks": self.args.acks, "message.send.max.retries": 0}

    def on_error(self, error):
        """Only fatal ones matter: the rest the library gets over by itself."""
        if error.fatal() and not self.fatal:
            self.fatal = True
            self.history.write("fatal", e=error.str())

    def on_delivery(self, name):
        def answered(error, message):
            partition = message.partition()
            if error is None and self.args.acks == "0":
                self.history.write("gone", p=partition, v=name)
                return
            if error is None:
                self.history.write("ack", p=partition, v=name, o=message.offset())
                return
            self.history.write("fail", p=partition, v=name, e=error.name(), definite=error.code() in DEFINITE)
        return answered

    def run(self):
        left = 0
        while not self.stopping:
            left = self.run_session()
            self.session += 1
        self.history.close()
        return 1 if left else 0

    def run_session(self):
        self.fatal = False
        producer = self.connect()
        number = 0
        while not self.stopping and not self.fatal:
            due = time.monotonic() + 1 / self.args.rate
            number += self.send(producer, number)
            self.poll_until(producer, due)
            self.history.flush()
        if self.fatal:
            print(f"{self.args.name}: fatal error, a new session begins", file=sys.stderr, flush=True)
            producer.purge()
        left = producer.flush(FLUSH_SECONDS)
        if left:
            print(f"{self.args.name}: {left} sends without an answer", file=sys.stderr, flush=True)
        return left

    def poll_until(self, producer, due):
        while not self.fatal:
            left = due - time.monotonic()
            try:
                # Comes back after each answer.
                producer.poll(max(0.0, left))
            except KafkaException as error:
                # Fatal ones come this way, too.
                self.on_error(error.args[0])
            if left <= 0:
                return

    def send(self, producer, number):
        """Sends the value of this number; whether the library took it."""
        name = f"{self.args.name}.{self.session}:{number}"
        partition = values.partition_of(name, self.args.partitions)
        try:
            producer.produce(self.args.topic, values.make(name), name.encode(), partition,
                             on_delivery=self.on_delivery(name))
        except BufferError:
            # Full, because the broker is away. The number is used for the next try: this one was never sent.
            return 0
        except KafkaException as error:
            self.on_error(error.args[0])
            return 0
        self.history.write("send", p=partition, v=name)
        return 1


def main():
    parser = argparse.ArgumentParser()
    for name in ("name", "bootstrap", "topic", "history", "compression", "acks"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--partitions", type=int, required=True)
    parser.add_argument("--rate", type=float, required=True)
    sys.exit(Load(parser.parse_args()).run())


if __name__ == "__main__":
    main()
