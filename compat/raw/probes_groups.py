"""Groups, topics, and what Fanlog refuses for now."""

import time
import uuid

from probing import (
    ILLEGAL_GENERATION, INVALID_TOPIC, MEMBER_ID_REQUIRED, Topic, UNKNOWN_MEMBER, UNKNOWN_TOPIC, expect,
    fanlog_probe, probe,
)
from wire import (
    CREATE_TOPICS, Connection, JOIN_GROUP, OFFSET_COMMIT, OFFSET_FETCH, SYNC_GROUP, array, create_topic, data,
    describe_group, i16, i32, i64, i8, init_producer_id, metadata, string,
)


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
def the_catalog_topic_is_invisible(bootstrap):
    with Connection(bootstrap) as connection:
        error, _ = metadata(connection, "__fanlog_catalog")
        expect(error in (UNKNOWN_TOPIC, INVALID_TOPIC), f"error {error}")
