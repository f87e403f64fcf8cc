"""Record batches taken apart, for comparison field by field; compressed records stay as they are."""

import hashlib
import struct

from wire import Reader

HEADER = struct.Struct(">qiibIhiqqqhii")


def read(blob):
    """Each batch of an answer as a dict; what is left over of a batch that was cut off counts as such."""
    found, at = [], 0
    while at < len(blob):
        if len(blob) - at < HEADER.size:
            found.append({"CutOffBytes": len(blob) - at})
            break
        base, length, epoch, magic, crc, attributes, last, first_time, max_time, producer, producer_epoch, sequence, count = (
            HEADER.unpack_from(blob, at)
        )
        end = at + 12 + length
        if end > len(blob):
            found.append({"CutOffBytes": len(blob) - at})
            break
        payload = blob[at + HEADER.size : end]
        found.append(
            {
                "BaseOffset": base, "BatchLength": length, "PartitionLeaderEpoch": epoch, "Magic": magic,
                "Attributes": attributes, "LastOffsetDelta": last, "BaseTimestamp": first_time, "MaxTimestamp": max_time,
                "ProducerId": producer, "ProducerEpoch": producer_epoch, "BaseSequence": sequence, "Count": count,
                "Payload": records(payload, count, attributes & 32) if attributes & 7 == 0 else hashlib.sha256(payload).hexdigest(),
            }
        )
        at = end
    return found


def records(payload, count, is_control=False):
    reader, out = Reader(payload), []
    for _ in range(count):
        reader.varint()
        attributes, time, offset = reader.i8(), reader.varint(), reader.varint()
        key, value = blob(reader), blob(reader)
        if is_control and value:
            value = value[:2]  # the coordinator's epoch follows
        headers = [(blob(reader), blob(reader)) for _ in range(reader.varint())]
        out.append(f"{offset} {time:+} {attributes} {key} {value} {headers}")
    return out


def blob(reader):
    length = reader.varint()
    return None if length < 0 else reader.take(length)
