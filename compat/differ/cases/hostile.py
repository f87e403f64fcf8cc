"""What no client should send: is it answered, or is the connection closed?"""

import struct

from session import CLOSED, SILENT
from wire import i16, i32, string

FRAME_TOO_LARGE = 200 * 1024 * 1024


def header(key, version, correlation=7, flexible=False):
    return i16(key) + i16(version) + i32(correlation) + string("differ") + (b"\0" if flexible else b"")


def outcome(side, api, version, note, frame):
    """CLOSED, SILENT, or "an answer"; the answer itself is compared elsewhere."""
    link = side.link("hostile")
    link.send_frame(frame)
    answer = link.receive_frame(10)
    side.note(api, version, note, answer if answer in (CLOSED, SILENT) else "an answer")
    side.drop("hostile")


def unknown_apis(side):
    known = {api.key for api in side.apis.values()}
    for key in (-1, 4, 5, 6, 7, 95, 500, 32767):
        assert key not in known
        outcome(side, "ApiVersions", 0, f"key {key}", header(key, 0))


def unknown_versions(side):
    for api in side.apis.values():
        low, high = api.request.versions
        for version in (low - 1, high + 1, 99, 32767, -1):
            if api.name == "ApiVersions" and version > high:
                frame = header(api.key, version, flexible=True)
                side.ask_frame(api.name, version, frame, f"version {version}", on="versions")
            elif (api.name, version) != ("InitProducerId", 6):
                outcome(side, api.name, version, f"version {version}", header(api.key, version, flexible=True))


def cut_off_bodies(side):
    for api in side.apis.values():
        for version in api.versions():
            flexible = api.request.is_flexible(version)
            body = api.request.encode(version, {})
            frame = header(api.key, version, flexible=flexible)
            if api.name == "ApiVersions" and version < 3:
                continue  # it has no body
            outcome(side, api.name, version, "no body", frame)
            outcome(side, api.name, version, "the last byte is missing", frame + body[:-1])


def bytes_behind_the_body(side):
    for api in side.apis.values():
        if api.name in ("Produce", "JoinGroup", "SyncGroup", "Fetch"):
            continue  # their empty requests are cases of their own
        for version in api.versions():
            flexible = api.request.is_flexible(version)
            frame = header(api.key, version, flexible=flexible) + api.request.encode(version, {}) + b"junk"
            outcome(side, api.name, version, "bytes behind it", frame)


def headers(side):
    outcome(side, "ApiVersions", 0, "empty frame", b"")
    outcome(side, "ApiVersions", 0, "one byte", b"\0")
    outcome(side, "ApiVersions", 0, "key only", i16(18))
    outcome(side, "ApiVersions", 0, "no client id", i16(18) + i16(0) + i32(1))
    outcome(side, "ApiVersions", 0, "null client id", i16(18) + i16(0) + i32(1) + i16(-1))
    outcome(side, "ApiVersions", 0, "client id longer than the frame", i16(18) + i16(0) + i32(1) + i16(500) + b"x")
    outcome(side, "ApiVersions", 0, "client id of length -2", i16(18) + i16(0) + i32(1) + i16(-2))
    outcome(side, "ApiVersions", 0, "client id that is no UTF-8", i16(18) + i16(0) + i32(1) + i16(1) + b"\xff")
    outcome(side, "ApiVersions", 0, "negative correlation id", header(18, 0, -5))
    outcome(side, "Metadata", 9, "tags cut off", i16(3) + i16(9) + i32(1) + string("x") + b"\x01")
    outcome(side, "Metadata", 9, "unknown tag", i16(3) + i16(9) + i32(1) + string("x") + b"\x01\x50\x01x" + b"\x01\0\0\0\0")
    outcome(side, "Metadata", 9, "tag number twice", i16(3) + i16(9) + i32(1) + string("x") + b"\x02\x50\0\x50\0" + b"\x01\0\0\0\0")
    for size in (-1, -(2**31), FRAME_TOO_LARGE, 2**31 - 1):
        link = side.link("size")
        try:
            link.socket.sendall(struct.pack(">i", size) + b"\0" * 16)
        except OSError:
            pass
        answer = link.receive_frame(10)
        side.note("ApiVersions", 0, f"frame size {size}", answer if answer in (CLOSED, SILENT) else "an answer")
        side.drop("size")


def arrays(side):
    huge = i32(2**31 - 1)
    outcome(side, "Metadata", 0, "an array of 2^31-1", header(3, 0) + huge)
    outcome(side, "Metadata", 0, "an array of -1", header(3, 0) + i32(-1))
    outcome(side, "Metadata", 1, "an array of -2", header(3, 1) + i32(-2))
    outcome(side, "Metadata", 9, "a compact array of 2^32-2", header(3, 9, flexible=True) + b"\xff\xff\xff\xff\x0f")
    outcome(side, "Metadata", 9, "a varint that never ends", header(3, 9, flexible=True) + b"\xff" * 12)
    outcome(side, "Metadata", 1, "a null name", header(3, 1) + i32(1) + i16(-1))
    outcome(side, "Metadata", 1, "a name that is no UTF-8", header(3, 1) + i32(1) + i16(2) + b"\xff\xfe")
    outcome(side, "ListGroups", 4, "a null array that may not be", header(16, 4, flexible=True) + b"\0\0")
    outcome(side, "Heartbeat", 0, "a null group", header(12, 0) + i16(-1) + i32(1) + string("m"))
    outcome(side, "Metadata", 4, "a boolean of 2", header(3, 4) + i32(0) + b"\x02")


def pipelined(side):
    """Answers keep the order of requests."""
    topic = side.topic("t")
    link = side.link("pipe")
    api = side.apis
    wanted = {"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": 1000}
    slow = {"MaxWaitMs": 300, "MinBytes": 1, "MaxBytes": 1000, "Topics": [{"Topic": topic, "Partitions": [wanted]}]}
    sent = [
        link.send(api["Fetch"], 4, slow),
        link.send(api["ApiVersions"], 0, {}),
        link.send(api["Metadata"], 1, {"Topics": [{"Name": topic}]}),
        link.send(api["Heartbeat"], 0, {"GroupId": "none", "MemberId": "m", "GenerationId": 1}),
    ]
    answers = [link.receive(each) for each in sent]
    side.note("Fetch", 4, "pipelined", [isinstance(each, dict) for each in answers])


CASES = [unknown_apis, unknown_versions, cut_off_bodies, bytes_behind_the_body, headers, arrays, pipelined]
