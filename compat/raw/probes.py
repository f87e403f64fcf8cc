"""Requests that no well-behaved client sends, and answers that clients are known to trip over.

    probes.py BOOTSTRAP [--fanlog]

Prints `ok<TAB>NAME` or `failed<TAB>NAME<TAB>WHY` for each probe; ends with 1 if any failed. With --fanlog also what Fanlog
promises beyond (or short of) Apache Kafka. Names that start with a number (p2, p14, ...) are explained in compat/README.md.
"""

import random
import struct
import sys
import time
import uuid

from wire import (
    API_VERSIONS, CREATE_TOPICS, DESCRIBE_GROUPS, FETCH, JOIN_GROUP, METADATA, NO_TAGS, OFFSET_COMMIT, OFFSET_FETCH,
    PRODUCE, SYNC_GROUP, Closed, Connection, Reader, array, batch, batches, compact_array, compact_string, create_topic, data,
    delete_topic, describe_group, fetch, i8, i16, i32, i64, init_producer_id, list_offset, metadata, produce, produce_body, string, uvarint,
)

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


def api_versions(connection, version=0):
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


# Handshake


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


# Connections


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


# Produce


@probe
def p18_a_repeated_idempotent_batch_answers_with_the_first_offset(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        error, producer, epoch = init_producer_id(connection)
        expect(error == 0, f"init producer id: error {error}")
        first = batch([b"a", b"b"], now(), producer, epoch, 0)
        second = batch([b"c"], now(), producer, epoch, 2)
        answers = [produce(connection, topic, 0, sent) for sent in (first, second, first, second)]
        expect(answers == [(0, 0), (0, 2), (0, 0), (0, 2)], f"(error, offset) {answers}")
        expect(list_offset(connection, topic, 0, -1) == (0, 3), "something was appended twice")


@probe
def p19_a_gap_in_the_sequence_is_refused(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        _, producer, epoch = init_producer_id(connection)
        expect(produce(connection, topic, 0, batch([b"a"], now(), producer, epoch, 0))[0] == 0, "the first batch")
        error, _ = produce(connection, topic, 0, batch([b"b"], now(), producer, epoch, 5))
        expect(error == OUT_OF_ORDER, f"error {error}, expected {OUT_OF_ORDER}")


@probe
def p20_an_unknown_producer_may_start_at_any_sequence(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        _, producer, epoch = init_producer_id(connection)
        error, offset = produce(connection, topic, 0, batch([b"a"], now(), producer, epoch, 1234))
        expect((error, offset) == (0, 0), f"error {error}")


@probe
def p21_a_higher_epoch_starts_anew_and_a_lower_one_is_refused(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        _, producer, epoch = init_producer_id(connection)
        expect(produce(connection, topic, 0, batch([b"a"], now(), producer, epoch, 0))[0] == 0, "the first batch")
        bumped = produce(connection, topic, 0, batch([b"b"], now(), producer, epoch + 1, 0))
        expect(bumped == (0, 1), f"epoch + 1: {bumped}")
        error, _ = produce(connection, topic, 0, batch([b"c"], now(), producer, epoch, 1))
        expect(error == OLD_EPOCH, f"the old epoch: error {error}, expected {OLD_EPOCH}")


@probe
def a_batch_with_a_wrong_checksum_is_refused(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        broken = bytearray(batch([b"value"], now()))
        broken[-2] ^= 1
        error, _ = produce(connection, topic, 0, bytes(broken))
        expect(error == CORRUPT, f"error {error}, expected {CORRUPT}")
        expect(list_offset(connection, topic, 0, -1) == (0, 0), "something was appended")


@probe
def p72_a_batch_above_max_message_bytes_is_refused(bootstrap):
    with Topic(bootstrap, configs=[("max.message.bytes", "1000")]) as topic, Connection(bootstrap) as connection:
        error, _ = produce(connection, topic, 0, batch([b"x" * 2000], now()))
        expect(error == TOO_LARGE, f"error {error}, expected {TOO_LARGE}")


@probe
def p69_a_record_without_a_key_is_refused_where_the_topic_is_compacted(bootstrap):
    with Topic(bootstrap, configs=[("cleanup.policy", "compact")]) as topic, Connection(bootstrap) as connection:
        keyless = batch_without_key(b"value")
        error, _ = produce(connection, topic, 0, keyless)
        expect(error == INVALID_RECORD, f"error {error}, expected {INVALID_RECORD}")


def batch_without_key(value):
    from wire import crc32c, varint

    record = i8(0) + varint(0) + varint(0) + varint(-1) + varint(len(value)) + value + varint(0)
    record = varint(len(record)) + record
    stamp = now()
    sealed = i16(0) + i32(0) + i64(stamp) + i64(stamp) + i64(-1) + i16(-1) + i32(-1) + i32(1) + record
    body = i32(-1) + i8(2) + struct.pack(">I", crc32c(sealed)) + sealed
    return i64(0) + i32(len(body)) + body


@probe
def an_impossible_acks_is_refused(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        error, _ = produce(connection, topic, 0, batch([b"x"], now()), acks=2)
        expect(error == INVALID_ACKS, f"error {error}, expected {INVALID_ACKS}")


@probe
def clients_cannot_produce_to_internal_topics(bootstrap):
    with Connection(bootstrap) as connection:
        error, _ = produce(connection, "__consumer_offsets", 0, batch([b"x"], now()))
        expect(error in (INVALID_TOPIC, UNKNOWN_TOPIC), f"error {error}, expected {INVALID_TOPIC}")


# Fetch


@probe
def p8_fetch_of_an_unknown_topic_is_answered_in_the_requests_version(bootstrap):
    for version in range(4, 19):
        with Connection(bootstrap) as connection:
            error = fetch_unknown(connection, version)
            wanted = UNKNOWN_TOPIC_ID if version >= 13 else UNKNOWN_TOPIC
            expect(error == wanted, f"v{version}: error {error}, expected {wanted}")


def fetch_unknown(connection, version):
    """Asks for a topic that is not there, in any version; every byte of the answer must be accounted for."""
    is_flexible = version >= 12
    topic = uuid.uuid4().bytes if version >= 13 else None
    name = f"absent-{uuid.uuid4()}"
    partition = i32(0)
    partition += i32(-1) if version >= 9 else b""
    partition += i64(0)
    partition += i32(-1) if version >= 12 else b""
    partition += i64(-1) if version >= 5 else b""
    partition += i32(1 << 20) + (NO_TAGS if is_flexible else b"")
    many = compact_array if is_flexible else array
    text = compact_string if is_flexible else string
    wanted = (topic if version >= 13 else text(name)) + many([partition]) + (NO_TAGS if is_flexible else b"")
    body = i32(-1) if version <= 14 else b""
    body += i32(0) + i32(1) + i32(1 << 20) + i8(0)
    body += i32(0) + i32(-1) if version >= 7 else b""
    body += many([wanted])
    body += many([]) if version >= 7 else b""
    body += text("") if version >= 11 else b""
    body += NO_TAGS if is_flexible else b""
    answer = connection.ask(FETCH, version, body, is_flexible)
    answer.i32()
    if version >= 7:
        expect(answer.i16() == 0, f"v{version}: an error of the whole answer")
        answer.i32()
    many = answer.compact_array if is_flexible else answer.array

    def aborted():
        answer.i64(), answer.i64()
        return answer.tags() if is_flexible else None

    def one():
        answer.i32()
        error = answer.i16()
        answer.i64(), answer.i64()
        if version >= 5:
            answer.i64()
        many(aborted)
        if version >= 11:
            answer.i32()
        length = answer.uvarint() - 1 if is_flexible else answer.i32()
        answer.take(max(length, 0))
        if is_flexible:
            answer.tags()
        return error

    def one_topic():
        if version >= 13:
            answer.take(16)
        else:
            (answer.compact_string if is_flexible else answer.string)()
        errors = many(one)
        if is_flexible:
            answer.tags()
        return errors

    topics = many(one_topic)
    if is_flexible:
        answer.tags()
    answer.done()
    return topics[0][0]


@probe
def p7_an_empty_partition_is_zero_bytes_and_not_null(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        error, end, records = fetch(connection, topic, 0, 0)
        expect((error, end, records) == (0, 0, b""), f"error {error}, end {end}, records {records!r}")


@probe
def p67_an_offset_inside_a_batch_brings_the_whole_batch(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        produce(connection, topic, 0, batch([b"a0", b"a1"], now()))
        _, _, records = fetch(connection, topic, 0, 1)
        expect([base for base, _, _ in batches(records)] == [0], "not the batch that holds offset 1")


@probe
def p59_the_first_batch_comes_whole_whatever_the_limit(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        produce(connection, topic, 0, batch([b"x" * 5000], now()))
        _, _, records = fetch(connection, topic, 0, 0, max_bytes=10)
        expect(len(list(batches(records))) == 1, f"{len(records)} bytes hold no whole batch")


@probe
def an_offset_past_the_end_is_out_of_range(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        error, _, _ = fetch(connection, topic, 0, 7)
        expect(error == OFFSET_OUT_OF_RANGE, f"error {error}, expected {OFFSET_OUT_OF_RANGE}")


@probe
def a_long_poll_ends_with_the_first_record(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as reader, Connection(bootstrap) as writer:
        wanted = i32(0) + i64(0) + i32(1 << 20)
        body = i32(-1) + i32(10000) + i32(1) + i32(1 << 20) + i8(0) + array([string(topic) + array([wanted])])
        frame, correlation = reader.frame(FETCH, 4, body)
        started = time.monotonic()
        reader.send_raw(frame)
        produce(writer, topic, 0, batch([b"x"], now()))
        reader.receive(correlation)
        waited = time.monotonic() - started
        expect(waited < 5, f"answered after {waited:.1f} s of a poll of 10 s")


@probe
def batches_are_served_byte_for_byte(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        sent = batch([b"a", b"b", b"c"], now())
        produce(connection, topic, 0, sent)
        _, _, records = fetch(connection, topic, 0, 0)
        # Base offset (8 bytes) and leader epoch (4 bytes at 12) are the broker's.
        expect(records[8:12] == sent[8:12] and records[16:] == sent[16:], "LOG-4: the bytes changed")


# Groups and topics


@probe
def p37_a_member_without_an_id_is_given_one_first(bootstrap):
    with Connection(bootstrap) as connection:
        body = string(f"probe-{uuid.uuid4()}") + i32(6000) + i32(6000) + string("") + string(None) + string("consumer")
        answer = connection.ask(JOIN_GROUP, 5, body + array([string("range") + data(b"")]))
        answer.i32()
        error = answer.i16()
        answer.i32(), answer.string(), answer.string()
        member = answer.string()
        expect(error == MEMBER_ID_REQUIRED and member, f"error {error}, member id {member!r}")


def join_body(group, member):
    """The body of JoinGroup v5."""
    body = string(group) + i32(6000) + i32(6000) + string(member) + string(None) + string("consumer")
    return body + array([string("range") + data(b"")])


def join(connection, group, member):
    """JoinGroup v5: (error, generation, member id)."""
    answer = connection.ask(JOIN_GROUP, 5, join_body(group, member))
    answer.i32()
    fields = (answer.i16(), answer.i32(), answer.string(), answer.string(), answer.string())
    return fields[0], fields[1], fields[4]


def join_and_sync(connection, group, member):
    """The generation that the only member of the group is in now."""
    error, generation, member = join(connection, group, member)
    expect(error == 0, f"join: error {error}")
    assignment = array([string(member) + data(b"")])
    answer = connection.ask(SYNC_GROUP, 0, string(group) + i32(generation) + string(member) + assignment)
    error = answer.i16()
    expect(error == 0, f"sync: error {error}")
    return generation


def commit(connection, group, generation, member, topic, offset):
    """OffsetCommit v2: the partition's error."""
    wanted = string(topic) + array([i32(0) + i64(offset) + string("")])
    body = string(group) + i32(generation) + string(member) + i64(-1) + array([wanted])
    answer = connection.ask(OFFSET_COMMIT, 2, body)
    return answer.array(lambda: (answer.string(), answer.array(lambda: (answer.i32(), answer.i16()))))[0][1][0][1]


@probe
def commits_of_another_generation_or_a_stranger_are_refused(bootstrap):
    group = f"probe-{uuid.uuid4()}"
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        _, _, member = join(connection, group, "")
        first = join_and_sync(connection, group, member)
        expect(commit(connection, group, first, member, topic, 1) == 0, "a commit of this generation")
        second = join_and_sync(connection, group, member)
        expect(second == first + 1, f"generations {first}, {second}")
        late = commit(connection, group, first, member, topic, 2)
        expect(late == ILLEGAL_GENERATION, f"GRP-2: the earlier generation: error {late}")
        stranger = commit(connection, group, second, "a stranger", topic, 3)
        expect(stranger == UNKNOWN_MEMBER, f"GRP-2: a stranger: error {stranger}")
        outside = commit(connection, group, -1, "", topic, 4)
        expect(outside == UNKNOWN_MEMBER, f"GRP-2: from outside a group that is not empty: error {outside}")


@probe
def a_member_may_commit_while_the_group_prepares_a_rebalance(bootstrap):
    group = f"probe-{uuid.uuid4()}"
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection, Connection(bootstrap) as other:
        _, _, member = join(connection, group, "")
        generation = join_and_sync(connection, group, member)
        _, _, joiner = join(other, group, "")
        frame, _ = other.frame(JOIN_GROUP, 5, join_body(group, joiner))
        other.send_raw(frame)
        deadline = time.monotonic() + 10
        while describe_group(connection, group)[1] != "PreparingRebalance":
            expect(time.monotonic() < deadline, "the joiner starts no rebalance")
            time.sleep(0.02)
        error = commit(connection, group, generation, member, topic, 7)
        expect(error == 0, f"error {error}")


@probe
def p68_a_commit_from_outside_an_empty_group_keeps_its_metadata(bootstrap):
    group = f"probe-{uuid.uuid4()}"
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        wanted = string(topic) + array([i32(0) + i64(42) + string("as sent")])
        answer = connection.ask(OFFSET_COMMIT, 2, string(group) + i32(-1) + string("") + i64(-1) + array([wanted]))
        topics = answer.array(lambda: (answer.string(), answer.array(lambda: (answer.i32(), answer.i16()))))
        expect(topics[0][1][0][1] == 0, f"commit: error {topics[0][1][0][1]}")
        answer = connection.ask(OFFSET_FETCH, 1, string(group) + array([string(topic) + array([i32(0)])]))
        topics = answer.array(
            lambda: (
                answer.string(),
                answer.array(lambda: (answer.i32(), answer.i64(), answer.string(), answer.i16())),
            )
        )
        answer.done()
        expect(topics[0][1][0] == (0, 42, "as sent", 0), f"fetched {topics[0][1][0]}")


@probe
def an_offset_that_was_never_committed_is_minus_one(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        body = string(f"probe-{uuid.uuid4()}") + array([string(topic) + array([i32(0)])])
        answer = connection.ask(OFFSET_FETCH, 1, body)
        topics = answer.array(
            lambda: (
                answer.string(),
                answer.array(lambda: (answer.i32(), answer.i64(), answer.string(), answer.i16())),
            )
        )
        partition, offset, _, error = topics[0][1][0]
        expect((partition, offset, error) == (0, -1, 0), f"fetched {topics[0][1][0]}")


@probe
def topics_that_exist_and_bad_names_are_refused(bootstrap):
    with Topic(bootstrap) as topic, Connection(bootstrap) as connection:
        expect(create_topic(connection, topic) == 36, "a topic that exists")
        expect(create_topic(connection, "no spaces") == INVALID_TOPIC, "a name with a space")
        expect(create_topic(connection, f"probe-{uuid.uuid4()}", 0) == 37, "no partitions")


@probe
def an_unknown_setting_and_a_bad_value_are_invalid_config(bootstrap):
    with Connection(bootstrap) as connection:
        name = f"probe-{uuid.uuid4()}"
        expect(create_topic(connection, name, 1, [("no.such.setting", "1")]) == 40, "an unknown setting")
        expect(create_topic(connection, name, 1, [("retention.ms", "soon")]) == 40, "a value that is no number")


@fanlog_probe
def replication_above_one_is_refused(bootstrap):
    with Connection(bootstrap) as connection:
        wanted = string(f"probe-{uuid.uuid4()}") + i32(1) + i16(3) + array([]) + array([])
        answer = connection.ask(CREATE_TOPICS, 2, array([wanted]) + i32(15000) + i8(0))
        answer.i32()
        error = answer.array(lambda: (answer.string(), answer.i16(), answer.string()))[0][1]
        expect(error == 38, f"error {error}, expected INVALID_REPLICATION_FACTOR (38)")


@fanlog_probe
def a_transactional_id_is_refused_until_transactions_exist(bootstrap):
    with Connection(bootstrap) as connection:
        error, _, _ = init_producer_id(connection, "some-transactional-id")
        expect(error != 0, "a transactional producer id was handed out")


@fanlog_probe
def the_catalog_topic_is_invisible(bootstrap):
    with Connection(bootstrap) as connection:
        error, _ = metadata(connection, "__fanlog_catalog")
        expect(error in (UNKNOWN_TOPIC, INVALID_TOPIC), f"error {error}")


def main():
    bootstrap = sys.argv[1]
    chosen = PROBES + (FANLOG_PROBES if "--fanlog" in sys.argv else [])
    failed = 0
    for function in chosen:
        name = function.__name__.replace("_", " ")
        try:
            function(bootstrap)
            print(f"ok\t{name}", flush=True)
        except Exception as error:  # a probe that breaks in any way has failed
            failed += 1
            print(f"failed\t{name}\t{type(error).__name__}: {error}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
