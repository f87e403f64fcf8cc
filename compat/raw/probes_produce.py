"""Produce: sequences, checks, refusals."""

import struct

from probing import (
    CORRUPT, INVALID_ACKS, INVALID_RECORD, INVALID_TOPIC, OLD_EPOCH, OUT_OF_ORDER, TOO_LARGE, Topic, UNKNOWN_TOPIC,
    expect, now, probe,
)
from wire import Connection, batch, crc32c, i16, i32, i64, i8, init_producer_id, list_offset, produce, varint


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
