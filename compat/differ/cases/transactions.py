"""Transactions, in both generations: what every request is answered in every state, and what readers of committed records see."""

from .producing import sealed

OLD, NEW = 3, 5
DONE = {"CompleteCommit", "CompleteAbort", "Empty", "Ongoing"}


class Transactional:
    """A transactional producer that speaks by hand."""

    def __init__(self, side, name, topic=None, timeout=60000):
        self.side, self.id, self.topic = side, side.topic_name(name), topic
        self.timeout, self.sequence = timeout, 0
        self.init()

    def init(self):
        def is_found():
            return self.side.quietly("FindCoordinator", 1, Key=self.id, KeyType=1)["ErrorCode"] == 0

        def given():
            answer = self.side.quietly("InitProducerId", 4, TransactionalId=self.id, TransactionTimeoutMs=self.timeout)
            return answer if answer["ErrorCode"] == 0 else None

        self.side.until(f"the coordinator of {self.id}", is_found)
        answer = self.side.until(f"a producer of {self.id}", given)
        self.take(answer)

    def take(self, answer):
        self.producer, self.epoch, self.sequence = answer["ProducerId"], answer["ProducerEpoch"], 0

    def ident(self, **rest):
        return {"TransactionalId": self.id, "ProducerId": self.producer, "ProducerEpoch": self.epoch} | rest

    def add(self, note, version=3, partitions=(0,), topic=None, **rest):
        topics = [{"Name": topic or self.topic, "Partitions": list(partitions)}]
        ident = self.ident(**rest)
        if version < 4:
            fields = {"V3AndBelow" + name: value for name, value in ident.items()} | {"V3AndBelowTopics": topics}
        else:
            fields = {"Transactions": [{"VerifyOnly": False} | ident | {"Topics": topics}]}
        return self.side.ask("AddPartitionsToTxn", version, note, **fields)

    def send(self, note, version=9, sequence=None, **rest):
        ident = {"producer_id": self.producer, "epoch": self.epoch} | rest
        sequence = self.sequence if sequence is None else sequence
        records = sealed(self.side.batch([b"v"], sequence=sequence, **ident), attributes=0x10)
        ids = {"Name": self.topic, "TopicId": self.side.ids[self.topic]}
        topics = [ids | {"PartitionData": [{"Index": 0, "Records": records}]}]
        answer = self.side.ask(
            "Produce", version, note, TransactionalId=self.id, Acks=-1, TimeoutMs=10000, TopicData=topics
        )
        if answer["Responses"][0]["PartitionResponses"][0]["ErrorCode"] == 0:
            self.sequence = sequence + 1

    def send_outside(self, note, version=9):
        """A plain batch in a request that names a transactional id."""
        ids = {"Name": self.topic, "TopicId": self.side.ids[self.topic]}
        topics = [ids | {"PartitionData": [{"Index": 0, "Records": self.side.batch([b"plain"])}]}]
        self.side.ask("Produce", version, note, TransactionalId=self.id, Acks=-1, TimeoutMs=10000, TopicData=topics)

    def end(self, note, committed=True, version=OLD, **rest):
        answer = self.side.ask("EndTxn", version, note, **self.ident(Committed=committed, **rest))
        self.settle()
        return answer

    def end_and_go_on(self, note, committed=True):
        answer = self.end(note, committed, NEW)
        if answer["ErrorCode"] == 0:
            self.take(answer)

    def state(self):
        return self.side.quietly("DescribeTransactions", 0, TransactionalIds=[self.id])["TransactionStates"][0]["TransactionState"]

    def settle(self):
        """Kafka answers before the markers are written."""
        self.side.until(f"{self.id} is settled", lambda: self.state() in DONE)

    def describe(self, note):
        self.side.ask("DescribeTransactions", 0, note, TransactionalIds=[self.id])

    def fetch(self, note, level=1, version=12, at=0):
        wanted = {"Partition": 0, "FetchOffset": at, "PartitionMaxBytes": 1 << 20}
        topics = [{"Topic": self.topic, "TopicId": self.side.ids[self.topic], "Partitions": [wanted]}]
        self.side.ask("Fetch", version, note, MaxWaitMs=0, MinBytes=0, Topics=topics, IsolationLevel=level)


def coordinators(side):
    Transactional(side, "first"), side.group("g")  # so that both logs are there on both
    for version in side.apis["FindCoordinator"].versions():
        side.ask("FindCoordinator", version, "transaction", Key="t", KeyType=1, CoordinatorKeys=["t"])
        side.ask("FindCoordinator", version, "empty", Key="", KeyType=1, CoordinatorKeys=[""])
    for version in side.apis["InitProducerId"].versions():
        name = side.topic_name(f"v{version}")

        def ask(note, name=name, timeout=60000, **fields):
            return side.ask("InitProducerId", version, note, TransactionalId=name, TransactionTimeoutMs=timeout, **fields)

        first = ask("new")
        ask("again")
        for timeout in (0, -1, 900001, 900000, 1):
            ask(f"timeout {timeout}", timeout=timeout)
        ask("empty", name="")
        now = ask("present")
        if version >= 3:
            who = lambda producer, epoch: {"ProducerId": producer, "ProducerEpoch": epoch}
            bumped = ask("as itself", **who(now["ProducerId"], now["ProducerEpoch"]))
            ask("as itself, the answer lost", **who(now["ProducerId"], now["ProducerEpoch"]))
            ask("as an older one", **who(now["ProducerId"], 0))
            ask("as a later one", **who(now["ProducerId"], bumped["ProducerEpoch"] + 5))
            ask("as a stranger", **who(now["ProducerId"] + 100000, 0))
            ask("id without epoch", **who(now["ProducerId"], -1))
            ask("new, as somebody", name=name + "-other", **who(now["ProducerId"], 3))


def adding(side):
    topic = side.topic("t", 3)
    side.group("g")  # so that the topic of offsets is there on both
    for version in side.apis["AddPartitionsToTxn"].versions():
        t = Transactional(side, f"v{version}", topic)
        t.add("one", version)
        t.describe(f"after v{version}")
        t.add("the same", version)
        t.add("two more", version, (1, 2))
        t.add("no partitions", version, ())
        t.add("unknown partition", version, (0, 9))
        t.add("unknown topic", version, topic=side.topic_name("never"))
        t.add("empty name", version, topic="")
        t.add("offsets", version, topic="__consumer_offsets")
        t.add("of another name", version, TransactionalId=side.topic_name("nobody"))
        t.add("empty id", version, TransactionalId="")
        t.add("another producer", version, ProducerId=t.producer + 100000)
        t.add("an older epoch", version, ProducerEpoch=t.epoch - 1)
        t.add("a later epoch", version, ProducerEpoch=t.epoch + 1)
        if version >= 4:
            t.add("is it part", version, VerifyOnly=True)
            t.end("end")
            t.add("is it part, ended", version, VerifyOnly=True)
            t.add("is it part, of nobody", version, VerifyOnly=True, TransactionalId=side.topic_name("nobody"))
        t.describe(f"at the end of v{version}")


def ending_old(side):
    topic = side.topic("t")
    for version in range(0, NEW):
        t = Transactional(side, f"v{version}", topic)
        end = lambda note, committed: t.end(note, committed, version)
        end("commit, empty", True)
        end("abort, empty", False)
        for committed in (True, False):
            word = "commit" if committed else "abort"
            t.add("begin")
            end(word, committed)
            end(f"{word} again", committed)
            end(f"{word} and the opposite", not committed)
            t.describe(f"v{version} after {word}")
        t.add("begin")
        t.end("an older epoch", True, version, ProducerEpoch=t.epoch - 1)
        t.end("a later epoch", True, version, ProducerEpoch=t.epoch + 1)
        t.end("another producer", True, version, ProducerId=t.producer + 100000)
        t.end("of nobody", True, version, TransactionalId=side.topic_name("nobody"))
        t.end("empty id", True, version, TransactionalId="")


def ending_new(side):
    topic = side.topic("t")
    t = Transactional(side, "new", topic)
    t.end("commit, empty", True, NEW)
    t.end_and_go_on("abort, empty", False)
    for committed in (True, False, True, True, False, False):
        word = "commit" if committed else "abort"
        t.send(f"begin to {word}", 12)
        before = t.ident()
        t.end_and_go_on(word, committed)
        side.ask("EndTxn", NEW, f"{word}, the answer lost", **before, Committed=committed)
        side.ask("EndTxn", NEW, f"{word}, and the opposite of it", **before, Committed=not committed)
        t.describe(f"after {word}")
    t.end("commit of nothing", True, NEW)
    t.end_and_go_on("abort of nothing", False)
    t.end("an epoch too old", False, NEW, ProducerEpoch=t.epoch - 2)
    t.end("a later epoch", False, NEW, ProducerEpoch=t.epoch + 1)
    t.describe("at the end")
    t.fetch("what readers see")


def fencing(side):
    topic = side.topic("t")
    for version in (9, 11, 12):
        first = Transactional(side, f"v{version}", topic)
        first.add("begin")
        first.send("first", version)
        side.ask("InitProducerId", 4, "another, while one is under way", TransactionalId=first.id, TransactionTimeoutMs=60000)
        first.settle()
        first.describe("aborted by the other")
        second = Transactional(side, f"v{version}", topic)
        second.describe("taken over")
        first.send("zombie", version)
        first.add("zombie adds")
        for end in (0, 1, 2, 3, 4, 5):
            first.end("zombie ends", True, end)
        second.add("second")
        second.send("second", version)
        second.end("second ends")
        second.fetch(f"after v{version}")


def out_of_time(side):
    topic = side.topic("t")
    for version in (3, 5):
        t = Transactional(side, f"v{version}", topic, timeout=200)
        t.send("in time", 12) if version == 5 else (t.add("begin"), t.send("in time"))
        side.until("it times out", lambda: t.state() == "CompleteAbort")
        t.describe("timed out")
        t.send("late", 12 if version == 5 else 9)
        t.end("commit, too late", True, version)
        t.end("abort, too late", False, version)
        t.describe("and after")
        t.init()
        t.describe("taken up again")


def unverified(side):
    topic = side.topic("t")
    for version in (3, 9, 10, 11, 12):
        t = Transactional(side, f"v{version}", topic)
        t.send_outside("a plain batch", version)
        if version < 12:
            t.send("not added", version)
            t.add("begin")
        t.send("added", version)
        t.end("end")
        if version < 12:
            t.send("ended", version)
            t.send("again", version, sequence=0)
        t.send("another producer", version, producer_id=t.producer + 100000)
        t.send("an older epoch", version, epoch=t.epoch - 1)
        t.send("a later epoch", version, epoch=t.epoch + 1)
        t.id = side.topic_name("nobody")
        t.send("of nobody", version)
    t.fetch("all of it", 0)
    t.fetch("committed")


def reading(side):
    topic = side.topic("t")
    a, b = Transactional(side, "a", topic), Transactional(side, "b", topic)
    a.add("a begins")
    b.add("b begins")
    a.send("a"), b.send("b"), a.send("a")
    for version in side.apis["Fetch"].versions():
        a.fetch(f"open, v{version}", 1, version)
        a.fetch(f"open, all, v{version}", 0, version)
    ask = lambda note, level: side.ask(
        "ListOffsets", 5, note, ReplicaId=-1, IsolationLevel=level, Topics=[{"Name": topic, "Partitions": [{"PartitionIndex": 0, "Timestamp": -1}]}]
    )
    ask("latest, open", 1), ask("latest, open, all", 0)
    a.end("a aborts", False)
    ask("latest, one open", 1)
    a.fetch("one open")
    b.end("b commits")
    ask("latest", 1)
    for committed in (False, True, False):
        a.add("a again")
        a.send("a again")
        a.end("a ends", committed)
    for version in side.apis["Fetch"].versions():
        for at in range(0, 12):
            a.fetch(f"from {at}, v{version}", 1, version, at)
        a.fetch(f"all, v{version}", 0, version)


def offsets_in_transactions(side):
    topic = side.topic("t", 2)
    for version in side.apis["TxnOffsetCommit"].versions():
        t, group = Transactional(side, f"v{version}", topic), side.group(f"g{version}")

        def commit(note, offset=5, partition=0, name=topic, **rest):
            ids = {"Name": name, "TopicId": side.ids.get(name)}
            partitions = [{"PartitionIndex": partition, "CommittedOffset": offset, "CommittedMetadata": "m"}]
            fields = t.ident(GroupId=group) | rest
            side.ask("TxnOffsetCommit", version, note, **fields, Topics=[ids | {"Partitions": partitions}])

        def fetch(note):
            for stable in (True, False):
                wanted = [{"Name": topic, "PartitionIndexes": [0, 1]}]
                side.ask("OffsetFetch", 7, f"{note}, v{version}, stable {stable}", GroupId=group, Topics=wanted, RequireStable=stable)

        if version < 5:
            commit("not added")
            for adding in (0, 2, 4):
                side.ask("AddOffsetsToTxn", adding, "add", **t.ident(GroupId=group))
            side.ask("AddOffsetsToTxn", 3, "of nobody", **t.ident(GroupId=group) | {"TransactionalId": side.topic_name("nobody")})
            side.ask("AddOffsetsToTxn", 1, "an older epoch", **t.ident(GroupId=group) | {"ProducerEpoch": t.epoch - 1})
            side.ask("AddOffsetsToTxn", 3, "an older epoch", **t.ident(GroupId=group) | {"ProducerEpoch": t.epoch - 1})
            side.ask("AddOffsetsToTxn", 3, "empty id", **t.ident(GroupId=group) | {"TransactionalId": ""})
        commit("one")
        fetch("pending")
        commit("unknown partition", partition=7)
        if version < 6:
            commit("unknown topic", name=side.topic_name("never"))
        commit("another producer", ProducerId=t.producer + 100000)
        commit("an older epoch", ProducerEpoch=t.epoch - 1)
        if version >= 3:
            commit("a generation", GenerationIdOrMemberEpoch=3)
            commit("a member", MemberId="nobody")
            commit("a member of a generation", MemberId="nobody", GenerationIdOrMemberEpoch=3)
        t.end_and_go_on("commit") if version >= 5 else t.end("commit")
        fetch("committed")
        if version < 5:
            side.ask("AddOffsetsToTxn", 3, "add again", **t.ident(GroupId=group))
        commit("to be aborted", 9)
        fetch("pending again")
        t.end_and_go_on("abort", False) if version >= 5 else t.end("abort", False)
        fetch("aborted")


def only_pending_offsets(side):
    """A name under which there are only offsets of a transaction under way becomes a group of each kind."""
    topic = side.topic("t")

    def committed(note, group):
        wanted = [{"Name": topic, "PartitionIndexes": [0]}]
        side.ask("OffsetFetch", 7, note, GroupId=group, Topics=wanted, RequireStable=False)

    def listed(note, group):
        groups = side.quietly("ListGroups", 5, StatesFilter=[], TypesFilter=[])["Groups"]
        side.note("ListGroups", 5, note, [{"type": each["GroupType"], "state": each["GroupState"]} for each in groups if each["GroupId"] == group])

    def share(note, group, epoch=0):
        side.ask("ShareGroupHeartbeat", 1, note, on=group, GroupId=group, MemberId="m", MemberEpoch=epoch, RackId=None, SubscribedTopicNames=[topic])

    def consumer(note, group, epoch=0):
        side.ask(
            "ConsumerGroupHeartbeat", 1, note, on=group, GroupId=group, MemberId="m", MemberEpoch=epoch, InstanceId=None, RackId=None,
            RebalanceTimeoutMs=30000, SubscribedTopicNames=[topic], SubscribedTopicRegex=None, ServerAssignor=None, TopicPartitions=[],
        )

    for kind, joins in (("share", share), ("consumer", consumer)):
        for is_committed in (True, False):
            t, name = Transactional(side, f"{kind}{is_committed}", topic), f"{kind}, {'committed' if is_committed else 'aborted'}"
            group = side.group(f"g{kind}{is_committed}")

            def commit(note, offset=5):
                partitions = [{"PartitionIndex": 0, "CommittedOffset": offset, "CommittedMetadata": "m"}]
                side.ask("TxnOffsetCommit", 3, f"{name}, {note}", **t.ident(GroupId=group), Topics=[{"Name": topic, "Partitions": partitions}])

            side.ask("AddOffsetsToTxn", 3, f"{name}, add", **t.ident(GroupId=group))
            commit("pending")
            listed(f"{name}, pending", group)
            side.ask("DescribeGroups", 6, f"{name}, pending", Groups=[group])
            joins(f"{name}, joins", group)
            listed(f"{name}, joined", group)
            committed(f"{name}, joined", group)
            commit("again", 6)
            t.end(f"{name}, end", is_committed)
            committed(f"{name}, ended", group)
            if kind == "share" and not is_committed:
                continue  # Kafka keeps the name until it looks for what has expired, every ten minutes; with us it is free at once
            joins(f"{name}, leaves", group, -1)
            listed(f"{name}, left", group)


def listing(side):
    topic = side.topic("t")
    a, b = Transactional(side, "a", topic), Transactional(side, "b", topic)
    a.add("begin")
    everyone = {"ProducerIdFilters": [a.producer, b.producer]}
    for version in side.apis["ListTransactions"].versions():
        ask = lambda note, **fields: side.ask("ListTransactions", version, note, **({"StateFilters": [], "DurationFilter": -1} | everyone | fields))
        ask("all")
        ask("under way", StateFilters=["Ongoing"])
        ask("odd", StateFilters=["Odd"])
        ask("odd and empty", StateFilters=["Odd", "Empty"])
        ask("one of them", ProducerIdFilters=[b.producer])
        ask("nobody", ProducerIdFilters=[123456789])
        if version >= 1:
            ask("for long", DurationFilter=1000000)
            ask("for a while", DurationFilter=0)
        if version >= 2:
            for pattern in ("", ".*", f".*a-{side.run}", "a", "[", "(?=x)"):
                ask(f"pattern {pattern.replace(side.run, 'run')}", TransactionalIdPattern=pattern)
    side.ask("DescribeTransactions", 0, "several", TransactionalIds=[a.id, side.topic_name("nobody"), b.id])
    side.ask("DescribeTransactions", 0, "empty", TransactionalIds=[""])
    side.ask("DescribeTransactions", 0, "none", TransactionalIds=[])


def markers(side):
    topic = side.topic("t")
    for version in side.apis["WriteTxnMarkers"].versions():
        t = Transactional(side, f"v{version}", topic)

        def write(note, epoch=None, coordinator=0, name=topic, partition=0, committed=False):
            marker = {
                "ProducerId": t.producer, "ProducerEpoch": t.epoch if epoch is None else epoch, "TransactionResult": committed,
                "CoordinatorEpoch": coordinator, "Topics": [{"Name": name, "PartitionIndexes": [partition]}],
            }
            side.ask("WriteTxnMarkers", version, note, Markers=[marker])

        t.add("begin")
        t.send("hangs")
        t.fetch(f"hanging, v{version}")
        write("unknown partition", partition=7)
        write("unknown topic", name=side.topic_name("never"))
        write("an older epoch", epoch=-1)
        write("abort", coordinator=100000)
        t.fetch(f"aborted, v{version}")
        write("an older coordinator", coordinator=99999)


def marker_epochs(side):
    """Of a transaction of the second generation the marker has a later epoch than its records."""
    topic = side.topic("t")
    for generation in (0, 1, 2, 3):
        t, to = Transactional(side, f"g{generation}", topic), [topic]

        def write(note, bump, coordinator=100000):
            marker = {
                "ProducerId": t.producer, "ProducerEpoch": t.epoch + bump, "TransactionResult": False, "CoordinatorEpoch": coordinator,
                "Topics": [{"Name": to[0], "PartitionIndexes": [0]}], "TransactionVersion": generation,
            }
            side.ask("WriteTxnMarkers", 2, f"{note}, generation {generation}", Markers=[marker])

        write("nothing known", 0)
        t.add("begin")
        t.send("hangs")
        write("before", -1)
        write("the same epoch", 0)
        t.fetch(f"the same epoch, generation {generation}")
        write("the same epoch again", 0)
        write("the next epoch", 1)
        t.fetch(f"the next epoch, generation {generation}")
        write("the next epoch again", 1)
        write("the next epoch again, of an older coordinator", 1, 99999)
        write("the epoch before", 0)
        write("the one behind", 2)
        t.fetch(f"the one behind, generation {generation}")


CASES = [
    coordinators, adding, ending_old, ending_new, fencing, out_of_time, unverified, reading, offsets_in_transactions, only_pending_offsets, listing, markers,
    marker_epochs,
]
