"""What the probes share: how they are declared, a topic of their own, the error codes they look for."""

import time
import uuid

from wire import API_VERSIONS, PRODUCE, Connection, create_topic, delete_topic, list_offset

UNKNOWN_TOPIC, CORRUPT, TOO_LARGE, INVALID_TOPIC, INVALID_ACKS = 3, 2, 10, 17, 21
UNSUPPORTED_VERSION, OUT_OF_ORDER, OLD_EPOCH, MEMBER_ID_REQUIRED, UNKNOWN_TOPIC_ID = 35, 45, 47, 79, 100
INVALID_RECORD, OFFSET_OUT_OF_RANGE, ILLEGAL_GENERATION, UNKNOWN_MEMBER = 87, 1, 22, 25

PROBES = []
FANLOG_PROBES = []


def probe(function):
    PROBES.append(function)
    return function


def fanlog_probe(function):
    FANLOG_PROBES.append(function)
    return function


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def now():
    return int(time.time() * 1000)


class Topic:
    """A topic of its own for one probe, gone afterwards."""

    def __init__(self, bootstrap, partitions=1, configs=()):
        self.bootstrap = bootstrap
        self.name = f"probe-{uuid.uuid4()}"
        self.partitions = partitions
        self.configs = configs

    def __enter__(self):
        with Connection(self.bootstrap) as connection:
            error = create_topic(connection, self.name, self.partitions, self.configs)
            expect(error == 0, f"create topic: error {error}")
            deadline = time.monotonic() + 20
            while any(list_offset(connection, self.name, p, -1)[0] for p in range(self.partitions)):
                expect(time.monotonic() < deadline, "the topic does not serve")
                time.sleep(0.05)
        return self.name

    def __exit__(self, *_):
        with Connection(self.bootstrap) as connection:
            delete_topic(connection, self.name)


def api_versions(connection):
    """ApiVersions v0: {key: (min, max)}."""
    answer = connection.ask(API_VERSIONS, 0, b"")
    error = answer.i16()
    ranges = {key: (low, high) for key, low, high in answer.array(lambda: (answer.i16(), answer.i16(), answer.i16()))}
    answer.done()
    expect(error == 0, f"error {error}")
    return ranges


def still_serves(bootstrap):
    with Connection(bootstrap) as connection:
        expect(PRODUCE in api_versions(connection), "the broker no longer serves")
