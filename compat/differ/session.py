"""One broker and what is asked of it: connections, the transcript, and the small steps that every script needs.

A script runs once against each broker. What it asks with `ask` goes into the transcript, normalised (`rules.py`); what it
only needs in order to go on (a topic that serves, a coordinator that is loaded) it asks with `quietly`.
"""

import itertools
import socket
import struct
import time
import uuid

import rules
from wire import batch, i16, i32, string

CLOSED = "the connection is closed"
SILENT = "no answer"
DAY_MS = 24 * 3600 * 1000
WAIT_SECONDS = 30
# The longest that a request of these scripts may take: a rebalance.
ANSWER_SECONDS = 10
# For requests that make Kafka throw and answer nothing.
SILENCE_SECONDS = 1.5


class Answer:
    """One line of the transcript."""

    def __init__(self, api, version, note, value):
        self.api, self.version, self.note, self.value = api, version, note, value


class Link:
    """One TCP connection."""

    def __init__(self, side, name):
        host, port = side.bootstrap.rsplit(":", 1)
        # Member ids begin with it, so members sort alike on both sides.
        self.client_id = f"differ-{name}"
        self.socket = socket.create_connection((host, int(port)), WAIT_SECONDS)
        self.ids = itertools.count(1)

    def close(self):
        self.socket.close()

    def send(self, api, version, fields):
        """Sends a request and returns what `receive` needs."""
        correlation = next(self.ids)
        flexible = api.request.is_flexible(version)
        header = i16(api.key) + i16(version) + i32(correlation) + string(self.client_id) + (b"\0" if flexible else b"")
        self.send_frame(header + api.request.encode(version, fields))
        return api, version, correlation

    def send_frame(self, frame):
        try:
            self.socket.sendall(i32(len(frame)) + frame)
        except OSError:
            pass  # the answer will be that the connection is closed

    def receive(self, pending, seconds=ANSWER_SECONDS):
        """The decoded answer, or CLOSED, or SILENT."""
        api, version, correlation = pending
        frame = self.receive_frame(seconds)
        if not isinstance(frame, bytes):
            return frame
        found = struct.unpack(">i", frame[:4])[0]
        if found != correlation:
            raise ValueError(f"answer to request {found}, expected one to {correlation}")
        at = 5 if api.has_flexible_answer_header(version) else 4
        return api.response.decode(version, frame[at:])

    def receive_frame(self, seconds=ANSWER_SECONDS):
        self.socket.settimeout(seconds)
        try:
            size = self.read(4)
            return size if size is CLOSED else self.read(struct.unpack(">i", size)[0])
        except TimeoutError:
            return SILENT

    def read(self, count):
        out = b""
        while len(out) < count:
            try:
                chunk = self.socket.recv(count - len(out))
            except ConnectionError:
                return CLOSED
            if not chunk:
                return CLOSED
            out += chunk
        return out


class Side:
    """One broker, as a script sees it."""

    def __init__(self, name, bootstrap, apis, run, now_ms):
        self.name, self.bootstrap, self.apis, self.run = name, bootstrap, apis, run
        self.now_ms = now_ms
        # Records are as old as yesterday, so that a time that the broker put in cannot be mistaken for one of them.
        self.past = now_ms - DAY_MS
        self.transcript = {}
        self.ids = {}
        self.begin("")

    # The transcript

    def begin(self, case):
        self.case = case
        self.slug = case.replace("_", "-")
        self.answers = self.transcript.setdefault(case, [])
        self.rules = rules.Rules(self)
        self.links = {}

    def end(self):
        for link in self.links.values():
            link.close()

    def link(self, name="main"):
        """A connection of this case, by its name."""
        if name not in self.links:
            self.links[name] = Link(self, name)
        return self.links[name]

    def drop(self, name="main"):
        link = self.links.pop(name, None)
        if link:
            link.close()

    def ask(self, api_name, version, note="", on="main", seconds=ANSWER_SECONDS, **fields):
        """Asks, writes the answer down, and returns it as it came."""
        pending = self.start(api_name, version, note, on, **fields)
        return self.finish(pending, seconds)

    def start(self, api_name, version, note="", on="main", **fields):
        """Asks without waiting; the transcript has a place for the answer."""
        api = self.apis[api_name]
        self.rules.learn(fields)
        pending = self.link(on).send(api, version, fields)
        entry = Answer(api_name, version, note, SILENT)
        self.answers.append(entry)
        return on, pending, entry

    def finish(self, started, seconds=ANSWER_SECONDS):
        on, pending, entry = started
        value = self.link(on).receive(pending, seconds)
        self.write_down(entry, value, on)
        return value

    def write_down(self, entry, value, on="main"):
        entry.value = self.rules.normalise(entry.api, value)
        if value is CLOSED or value is SILENT:
            self.drop(on)

    def ask_frame(self, api_name, version, frame, note, on="main", seconds=ANSWER_SECONDS):
        """Sends a frame as it is; of the answer only the bytes after the correlation id are compared."""
        entry = Answer(api_name, version, note, SILENT)
        self.answers.append(entry)
        link = self.link(on)
        link.send_frame(frame)
        value = link.receive_frame(seconds)
        self.write_down(entry, value if not isinstance(value, bytes) else value[4:].hex(), on)
        return value

    def note(self, api_name, version, note, value):
        """Writes down something that was concluded, not answered."""
        self.answers.append(Answer(api_name, version, note, value))

    def quietly(self, api_name, version, on="quiet", **fields):
        link = self.link(on)
        answer = link.receive(link.send(self.apis[api_name], version, fields))
        if answer is CLOSED or answer is SILENT:
            raise RuntimeError(f"{self.name}: {api_name} v{version}: {answer}")
        return answer

    def until(self, what, condition):
        """Asks again until it holds."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not (result := condition()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}: {what}: still not so after {WAIT_SECONDS} s")
            time.sleep(0.02)
        return result

    def until_settled(self):
        """A moment for what a broker applies after it has answered; only where no answer says that it is done."""
        time.sleep(0.05)

    # Topics

    def topic_name(self, name):
        return f"{self.slug}.{name}-{self.run}"

    def topic(self, name, partitions=1, **configs):
        """A topic that serves; its name. Settings are written with underscores."""
        full = self.topic_name(name)
        entries = [{"Name": key.replace("_", "."), "Value": str(value)} for key, value in configs.items()]
        wanted = {"Name": full, "NumPartitions": partitions, "ReplicationFactor": 1, "Configs": entries}
        answer = self.quietly("CreateTopics", 7, Topics=[wanted])["Topics"][0]
        if answer["ErrorCode"]:
            raise RuntimeError(f"{self.name}: create {full}: {answer}")
        self.ids[full] = answer["TopicId"]
        self.wait_for_topic(full, partitions)
        return full

    def wait_for_topic(self, full, partitions=1):
        self.until(f"topic {full} serves", lambda: self.serves(full, partitions))

    def serves(self, full, partitions):
        wanted = [{"PartitionIndex": index, "Timestamp": -1} for index in range(partitions)]
        answer = self.quietly("ListOffsets", 5, ReplicaId=-1, Topics=[{"Name": full, "Partitions": wanted}])
        return all(each["ErrorCode"] == 0 for each in answer["Topics"][0]["Partitions"])

    def wait_until_gone(self, full):
        self.until(f"topic {full} is gone", lambda: self.metadata(full)["ErrorCode"] == 3)

    def metadata(self, full):
        return self.quietly("Metadata", 12, Topics=[{"Name": full}], AllowAutoTopicCreation=False)["Topics"][0]

    def leader_epoch(self, full, partition=0):
        partitions = self.metadata(full)["Partitions"]
        return next(each["LeaderEpoch"] for each in partitions if each["PartitionIndex"] == partition)

    def produce(self, full, records, partition=0, acks=-1):
        """Appends quietly; returns the base offset."""
        wanted = {"Name": full, "PartitionData": [{"Index": partition, "Records": records}]}
        answer = self.quietly("Produce", 8, Acks=acks, TimeoutMs=10000, TopicData=[wanted])
        found = answer["Responses"][0]["PartitionResponses"][0]
        if found["ErrorCode"]:
            raise RuntimeError(f"{self.name}: produce to {full}: {found}")
        return found["BaseOffset"]

    def batch(self, values, at=0, **rest):
        """A batch whose records bear the time `past + at`."""
        return batch(values, self.past + at, **rest)

    def end_offset(self, full, partition=0):
        wanted = [{"PartitionIndex": partition, "Timestamp": -1}]
        answer = self.quietly("ListOffsets", 5, ReplicaId=-1, Topics=[{"Name": full, "Partitions": wanted}])
        return answer["Topics"][0]["Partitions"][0]["Offset"]

    # Groups

    def group(self, name):
        """A group's name whose coordinator is loaded."""
        full = self.topic_name(name)

        def is_loaded():
            found = self.quietly("FindCoordinator", 1, Key=full, KeyType=0)
            if found["ErrorCode"]:
                return False
            return self.quietly("DescribeGroups", 0, Groups=[full])["Groups"][0]["ErrorCode"] == 0

        self.until(f"the coordinator of {full} is loaded", is_loaded)
        return full

    def producer_id(self):
        def given():
            answer = self.quietly("InitProducerId", 1, TransactionalId=None, TransactionTimeoutMs=60000)
            return (answer["ProducerId"], answer["ProducerEpoch"]) if answer["ErrorCode"] == 0 else None

        return self.until("a producer id", given)


NO_ID = uuid.UUID(int=0)
STRANGE_ID = uuid.UUID("12345678-1234-4234-8234-123456789abc")
