"""Messages by the notation of `schemas/` (its README explains it): a dict with Kafka's field names, to bytes and back, in any version.

Why it exists: the runner has to say everything that a client could, and to see every field of what comes back. It shares the
schemas with the broker's own codec, but no code, so that a mistake in either shows.
"""

import pathlib
import re
import struct
import uuid

NUMBERS = {"int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q", "float64": ">d"}
ALWAYS = (0, 1 << 15)


def span(text, bound):
    """The versions that `4-14`, `11+` or `3` names, within `bound`."""
    low, dash, high = text.rstrip("+").partition("-")
    top = bound[1] if text.endswith("+") else int(high if dash else low)
    return max(int(low), bound[0]), min(top, bound[1])


def within(version, versions):
    return versions is not None and versions[0] <= version <= versions[1]


class Field:
    def __init__(self, words, bound):
        self.name, kind, *rest = words
        kind, mark, nullable = kind.partition("?")
        self.versions = bound
        if rest and rest[0][0].isdigit():
            self.versions = span(rest.pop(0), bound)
        self.nullable = (span(nullable, self.versions) if nullable else self.versions) if mark else None
        self.is_array = kind.startswith("[]")
        self.kind = kind.removeprefix("[]")
        self.default = self.zero()
        self.tag = None
        self.is_legacy = "legacy" in rest
        if "=" in rest:
            self.default = self.literal(rest[rest.index("=") + 1])
        if "tag" in rest:
            self.tag = int(rest[rest.index("tag") + 1])

    def has_null_mark(self):
        """A byte says whether the structure is there."""
        return self.nullable is not None and not self.is_array and self.tag is None

    def literal(self, text):
        if text == "null":
            return None
        if text in ("true", "false"):
            return text == "true"
        return int(text)

    def zero(self):
        if self.is_array:
            return []
        if self.kind in NUMBERS:
            return 0
        return {"bool": False, "string": "", "bytes": b"", "records": None, "uuid": uuid.UUID(int=0)}.get(self.kind, {})


class Message:
    """One request or response: its fields, nested structures by name."""

    def __init__(self, words, lines):
        self.role, self.key = words[0], int(words[1])
        self.name = words[2]
        self.versions = span(words[3], ALWAYS)
        self.flexible = None
        if words[4] == "flexible":
            self.flexible = self.versions if words[5] == "{" else span(words[5], self.versions)
        self.structs = {}
        self.fields = self.read_fields(lines, self.versions)

    def read_fields(self, lines, bound):
        fields = []
        for words in lines:
            if words == ["}"]:
                return fields
            if words[0] == "struct":
                self.structs[words[1]] = self.read_fields(lines, bound)
                continue
            opens = words[-1] == "{"
            field = Field(words[:-1] if opens else words, bound)
            if opens:
                self.structs[field.kind] = self.read_fields(lines, field.versions)
            fields.append(field)
        raise ValueError(f"{self.name}: the closing brace is missing")

    def is_flexible(self, version):
        return within(version, self.flexible)

    def encode(self, version, values):
        return Writer(self, version).struct(self.fields, values)

    def decode(self, version, blob):
        reader = Reader(self, version, blob)
        values = reader.struct(self.fields)
        if reader.at != len(blob):
            raise ValueError(f"{self.name} v{version}: {len(blob) - reader.at} bytes left over")
        return values


class Writer:
    def __init__(self, message, version):
        self.message = message
        self.version = version
        self.is_flexible = message.is_flexible(version)

    def struct(self, fields, values):
        unknown = set(values) - {field.name for field in fields}
        if unknown:
            raise ValueError(f"{self.message.name} has no field {sorted(unknown)}")
        out, tagged = b"", []
        for field in fields:
            if not within(self.version, field.versions):
                continue
            value = values.get(field.name, field.default)
            if field.tag is None:
                out += self.value(field, value)
            elif value != field.default:
                body = self.value(field, value)
                tagged.append((field.tag, uvarint(field.tag) + uvarint(len(body)) + body))
        if self.is_flexible:
            out += uvarint(len(tagged)) + b"".join(body for _, body in sorted(tagged))
        return out

    def value(self, field, value):
        if field.is_array:
            return self.length(None if value is None else len(value), 4) + b"".join(
                self.element(field, each) for each in value or []
            )
        return self.element(field, value)

    def element(self, field, value):
        kind = field.kind
        if kind in NUMBERS:
            return struct.pack(NUMBERS[kind], value)
        if kind == "bool":
            return b"\1" if value else b"\0"
        if kind == "uuid":
            return value.bytes
        if kind == "string":
            blob = None if value is None else value.encode()
            return self.length(None if blob is None else len(blob), 2) + (blob or b"")
        if kind in ("bytes", "records"):
            return self.length(None if value is None else len(value), 4) + (value or b"")
        if value is None:
            return b"\xff"
        return (b"\1" if field.has_null_mark() else b"") + self.struct(self.message.structs[kind], value)

    def length(self, length, size):
        if self.is_flexible:
            return uvarint(0 if length is None else length + 1)
        return struct.pack(">h" if size == 2 else ">i", -1 if length is None else length)


class Reader:
    def __init__(self, message, version, blob):
        self.message = message
        self.version = version
        self.blob = blob
        self.at = 0
        self.is_flexible = message.is_flexible(version)

    def take(self, count):
        if count < 0 or self.at + count > len(self.blob):
            raise ValueError(f"{self.message.name} v{self.version}: {count} bytes wanted at {self.at} of {len(self.blob)}")
        self.at += count
        return self.blob[self.at - count : self.at]

    def uvarint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def struct(self, fields):
        mine = [field for field in fields if within(self.version, field.versions)]
        values = {field.name: self.value(field) for field in mine if field.tag is None}
        if self.is_flexible:
            tags = {field.tag: field for field in mine if field.tag is not None}
            for _ in range(self.uvarint()):
                tag, size = self.uvarint(), self.uvarint()
                end = self.at + size
                if tag not in tags:
                    raise ValueError(f"{self.message.name} v{self.version}: unknown tag {tag}")
                values[tags[tag].name] = self.value(tags[tag])
                if self.at != end:
                    raise ValueError(f"{self.message.name} v{self.version}: tag {tag} has another size")
        return values

    def value(self, field):
        if not field.is_array:
            return self.element(field)
        length = self.length(4)
        return None if length is None else [self.element(field) for _ in range(length)]

    def element(self, field):
        kind = field.kind
        if kind in NUMBERS:
            return struct.unpack(NUMBERS[kind], self.take(struct.calcsize(NUMBERS[kind])))[0]
        if kind == "bool":
            return self.take(1) != b"\0"
        if kind == "uuid":
            return uuid.UUID(bytes=self.take(16))
        if kind == "string":
            length = self.length(2)
            return None if length is None else self.take(length).decode()
        if kind in ("bytes", "records"):
            length = self.length(4)
            return None if length is None else self.take(length)
        if field.has_null_mark() and self.take(1) == b"\xff":
            return None
        return self.struct(self.message.structs[kind])

    def length(self, size):
        if self.is_flexible:
            length = self.uvarint() - 1
        else:
            length = struct.unpack(">h" if size == 2 else ">i", self.take(size))[0]
        return None if length < 0 else length


def uvarint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


class Api:
    """The two messages of one API."""

    def __init__(self, request, response):
        self.request, self.response = request, response
        self.key = request.key
        self.name = request.name.removesuffix("Request")

    def versions(self):
        low, high = self.request.versions
        return range(low, high + 1)

    def has_flexible_answer_header(self, version):
        return self.key != 18 and self.response.is_flexible(version)


def load(folder):
    """Every API of `schemas/`, by name."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.schema")):
        text = re.sub(r"#.*", "", path.read_text())
        lines = iter([line.split() for line in text.splitlines() if line.strip()])
        for words in lines:
            if words[0] in ("request", "response"):
                message = Message(words, lines)
                found[message.role, message.key] = message
            else:
                skip(lines)
    apis = [Api(message, found["response", key]) for (role, key), message in found.items() if role == "request"]
    return {api.name: api for api in apis}


def skip(lines):
    """Past a message of another role: its own fields are read by nobody here."""
    depth = 1
    for words in lines:
        depth += (words[-1] == "{") - (words == ["}"])
        if depth == 0:
            return
