"""The cluster itself: versions, brokers, coordinators, producer ids, the quorum, elections, reassignments, folders."""


CLUSTER_ID = "no-such-cluster"


def api_versions(side):
    for version in side.apis["ApiVersions"].versions():
        ours = {"ClientSoftwareName": "differ", "ClientSoftwareVersion": "1.0"}
        side.ask("ApiVersions", version, **ours)
        for note, name in (("empty name", ""), ("odd name", "no spaces"), ("dash at the end", "differ-")):
            side.ask("ApiVersions", version, note, ClientSoftwareName=name, ClientSoftwareVersion="1.0")
        side.ask("ApiVersions", version, "odd version", ClientSoftwareName="differ", ClientSoftwareVersion="1.0 beta")
    cluster = side.quietly("DescribeCluster", 0)["ClusterId"]
    ours = {"ClientSoftwareName": "differ", "ClientSoftwareVersion": "1.0"}
    node = side.quietly("DescribeCluster", 0)["Brokers"][0]["BrokerId"]
    for note, identity in (
        ("our cluster and node", {"ClusterId": cluster, "NodeId": node}),
        ("our cluster", {"ClusterId": cluster}),
        ("another cluster", {"ClusterId": CLUSTER_ID}),
        ("another node", {"ClusterId": cluster, "NodeId": node + 1}),
        ("another node alone", {"NodeId": node + 1}),
    ):
        side.ask("ApiVersions", 5, note, **ours, **identity)


def describe_cluster(side):
    for version in side.apis["DescribeCluster"].versions():
        for operations in (False, True):
            side.ask("DescribeCluster", version, f"operations {operations}", IncludeClusterAuthorizedOperations=operations)
        for kind in (0, 2, 3):
            side.ask("DescribeCluster", version, f"endpoint type {kind}", EndpointType=kind)
        side.ask("DescribeCluster", version, "fenced too", IncludeFencedBrokers=True)


def find_coordinator(side):
    group = side.group("g")
    for version in side.apis["FindCoordinator"].versions():
        for kind in (0, 1, 2, 3, -1):
            if kind == 1:
                continue  # transactions have a case of their own
            fields = {"Key": group, "CoordinatorKeys": [group]}
            side.ask("FindCoordinator", version, f"key type {kind}", KeyType=kind, **fields)
        side.ask("FindCoordinator", version, "empty group", Key="", CoordinatorKeys=[""])
        side.ask("FindCoordinator", version, "three", Key=group, CoordinatorKeys=[group, "", group + "2"])
        side.ask("FindCoordinator", version, "none", Key=group, CoordinatorKeys=[])


def init_producer_id(side):
    side.producer_id()
    for version in side.apis["InitProducerId"].versions():
        ask = lambda note, **fields: side.ask("InitProducerId", version, note, **({"TransactionTimeoutMs": 60000} | fields))
        ask("new", TransactionalId=None)
        ask("empty transactional id", TransactionalId="")
        ask("no timeout", TransactionalId=None, TransactionTimeoutMs=0)
        ask("negative timeout", TransactionalId=None, TransactionTimeoutMs=-1)
        ask("bump of a stranger", TransactionalId=None, ProducerId=123456, ProducerEpoch=3)
        ask("id without epoch", TransactionalId=None, ProducerId=123456)
        ask("epoch without id", TransactionalId=None, ProducerEpoch=3)


def describe_quorum(side):
    topic = side.topic("t")
    for version in side.apis["DescribeQuorum"].versions():
        ask = lambda note, *topics: side.ask(
            "DescribeQuorum",
            version,
            note,
            Topics=[{"TopicName": name, "Partitions": [{"PartitionIndex": index} for index in indexes]} for name, indexes in topics],
        )
        ask("metadata", ("__cluster_metadata", [0]))
        ask("another partition", ("__cluster_metadata", [1]))
        ask("two partitions", ("__cluster_metadata", [0, 1]))
        ask("another topic", (topic, [0]))
        ask("nothing")
        ask("no partitions", ("__cluster_metadata", []))
        ask("two topics", ("__cluster_metadata", [0]), (topic, [0]))


def elect_leaders(side):
    topic = side.topic("t", 2)
    gone = side.topic_name("never")
    for version in side.apis["ElectLeaders"].versions():
        for kind in (0, 1):
            side.ask("ElectLeaders", version, f"type {kind}", ElectionType=kind, TopicPartitions=[{"Topic": topic, "Partitions": [0, 1]}])
        ask = lambda note, **fields: side.ask("ElectLeaders", version, note, **fields)
        ask("unknown partition", TopicPartitions=[{"Topic": topic, "Partitions": [0, 2]}])
        ask("unknown topic", TopicPartitions=[{"Topic": gone, "Partitions": [0]}])
        ask("nothing", TopicPartitions=[])
        ask("topic twice", TopicPartitions=[{"Topic": topic, "Partitions": [0]}, {"Topic": topic, "Partitions": [0]}])
        ask("everything", TopicPartitions=None)
        ask("unclean everything", TopicPartitions=None, ElectionType=1)
        ask("type 2", ElectionType=2, TopicPartitions=[{"Topic": topic, "Partitions": [0]}])


def list_partition_reassignments(side):
    topic = side.topic("t", 2)
    for note, topics in (
        ("everything", None),
        ("nothing", []),
        ("a topic", [{"Name": topic, "PartitionIndexes": [0, 1]}]),
        ("unknown partition", [{"Name": topic, "PartitionIndexes": [7]}]),
        ("unknown topic", [{"Name": side.topic_name("never"), "PartitionIndexes": [0]}]),
    ):
        side.ask("ListPartitionReassignments", 0, note, Topics=topics)


def alter_partition_reassignments(side):
    topic = side.topic("t", 2)
    side.group("g")
    node = side.quietly("DescribeCluster", 0)["Brokers"][0]["BrokerId"]
    for version in side.apis["AlterPartitionReassignments"].versions():
        def ask(note, *wanted, **fields):
            topics = [
                {"Name": name, "Partitions": [{"PartitionIndex": index, "Replicas": replicas} for index, replicas in partitions]}
                for name, partitions in wanted
            ]
            side.ask("AlterPartitionReassignments", version, note, Topics=topics, **fields)

        ask("nothing")
        ask("to where it is", (topic, [(0, [node])]))
        ask("to where both are", (topic, [(0, [node]), (1, [node])]))
        ask("to an unknown broker", (topic, [(0, [node + 8])]))
        ask("to a second broker", (topic, [(0, [node, node + 8])]))
        ask("to a broker twice", (topic, [(0, [node, node])]))
        ask("to a negative broker", (topic, [(0, [-1])]))
        ask("to no broker", (topic, [(0, [])]))
        ask("cancel", (topic, [(0, None)]))
        ask("cancel both", (topic, [(0, None), (1, None)]))
        ask("unknown partition", (topic, [(7, [node])]))
        ask("unknown topic", (side.topic_name("never"), [(0, [node])]))
        ask("cancel of an unknown topic", (side.topic_name("never"), [(0, None)]))
        ask("good and bad", (topic, [(0, [node]), (1, [node + 8])]))
        ask("topic without partitions", (topic, []))
        ask("topic in two parts", (topic, [(0, [node])]), (topic, [(1, [node])]))
        ask("same number of replicas", (topic, [(0, [node])]), AllowReplicationFactorChange=False)
        ask("another number of replicas", (topic, [(0, [node, node + 8])]), AllowReplicationFactorChange=False)
        ask("a topic of the broker's", ("__consumer_offsets", [(0, [node + 8])]))
        ask("cancel of a topic of the broker's", ("__consumer_offsets", [(0, None)]))


def features(side):
    """What may be asked of features; each of them alone, since Kafka changes what it is told to."""
    named = {"ClientSoftwareName": "differ", "ClientSoftwareVersion": "1"}
    features = side.quietly("ApiVersions", 4, **named).get("FinalizedFeatures", [])
    finalized = {each["Name"]: each["MaxVersionLevel"] for each in features}
    for version in side.apis["UpdateFeatures"].versions():
        def ask(note, *updates, validate=True):
            wanted = [
                {"Feature": name, "MaxVersionLevel": level, "UpgradeType": kind, "AllowDowngrade": kind > 1}
                for name, level, kind in updates
            ]
            side.ask("UpdateFeatures", version, note, FeatureUpdates=wanted, ValidateOnly=validate)

        ask("nothing")
        for kind in (0, 1, 2, 3, 4):
            ask(f"unknown feature, type {kind}", ("no.such.feature", 1, kind))
            ask(f"unknown feature to 0, type {kind}", ("no.such.feature", 0, kind))
        ask("a feature without a name", ("", 1, 1))
        ask("a feature twice", ("no.such.feature", 1, 1), ("no.such.feature", 2, 1))
        ask("two features", ("no.such.feature", 1, 1), ("another", 1, 1))
        for name in ("group.version", "share.version", "streams.version", "transaction.version", "metadata.version"):
            level = finalized.get(name, 1)
            if version > 0:
                for kind in (0, 1, 2, 3):
                    ask(f"{name}: stays, type {kind}", (name, level, kind))
                    ask(f"{name}: 99, type {kind}", (name, 99, kind))
                    ask(f"{name}: 0, type {kind}", (name, 0, kind))
                    ask(f"{name}: -1, type {kind}", (name, -1, kind))
                ask(f"{name}: one less, type 1", (name, level - 1, 1))
                ask(f"{name}: one less, type 2", (name, level - 1, 2))
            ask(f"{name}: 99, for good", (name, 99, 1), validate=False)


def describe_log_dirs(side):
    topic = side.topic("t", 2)
    side.produce(topic, side.batch([b"one", b"two"]))
    for version in side.apis["DescribeLogDirs"].versions():
        for note, topics in (
            ("everything", None),
            ("nothing", []),
            ("a topic", [{"Topic": topic, "Partitions": [0, 1]}]),
            ("a partition", [{"Topic": topic, "Partitions": [1]}]),
            ("unknown partition", [{"Topic": topic, "Partitions": [0, 7]}]),
            ("unknown topic", [{"Topic": side.topic_name("never"), "Partitions": [0]}]),
            ("no partitions", [{"Topic": topic, "Partitions": []}]),
        ):
            side.ask("DescribeLogDirs", version, note, Topics=topics)


CASES = [
    api_versions, describe_cluster, find_coordinator, init_producer_id, describe_quorum, elect_leaders,
    list_partition_reassignments, alter_partition_reassignments, features, describe_log_dirs,
]
