"""What may differ between two brokers that behave alike, by named rules. Everything else is compared as it is.

Never: a rule that hides an error code, an offset, a count or the presence of a field.
"""

import uuid

import batches

MINUTES_10 = 600_000
HOUR = 3_600_000

EPOCHS = {"LeaderEpoch", "CommittedLeaderEpoch", "PartitionLeaderEpoch", "Epoch", "CurrentLeaderEpoch", "FinalizedFeaturesEpoch"}
# Of one disk, whoever asks; they change by the second.
SPACES = {"TotalBytes", "UsableBytes"}
TEXTS = {"ErrorMessage", "BatchIndexErrorMessage", "AcknowledgeErrorMessage"}
# Of share groups: Kafka makes the states of partitions first, and raises the epoch once more when they are there.
SHARE_EPOCHS = {"MemberEpoch", "GroupEpoch", "AssignmentEpoch"}
# Here the epoch 0 says that nobody is told of a leader.
NO_LEADER = {"ShareFetch", "ShareAcknowledge"}
SHARE_APIS = {"ShareGroupHeartbeat", "ShareGroupDescribe"}
TIMES = {
    "Timestamp", "LogAppendTimeMs", "BaseTimestamp", "MaxTimestamp", "LastTimestamp", "LastFetchTimestamp",
    "LastCaughtUpTimestamp", "TransactionStartTimeMs",
}
NUMBERED = {
    "MemberId": "member", "Leader": "member", "ProducerId": "producer", "SessionId": "fetch session",
    "ReplicaDirectoryId": "directory", "LogDir": "folder",
}
# Arrays whose order means nothing (Kafka's comes out of a hash map), and what each is sorted by.
UNORDERED = {
    ("Metadata", "Topics"): "Name", ("Metadata", "Partitions"): "PartitionIndex", ("Metadata", "Brokers"): "NodeId",
    ("DescribeConfigs", "Configs"): "Name", ("CreateTopics", "Configs"): "Name", ("CreateTopics", "Topics"): "Name",
    ("DeleteTopics", "Responses"): "Name", ("CreatePartitions", "Results"): "Name",
    ("DescribeLogDirs", "Topics"): "Name", ("DescribeLogDirs", "Partitions"): "PartitionIndex",
    ("DescribeLogDirs", "Results"): "LogDir", ("ListGroups", "Groups"): "GroupId", ("JoinGroup", "Members"): "MemberId",
    ("DescribeGroups", "Members"): "MemberId", ("DescribeGroups", "Groups"): "GroupId", ("OffsetFetch", "Topics"): "Name", ("OffsetFetch", "Partitions"): "PartitionIndex",
    ("Fetch", "Responses"): "Topic", ("Fetch", "Partitions"): "PartitionIndex",
    ("ListOffsets", "Topics"): "Name", ("ListOffsets", "Partitions"): "PartitionIndex",
    ("Produce", "Responses"): "Name", ("Produce", "PartitionResponses"): "Index",
    ("OffsetForLeaderEpoch", "Topics"): "Topic", ("OffsetForLeaderEpoch", "Partitions"): "Partition",
    ("DeleteRecords", "Topics"): "Name", ("DeleteRecords", "Partitions"): "PartitionIndex",
    ("OffsetCommit", "Topics"): "Name", ("OffsetDelete", "Topics"): "Name",
    ("ElectLeaders", "ReplicaElectionResults"): "Topic", ("ElectLeaders", "PartitionResult"): "PartitionId",
    ("ShareFetch", "Responses"): "Topic", ("ShareFetch", "Partitions"): "PartitionIndex",
    ("ShareAcknowledge", "Responses"): "Topic", ("ShareAcknowledge", "Partitions"): "PartitionIndex",
    ("ShareGroupDescribe", "Groups"): "GroupId", ("ShareGroupDescribe", "Members"): "MemberId",
    ("DescribeShareGroupOffsets", "Topics"): "TopicName", ("AlterShareGroupOffsets", "Responses"): "TopicName",
    ("ConsumerGroupDescribe", "Groups"): "GroupId", ("ConsumerGroupDescribe", "Members"): "MemberId",
    ("ConsumerGroupDescribe", "TopicPartitions"): "TopicName", ("ConsumerGroupHeartbeat", "TopicPartitions"): "TopicName",
    ("DeleteGroups", "Results"): "GroupId", ("ApiVersions", "ApiKeys"): "ApiKey",
    ("AlterConfigs", "Responses"): "ResourceName", ("IncrementalAlterConfigs", "Responses"): "ResourceName",
    ("DescribeUserScramCredentials", "Results"): "User", ("AlterUserScramCredentials", "Results"): "User",
    ("DescribeClientQuotas", "Entries"): "Entity", ("AlterPartitionReassignments", "Responses"): "Name",
    ("ApiVersions", "SupportedFeatures"): "Name", ("ApiVersions", "FinalizedFeatures"): "Name",
    ("DescribeTransactions", "Topics"): "Topic", ("ListTransactions", "TransactionStates"): "TransactionalId", ("AddPartitionsToTxn", "ResultsByTopicV3AndBelow"): "Name",
    ("AddPartitionsToTxn", "ResultsByPartition"): "PartitionIndex", ("AddPartitionsToTxn", "TopicResults"): "Name",
    ("DescribeConfigs", "Results"): "ResourceName", ("ListConfigResources", "ConfigResources"): "ResourceName",
}

UNORDERED_TEXTS = {("ConsumerGroupDescribe", "SubscribedTopicNames")}

NAMES = [
    ("throttle", "`ThrottleTimeMs` is left out"),
    ("id", "topic ids, member ids, producer ids, fetch sessions, directories: by the order in which they first appear in a case; none (zero, -1, empty) stays"),
    ("epoch", "leader epochs: by the order in which they first appear in a case; -1 stays; a coordinator's in a marker is left out"),
    ("share epoch", "epochs of share groups and of their states: whether there is one; Kafka raises the former more often, while it makes the states of partitions"),
    ("time", "records bear times of yesterday, compared to the millisecond; what the broker's clock put in is `now`"),
    ("place", "ports, the cluster's id, the broker's folders, the space on its disk"),
    ("text", "error messages: whether there is one; null, empty and `NONE` are none"),
    ("order", "arrays that come out of a hash map in Kafka are sorted"),
    ("run", "names of topics and groups without the mark of the run; in lists of everything, only those of the case"),
    ("records", "record batches are taken apart into header fields and records"),
]


class Rules:
    """The normalisation of one case against one broker."""

    def __init__(self, side):
        self.side = side
        self.seen = {}

    def normalise(self, api, value):
        if not isinstance(value, dict):
            return value
        return self.struct(api, value)

    def struct(self, api, values):
        return {name: self.field(api, name, value) for name, value in values.items() if name != "ThrottleTimeMs"}

    def field(self, api, name, value):
        if isinstance(value, dict):
            return self.struct(api, value)
        if isinstance(value, list):
            return self.array(api, name, value)
        if isinstance(value, uuid.UUID):
            return self.numbered("id", value) if value.int else "no id"
        if value is None:
            return None
        if isinstance(value, bytes):
            return self.bytes(api, name, value)
        if isinstance(value, str):
            return self.text(name, value)
        if name == "LeaderEpoch" and api in NO_LEADER and value == 0:
            return value
        if name == "LeaderEpoch" and api == "DescribeShareGroupOffsets" and value >= 0:
            return "an epoch"
        if name in EPOCHS and value >= 0:
            return self.numbered("epoch", value)
        if name in SHARE_EPOCHS and api in SHARE_APIS and value > 0:
            return "an epoch"
        if name in TIMES:
            return self.time(value)
        if name in NUMBERED and value > 0:
            return self.numbered(NUMBERED[name], value)
        if name in SPACES and value > 0:
            return "space"
        if name == "Port" and value > 0:
            return "port"
        return value

    def array(self, api, name, values):
        values = [each for each in values if not self.is_foreign(api, name, each)]
        out = []
        key = UNORDERED.get((api, name))
        if key and all(isinstance(each, dict) for each in values):
            values = sorted(values, key=lambda each: self.place(each, key))
        elif (api, name) in UNORDERED_TEXTS or (api, name) == ("DescribeTransactions", "Partitions"):
            values = sorted(values)
        for each in values:
            out.append(self.struct(api, each) if isinstance(each, dict) else self.field(api, name, each))
        return out

    def place(self, each, key):
        """By name, or, where topics are named by their ids, in the order in which the script named them."""
        if key not in each and "TopicId" in each:
            return f"{self.seen.get('id', {}).get(each['TopicId'], 0):06}"
        return f"{each.get(key, '')} {each.get('ResourceType', '')}"

    def learn(self, value):
        """Numbers the ids that a request names, so that the numbers do not hang on the order of the answer."""
        if isinstance(value, uuid.UUID) and value.int:
            self.numbered("id", value)
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            self.learn(each)

    def is_foreign(self, api, name, each):
        """In answers about everything: what other cases made."""
        if (api, name) in (("ListGroups", "Groups"), ("DescribeLogDirs", "Topics"), ("ElectLeaders", "ReplicaElectionResults")):
            whole = each.get("GroupId") or each.get("Name") or each.get("Topic") or ""
            return not whole.startswith(f"{self.side.slug}.")
        return False

    def text(self, name, value):
        if name in TEXTS:
            return None if value in ("", "NONE") else "a text"
        if name == "ClusterId":
            return "the cluster's id"
        if name in NUMBERED and value:
            return self.numbered(NUMBERED[name], value)
        if value.startswith("/"):
            return "a folder"
        return value.replace(f"-{self.side.run}", "").replace(f"{self.side.slug}.", "")

    def time(self, value):
        if abs(value - self.side.past) < 12 * HOUR:
            return f"past{value - self.side.past:+}"
        if abs(value - self.side.now_ms) < HOUR:
            return "now"
        return value

    def bytes(self, api, name, value):
        if name == "Records":
            return [self.struct(api, each) for each in batches.read(value)]
        return value.hex()

    def numbered(self, kind, value):
        known = self.seen.setdefault(kind, {})
        return f"{kind} #{known.setdefault(value, len(known) + 1)}"
