"""Where a partition begins and ends: ListOffsets, OffsetForLeaderEpoch, DeleteRecords."""

SPECIAL = {-1: "latest", -2: "earliest", -3: "of the largest time", -4: "earliest local", -5: "latest tiered", -6: "earliest pending upload"}


def list_offsets(side):
    topic, empty = side.topic("t", 2), side.topic("empty")
    # Out of order: 10, 30, 20, and a batch that holds 15 and later 40.
    for at in (10, 30, 20):
        side.produce(topic, side.batch([b"x"], at))
    side.produce(topic, side.batch([b"x", b"y"], 40))
    for version in side.apis["ListOffsets"].versions():

        def ask(note, name, *partitions, **fields):
            topics = [{"Name": name, "Partitions": list(partitions)}]
            side.ask("ListOffsets", version, note, **({"ReplicaId": -1, "Topics": topics} | fields))

        at = lambda stamp, partition=0, **rest: {"PartitionIndex": partition, "Timestamp": stamp} | rest
        for stamp in list(SPECIAL) + [-7, -100]:
            word = SPECIAL.get(stamp, "no such special")
            ask(f"{stamp}: {word}", topic, at(stamp))
            ask(f"{stamp}: {word}, committed", topic, at(stamp), IsolationLevel=1)
            ask(f"{stamp}: {word}, empty", empty, at(stamp))
        for more in (-1000, 10, 11, 20, 21, 30, 31, 40, 41):
            ask(f"past {more:+}", topic, at(side.past + more))
        ask("past +10, empty", empty, at(side.past + 10))
        ask("time 0", topic, at(0))
        ask("the largest number", topic, at(2**63 - 1))
        ask("unknown partition", topic, at(-1, 5))
        ask("negative partition", topic, at(-1, -1))
        ask("good and bad", topic, at(-1), at(-1, 5), at(-2, 1))
        ask("unknown topic", side.topic_name("never"), at(-1))
        ask("empty name", "", at(-1))
        ask("partition twice", topic, at(-1), at(-2))
        ask("nothing", topic, Topics=[])
        ask("no partitions", topic)
        ask("topic twice", topic, Topics=[{"Name": topic, "Partitions": [at(-1)]}] * 2)
        ask("isolation level 2", topic, at(-1), IsolationLevel=2)
        now = side.leader_epoch(topic)
        ask("this epoch", topic, at(-1, CurrentLeaderEpoch=now))
        ask("a later epoch", topic, at(-1, CurrentLeaderEpoch=now + 1))
        for replica in (-2, 1, 9):
            ask(f"as replica {replica}", topic, at(-1), ReplicaId=replica)


def list_offsets_of_append_time(side):
    topic = side.topic("t", message_timestamp_type="LogAppendTime")
    side.produce(topic, side.batch([b"x", b"y"]))
    side.until_settled()  # of two batches of one millisecond the first would be the answer
    side.produce(topic, side.batch([b"z"]))
    for version in side.apis["ListOffsets"].versions():
        for stamp in (-3, 0, side.past):
            wanted = [{"PartitionIndex": 0, "Timestamp": stamp}]
            note = {-3: "largest", 0: "0"}.get(stamp, "past")
            side.ask("ListOffsets", version, note, ReplicaId=-1, Topics=[{"Name": topic, "Partitions": wanted}])


def offset_for_leader_epoch(side):
    topic, empty = side.topic("t", 2), side.topic("empty")
    side.produce(topic, side.batch([b"x", b"y"]))
    now = side.leader_epoch(topic)
    for version in side.apis["OffsetForLeaderEpoch"].versions():

        def ask(note, name, *partitions, **fields):
            topics = [{"Topic": name, "Partitions": list(partitions)}]
            side.ask("OffsetForLeaderEpoch", version, note, **({"ReplicaId": -1, "Topics": topics} | fields))

        of = lambda epoch, partition=0, **rest: {"Partition": partition, "LeaderEpoch": epoch} | rest
        ask("this epoch", topic, of(now))
        ask("a later one", topic, of(now + 1))
        ask("-1", topic, of(-1))
        ask("-2", topic, of(-2))
        ask("of an empty one", empty, of(now))
        ask("a later one of an empty one", empty, of(now + 1))
        ask("the leader knows it", topic, of(now, CurrentLeaderEpoch=now))
        ask("the leader is older", topic, of(now, CurrentLeaderEpoch=now + 1))
        ask("unknown partition", topic, of(now, 5))
        ask("unknown topic", side.topic_name("never"), of(now))
        ask("nothing", topic, Topics=[])
        ask("no partitions", topic)
        for replica in (-2, 1, 9):
            ask(f"as replica {replica}", topic, of(now), ReplicaId=replica)


def delete_records(side):
    for version in side.apis["DeleteRecords"].versions():
        topic = side.topic(f"t-{version}", 2)
        for _ in range(5):
            side.produce(topic, side.batch([b"x", b"y"]))

        def ask(note, *partitions, name=topic):
            topics = [{"Name": name, "Partitions": [{"PartitionIndex": index, "Offset": offset} for index, offset in partitions]}]
            side.ask("DeleteRecords", version, note, Topics=topics, TimeoutMs=15000)

        def look(note):
            wanted = [{"PartitionIndex": 0, "Timestamp": -2}, {"PartitionIndex": 0, "Timestamp": 0}]
            for each in wanted:
                topics = [{"Name": topic, "Partitions": [each]}]
                side.ask("ListOffsets", 5, f"{note}: {each['Timestamp']}", ReplicaId=-1, Topics=topics)
            for offset in (0, 2, 3):
                wanted = {"Partition": 0, "FetchOffset": offset, "PartitionMaxBytes": 1 << 20}
                topics = [{"Topic": topic, "Partitions": [wanted]}]
                side.ask("Fetch", 11, f"{note}: from {offset}", MaxWaitMs=0, MinBytes=0, MaxBytes=1 << 20, Topics=topics)

        ask("to 0", (0, 0))
        ask("within a batch", (0, 3))
        look("from 3")
        ask("backwards", (0, 1))
        ask("to the same", (0, 3))
        ask("behind the end", (0, 11))
        ask("negative", (0, -2))
        ask("unknown partition", (5, 0))
        ask("negative partition", (-1, 0))
        ask("unknown topic", (0, 0), name=side.topic_name("never"))
        ask("empty name", (0, 0), name="")
        ask("good and bad", (0, 4), (1, 5))
        ask("no partitions")
        ask("partition twice", (0, 4), (0, 5))
        ask("to the end", (0, -1))
        look("emptied")
        ask("to the end again", (0, -1))
        side.produce(topic, side.batch([b"z"]))
        look("one more")
        side.ask("DeleteRecords", version, "nothing", Topics=[], TimeoutMs=15000)
    compacted = side.topic("compacted", cleanup_policy="compact")
    side.produce(compacted, side.batch([b"x"]))
    both = side.topic("both", cleanup_policy="compact,delete")
    side.produce(both, side.batch([b"x"]))
    for name in (compacted, both):
        for version in side.apis["DeleteRecords"].versions():
            topics = [{"Name": name, "Partitions": [{"PartitionIndex": 0, "Offset": 1}]}]
            side.ask("DeleteRecords", version, "a compacted topic", Topics=topics, TimeoutMs=15000)


CASES = [list_offsets, list_offsets_of_append_time, offset_for_leader_epoch, delete_records]
