"""Handshake, connections and frames."""

import random
import time
import uuid

from probing import Topic, UNSUPPORTED_VERSION, api_versions, expect, now, probe, still_serves
from wire import (
    API_VERSIONS, CREATE_TOPICS, Closed, Connection, DESCRIBE_GROUPS, FETCH, METADATA, NO_TAGS, PRODUCE, array,
    batch, compact_array, compact_string, i16, i32, i64, i8, list_offset, metadata, produce_body, string,
)


@probe
def p2_api_versions_of_a_future_version_is_answered_in_version_0(bootstrap):
    with Connection(bootstrap) as connection:
        body = compact_string("raw") + compact_string("1") + NO_TAGS
        answer = connection.ask(API_VERSIONS, 99, body, is_flexible=True, has_flexible_header=False)
        error = answer.i16()
        ranges = answer.array(lambda: (answer.i16(), answer.i16(), answer.i16()))
        answer.done()
        expect(error == UNSUPPORTED_VERSION, f"error {error}, expected 35")
        expect(any(key == API_VERSIONS for key, _, _ in ranges), "its own range is not in the answer")
        expect(PRODUCE in api_versions(connection), "the connection does not go on")


@probe
def p1_api_versions_3_has_a_version_0_header_and_no_tag_with_its_default(bootstrap):
    with Connection(bootstrap) as connection:
        body = compact_string("raw") + compact_string("1") + NO_TAGS
        answer = connection.ask(API_VERSIONS, 3, body, is_flexible=True, has_flexible_header=False)
        expect(answer.i16() == 0, "an error")

        def one():
            fields = (answer.i16(), answer.i16(), answer.i16())
            answer.tags()
            return fields

        keys = answer.compact_array(one)
        answer.i32()
        tags = answer.tags()
        answer.done()
        expect(len(keys) > 30, f"only {len(keys)} keys")
        defaults = {0: b"\x01", 1: i64(-1), 2: b"\x01", 3: b"\x00"}
        written = [tag for tag, value in tags.items() if defaults.get(tag) == value]
        expect(not written, f"tags {written} are written with their defaults")


@probe
def p3_produce_is_advertised_from_version_0(bootstrap):
    with Connection(bootstrap) as connection:
        ranges = api_versions(connection)
    expect(ranges[PRODUCE] == (0, 13), f"Produce is advertised as {ranges[PRODUCE]}")
    expect(ranges[FETCH][0] == 4 and ranges[FETCH][1] >= 18, f"Fetch is advertised as {ranges[FETCH]}")


@probe
def an_unknown_api_key_closes_the_connection(bootstrap):
    with Connection(bootstrap) as connection:
        frame, _ = connection.frame(999, 0, b"")
        connection.send_raw(frame)
        expect(connection.is_closed(), "the connection stays open")
    still_serves(bootstrap)


@probe
def an_unknown_version_closes_the_connection(bootstrap):
    with Connection(bootstrap) as connection:
        frame, _ = connection.frame(METADATA, 99, array([]) + i8(0))
        connection.send_raw(frame)
        expect(connection.is_closed(), "the connection stays open")
    still_serves(bootstrap)


@probe
def apis_between_brokers_are_not_advertised(bootstrap):
    with Connection(bootstrap) as connection:
        ranges = api_versions(connection)
    internal = [key for key in (4, 5, 6, 7, 52, 53, 54, 56, 58, 62, 63) if key in ranges]
    expect(not internal, f"keys {internal} are advertised to clients")


@probe
def answers_come_in_the_order_of_the_requests(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        frames, wanted = b"", []
        for number in range(20):
            if number % 2:
                frame, correlation = connection.frame(API_VERSIONS, 0, b"")
            else:
                body = produce_body(topic, 0, batch([b"%d" % number], now()))
                frame, correlation = connection.frame(PRODUCE, 3, body)
            frames += frame
            wanted.append(correlation)
        connection.send_raw(frames)
        for correlation in wanted:
            connection.receive(correlation)


@probe
def a_frame_that_arrives_byte_by_byte_is_answered(bootstrap):
    with Connection(bootstrap) as connection:
        frame, correlation = connection.frame(API_VERSIONS, 0, b"")
        for at in range(len(frame)):
            connection.send_raw(frame[at : at + 1])
        connection.receive(correlation)


@probe
def p14_acks_0_is_not_answered_and_later_answers_flow(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        for number in range(3):
            body = produce_body(topic, 0, batch([b"%d" % number], now()), acks=0)
            frame, _ = connection.frame(PRODUCE, 3, body)
            connection.send_raw(frame)
        expect(metadata(connection, topic)[0] == 0, "metadata after acks=0")
        # Visible once durable, which nobody waited for.
        deadline = time.monotonic() + 10
        while (seen := list_offset(connection, topic, 0, -1)) != (0, 3):
            expect(time.monotonic() < deadline, f"error {seen[0]}, end {seen[1]}, expected 3 records")
            time.sleep(0.02)


@probe
def p14_acks_0_to_an_unknown_topic_closes_the_connection(bootstrap):
    with Connection(bootstrap) as connection:
        body = produce_body(f"absent-{uuid.uuid4()}", 0, batch([b"x"], now()), acks=0)
        frame, _ = connection.frame(PRODUCE, 3, body)
        connection.send_raw(frame)
        expect(connection.is_closed(), "an error that acks=0 cannot tell must close the connection")


@probe
def an_oversized_frame_closes_the_connection(bootstrap):
    for size in (0x7FFFFFFF, 200 * 1024 * 1024, -1, -0x80000000):
        with Connection(bootstrap) as connection:
            connection.send_raw(i32(size) + b"\0" * 64)
            expect(connection.is_closed(), f"a frame of {size} bytes leaves the connection open")
    still_serves(bootstrap)


@probe
def p10_declared_array_lengths_do_not_drive_allocation(bootstrap):
    bodies = [
        (METADATA, 4, i32(0x7FFFFFFF)),
        (CREATE_TOPICS, 2, i32(0x7FFFFFFF)),
        (DESCRIBE_GROUPS, 0, i32(0x7FFFFFFF)),
        (FETCH, 4, i32(-1) + i32(0) + i32(1) + i32(1 << 20) + i8(0) + i32(0x7FFFFFFF)),
        (PRODUCE, 3, string(None) + i16(-1) + i32(1000) + i32(0x7FFFFFFF)),
    ]
    for key, version, body in bodies:
        with Connection(bootstrap) as connection:
            frame, _ = connection.frame(key, version, body)
            connection.send_raw(frame)
            expect(connection.is_closed(), f"key {key}: a broken body leaves the connection open")
    still_serves(bootstrap)


@probe
def malformed_frames_leave_the_broker_serving(bootstrap):
    source = random.Random(20261130)
    for _ in range(300):
        with Connection(bootstrap, timeout=5) as connection:
            key, version = source.choice([0, 1, 2, 3, 8, 9, 10, 11, 18, 19, 32, 44]), source.randint(0, 8)
            body = source.randbytes(source.randint(0, 200))
            frame, _ = connection.frame(key, version, body, is_flexible=source.random() < 0.5)
            if source.random() < 0.3:
                frame = frame[: source.randint(1, len(frame))]
            try:
                connection.send_raw(frame)
            except Closed:
                pass
    still_serves(bootstrap)


@probe
def a_connection_that_closes_in_mid_frame_leaves_the_broker_serving(bootstrap):
    for _ in range(50):
        with Connection(bootstrap) as connection:
            connection.send_raw(i32(1 << 20) + b"\0" * 100)
    still_serves(bootstrap)
