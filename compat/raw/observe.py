"""What the runner wants to know without a client library in between.

    observe.py codecs BOOTSTRAP TOPIC             the codecs of the stored batches
    observe.py ready BOOTSTRAP TOPIC COUNT        waits until the topic's partitions can be asked for their ends
    observe.py members BOOTSTRAP GROUP COUNT      waits until the group is stable with COUNT members (0: empty)
"""

import sys
import time

from wire import Closed, Connection, batches, describe_consumer_group, describe_group, fetch, list_offset, metadata

# A member of the new protocol that is lost is noticed after 45 s (group.consumer.session.timeout.ms).
TIMEOUT = 90
NO_SUCH_GROUP = 69


def codecs(bootstrap, topic):
    found = set()
    with Connection(bootstrap) as connection:
        error, partitions = metadata(connection, topic)
        if error:
            sys.exit(f"metadata of {topic}: error {error}")
        for partition in partitions:
            offset = end = 0
            while offset < end or offset == 0:
                error, end, records = fetch(connection, topic, partition, offset)
                if error or (offset < end and not records):
                    sys.exit(f"fetch {topic}-{partition} at {offset}: error {error}, {len(records or b'')} bytes")
                if not records:
                    break
                for _, codec, last in batches(records):
                    found.add(codec)
                    offset = last + 1
    print(" ".join(sorted(found)))


def ready(bootstrap, topic, count):
    """Apache Kafka answers CreateTopics before every partition serves; Fanlog must not need this."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        with Connection(bootstrap) as connection:
            error, partitions = metadata(connection, topic)
            errors = [list_offset(connection, topic, p, -1)[0] for p in partitions]
        if not error and len(partitions) == int(count) and not any(errors):
            return
        if time.monotonic() > deadline:
            sys.exit(f"topic {topic}: error {error}, partitions {partitions} with errors {errors}")
        time.sleep(0.1)


def members(bootstrap, group, count):
    count = int(count)
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            with Connection(bootstrap) as connection:
                seen = describe_group(connection, group)
                if seen[1] == "Dead":
                    error, state, found = describe_consumer_group(connection, group)
                    seen = seen if error == NO_SUCH_GROUP else (error, state, found)
        except (Closed, OSError) as error:
            seen = (error, "?", [])
        error, state, found = seen
        wanted_states = ("Stable",) if count else ("Empty", "Dead")
        if not error and state in wanted_states and len(found) == count:
            return
        if time.monotonic() > deadline:
            sys.exit(f"group {group}: wanted {count} members, saw error {error}, {state}, {len(found)} members")
        time.sleep(0.1)


if __name__ == "__main__":
    {"codecs": codecs, "ready": ready, "members": members}[sys.argv[1]](*sys.argv[2:])
