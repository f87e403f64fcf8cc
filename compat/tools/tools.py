"""Kafka 4.4's command-line tools, unmodified, and what each must print.

    tools.py BOOTSTRAP [--fanlog]

Prints a line for each check: `ok` or `failed`, a tab, and what. Against Apache Kafka (without --fanlog) the same is expected, but for what
Fanlog refuses by decision (docs/decisions/refused-administration.md).
Read next: `verifiable.py`, for the programs with which Kafka's system tests produce and consume.
"""

import json
import os
import sys
import tempfile
import uuid

from jvm import Wrong, run

RUN = uuid.uuid4().hex[:8]
TOPIC = f"tools-{RUN}"
GROUP = f"tools-group-{RUN}"
RECORDS = 3000


class Tools:
    def __init__(self, bootstrap, is_fanlog):
        self.bootstrap, self.is_fanlog = bootstrap, is_fanlog
        self.to = ("--bootstrap-server", bootstrap)
        self.node = "1"
        self.folder = tempfile.mkdtemp(prefix="tools-")

    def run(self, tool, *arguments, **rest):
        return run(tool, *self.to, *arguments, **rest)

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w") as out:
            json.dump(content, out)
        return path

    # In this order: what one makes, the next ones use.

    def topics(self):
        """kafka-topics: create, describe, list, alter, refuse, delete"""
        self.run("TopicCommand", "--create", "--topic", TOPIC, "--partitions", "3", "--config", "retention.ms=100000000").has(f"Created topic {TOPIC}")
        self.run("TopicCommand", "--describe", "--topic", TOPIC).has(
            r"PartitionCount: 3\tReplicationFactor: 1\tConfigs: .*retention.ms=100000000", rf"Partition: 2\tLeader: {self.node}\tReplicas: {self.node}\tIsr: {self.node}"
        )
        self.run("TopicCommand", "--alter", "--topic", TOPIC, "--partitions", "4")
        self.run("TopicCommand", "--describe", "--topic", TOPIC).has("PartitionCount: 4")
        self.run("TopicCommand", "--list").has(f"^{TOPIC}$")
        self.run("TopicCommand", "--describe", "--under-replicated-partitions").lacks("Partition:")
        self.run("TopicCommand", "--describe", "--topics-with-overrides").has(f"Topic: {TOPIC}\t")
        self.run("TopicCommand", "--create", "--topic", TOPIC, succeeds=False).has("already exists")
        self.run("TopicCommand", "--create", "--topic", TOPIC, "--if-not-exists")
        self.run("TopicCommand", "--create", "--topic", f"{TOPIC}-3", "--replication-factor", "3", succeeds=False).has("[Rr]eplication factor")
        self.run("TopicCommand", "--alter", "--topic", TOPIC, "--partitions", "2", succeeds=False).has("partition")
        self.run("TopicCommand", "--create", "--topic", f"{TOPIC}-gone")
        self.run("TopicCommand", "--delete", "--topic", f"{TOPIC}-gone")
        self.run("TopicCommand", "--describe", "--topic", f"{TOPIC}-gone", succeeds=False).has("does not exist")

    def configs(self):
        """kafka-configs: topics and brokers, set, read back, unset, refused"""
        topic = ("--entity-type", "topics", "--entity-name", TOPIC)
        self.run("ConfigCommand", "--alter", *topic, "--add-config", "cleanup.policy=[compact,delete],segment.ms=60000").has("Completed updating config")
        self.run("ConfigCommand", "--describe", *topic).has("cleanup.policy=compact,delete .*DYNAMIC_TOPIC_CONFIG", "segment.ms=60000 ", "retention.ms=100000000")
        self.run("ConfigCommand", "--alter", *topic, "--delete-config", "cleanup.policy,segment.ms").has("Completed")
        self.run("ConfigCommand", "--describe", *topic).lacks("cleanup.policy", "segment.ms").has("retention.ms")
        self.run("ConfigCommand", "--alter", *topic, "--add-config", "retention.ms=soon", succeeds=False).has("InvalidConfig|retention.ms")
        self.run("ConfigCommand", "--alter", *topic, "--add-config", "no.such.setting=1", succeeds=False).has("no.such.setting")
        everyone = ("--entity-type", "brokers", "--entity-default")
        self.run("ConfigCommand", "--alter", *everyone, "--add-config", "log.retention.ms=86400000").has("Completed")
        self.run("ConfigCommand", "--describe", *everyone).has("log.retention.ms=86400000 .*DYNAMIC_DEFAULT_BROKER_CONFIG")
        self.run("ConfigCommand", "--alter", *everyone, "--delete-config", "log.retention.ms").has("Completed")
        self.run("ConfigCommand", "--describe", *everyone).lacks("log.retention.ms=")
        self.run("ConfigCommand", "--describe", "--entity-type", "brokers", "--entity-name", self.node, "--all").has(
            "num.partitions=6 ", rf"node.id={self.node} ", "log.segment.bytes=1073741824 "
        )

    def producer_performance(self):
        """kafka-producer-perf-test: every record acknowledged, a line of figures"""
        wanted = ("--num-records", str(RECORDS), "--record-size", "100", "--throughput", "-1")
        properties = ("--command-property", f"bootstrap.servers={self.bootstrap}", "acks=all")
        run("ProducerPerformance", "--topic", TOPIC, *wanted, *properties).has(rf"^{RECORDS} records sent, .*99.9th")

    def consumer_performance(self):
        """kafka-consumer-perf-test: reads all of it in a group"""
        output = self.run("ConsumerPerformance", "--topic", TOPIC, "--num-records", str(RECORDS), "--group", GROUP, "--timeout", "30000")
        if [count for (count,) in output.lines(r"^\d{4}-.*?, \d{4}-.*?, [\d.]+, [\d.]+, (\d+), ")] != [str(RECORDS)]:
            raise Wrong(f"another number of records: {output.tail()}")

    def get_offsets(self):
        """kafka-get-offsets: the first, the next, the last by time"""
        output = self.run("GetOffsetShell", "--topic", TOPIC)
        ends = {int(partition): int(offset) for partition, offset in output.lines(rf"^{TOPIC}:(\d+):(\d+)$")}
        if sorted(ends) != [0, 1, 2, 3] or sum(ends.values()) != RECORDS:
            raise Wrong(f"{ends} are not {RECORDS} records in four partitions")
        for partition in ends:
            self.run("GetOffsetShell", "--topic-partitions", f"{TOPIC}:{partition}", "--time", "earliest").has(rf"^{TOPIC}:{partition}:0$")
        full = max(ends, key=ends.get)
        found = self.run("GetOffsetShell", "--topic-partitions", f"{TOPIC}:{full}", "--time", "max-timestamp").lines(rf"^{TOPIC}:{full}:(\d+)$")
        if not 0 <= int(found[0][0]) < ends[full]:
            raise Wrong(f"the newest record of {ends[full]} is at {found}")

    def consumer_groups(self):
        """kafka-consumer-groups: list, describe, reset, forget, delete"""
        tool, group = "consumer.group.ConsumerGroupCommand", ("--group", GROUP)
        self.run(tool, "--list").has(f"^{GROUP}$")
        self.run(tool, "--list", "--state").has(rf"^{GROUP} +Empty")
        output = self.run(tool, "--describe", *group)
        lag = output.lines(rf"^{GROUP} +{TOPIC} +\d +(\d+) +(\d+) +(\d+) ")
        if len(lag) != 4 or any(at != end or left != "0" for at, end, left in lag) or sum(int(at) for at, _, _ in lag) != RECORDS:
            raise Wrong(f"not at the end of everything: {output.tail()}")
        self.run(tool, "--describe", *group, "--state").has(rf"^{GROUP} .*\({self.node}\) .*Empty +0")
        self.run(tool, "--describe", *group, "--members").lacks("127.0.0.1")
        self.run(tool, "--reset-offsets", *group, "--topic", TOPIC, "--to-earliest", "--dry-run").has(rf"^{GROUP} +{TOPIC} +3 +0 *$")
        self.run(tool, "--describe", *group).lacks(rf"^{GROUP} +{TOPIC} +\d +0 +[1-9]")
        self.run(tool, "--reset-offsets", *group, "--topic", TOPIC, "--shift-by", "-10", "--execute")
        moved = self.run(tool, "--describe", *group).lines(rf"^{GROUP} +{TOPIC} +\d +\d+ +(\d+) +(\d+) ")
        if [left for _, left in moved] != [str(min(10, int(end))) for end, _ in moved]:
            raise Wrong(f"not ten behind: {moved}")
        self.run(tool, "--delete-offsets", *group, "--topic", f"{TOPIC}:0").has(rf"{TOPIC} +0 +Successful")
        self.run(tool, "--describe", *group).lacks(rf"^{GROUP} +{TOPIC} +0 ")
        self.run(tool, "--delete", *group).has("was successful")
        self.run(tool, "--list").lacks(f"^{GROUP}$")
        self.run(tool, "--describe", *group, succeeds=None).has("GroupIdNotFound|does not exist|not found")

    def delete_records(self):
        """kafka-delete-records: the log starts later; beyond its end is refused"""
        wanted = lambda offset: {"version": 1, "partitions": [{"topic": TOPIC, "partition": 0, "offset": offset}]}
        self.run("DeleteRecordsCommand", "--offset-json-file", self.file("delete.json", wanted(5))).has(rf"{TOPIC}-0\tlow_watermark: 5")
        self.run("GetOffsetShell", "--topic-partitions", f"{TOPIC}:0", "--time", "earliest").has(rf"^{TOPIC}:0:5$")
        self.run("DeleteRecordsCommand", "--offset-json-file", self.file("beyond.json", wanted(10**9)), succeeds=None).has("OffsetOutOfRange|range")

    def features(self):
        """kafka-features: what is on; what can't be is refused"""
        described = self.run("FeatureCommand", "describe").lines(r"^Feature: (\S+)\s+SupportedMinVersion: \S+\s+SupportedMaxVersion: (\S+)\s+FinalizedVersionLevel: (\d+)\s+Epoch: \d+")
        if "group.version" not in {name for name, _, _ in described}:
            raise Wrong(f"features: {described}")
        if self.is_fanlog and any(highest != level for _, highest, level in described):
            raise Wrong(f"a feature is not at its highest level: {described}")
        for name, _, level in described:
            if self.is_fanlog or name != "kraft.version":
                self.run("FeatureCommand", "upgrade", "--feature", f"{name}={level}").has(f"{name} was upgraded to {level}")
        self.run("FeatureCommand", "upgrade", "--feature", "group.version=99", succeeds=False).has("Could not upgrade group.version to 99")
        self.run("FeatureCommand", "upgrade", "--feature", "no.such.feature=1", succeeds=False).has("Could not upgrade no.such.feature")

    def metadata_quorum(self):
        """kafka-metadata-quorum: one voter, which leads"""
        self.run("MetadataQuorumCommand", "describe", "--status").has(
            rf"^LeaderId: +{self.node}$", "^MaxFollowerLag: +0$", rf'^CurrentVoters: +\[{{"id": {self.node}, .*"endpoints": ', r"^CurrentObservers: +\[\]$"
        )
        self.run("MetadataQuorumCommand", "describe", "--replication").has(rf"^{self.node} .*\t0 .*Leader")

    def leader_election(self):
        """kafka-leader-election: nothing to elect; an unknown partition fails"""
        self.run("LeaderElectionCommand", "--election-type", "preferred", "--topic", TOPIC, "--partition", "0").has(f"Valid replica already elected for partitions {TOPIC}-0")
        self.run("LeaderElectionCommand", "--election-type", "preferred", "--all-topic-partitions")
        self.run("LeaderElectionCommand", "--election-type", "unclean", "--topic", TOPIC, "--partition", "9", succeeds=False).has("UnknownTopicOrPartition")

    def reassignments(self):
        """kafka-reassign-partitions: generate, execute, verify, list, cancel; a strange broker is refused"""
        tool, node = "reassign.ReassignPartitionsCommand", int(self.node)
        wanted = lambda replicas: {"version": 1, "partitions": [{"topic": TOPIC, "partition": 0, "replicas": replicas}]}
        same = self.file("same.json", wanted([node]))
        self.run(tool, "--generate", "--broker-list", self.node, "--topics-to-move-json-file", self.file("topics.json", {"version": 1, "topics": [{"topic": TOPIC}]})).has(
            "Proposed partition reassignment configuration\n" + r'.*"replicas":\[' + self.node
        )
        self.run(tool, "--execute", "--reassignment-json-file", same).has(f"Successfully started partition reassignment for {TOPIC}-0")
        self.run(tool, "--verify", "--reassignment-json-file", same).has(f"Reassignment of partition {TOPIC}-0 is completed")
        self.run(tool, "--list").has("No partition reassignments found")
        self.run(tool, "--cancel", "--reassignment-json-file", same).has("None of the specified partition reassignments are active")
        self.run(tool, "--execute", "--reassignment-json-file", self.file("other.json", wanted([node + 1])), succeeds=False).has(f"Unknown broker id {node + 1}")

    def log_dirs(self):
        """kafka-log-dirs: an absolute folder, the sizes of what is in it"""
        output = self.run("LogDirsCommand", "--describe", "--topic-list", TOPIC)
        folder = json.loads(next(line for line in output.text.splitlines() if line.startswith("{")))["brokers"][0]["logDirs"][0]
        sizes = {each["partition"]: each["size"] for each in folder["partitions"]}
        if not folder["logDir"].startswith("/") or sorted(sizes) != [f"{TOPIC}-{index}" for index in range(4)] or sum(sizes.values()) < 100 * RECORDS:
            raise Wrong(f"{folder}")

    def acls(self):
        """kafka-acls: list, add and remove say that there is no authorizer"""
        missing = "SecurityDisabledException: No Authorizer is configured"
        self.run("AclCommand", "--list", succeeds=False).has(missing)
        self.run("AclCommand", "--add", "--allow-principal", "User:bob", "--operation", "Read", "--topic", TOPIC, succeeds=False).has(missing)
        self.run("AclCommand", "--remove", "--force", "--topic", TOPIC, succeeds=False).has(missing)

    def users(self):
        """kafka-configs: passwords and quotas are refused with the reason, and none is shown"""
        alice = ("--entity-type", "users", "--entity-name", f"alice-{RUN}")
        shown = self.run("ConfigCommand", "--describe", *alice).lacks("SCRAM", "producer_byte_rate")
        if not self.is_fanlog:
            return
        self.run("ConfigCommand", "--alter", *alice, "--add-config", "SCRAM-SHA-256=[password=secret-1]", succeeds=False).has("SecurityDisabledException: .*SCRAM")
        self.run("ConfigCommand", "--alter", *alice, "--add-config", "producer_byte_rate=1024", succeeds=False).has("PolicyViolationException: .*quotas")
        if self.run("ConfigCommand", "--describe", *alice).text != shown.text:
            raise Wrong("something was kept")

    def tokens(self):
        """kafka-delegation-tokens: not without authentication"""
        settings = os.path.join(self.folder, "client.properties")
        open(settings, "w").close()
        for arguments in (("--create", "--max-life-time-period", "-1"), ("--describe",)):
            self.run("DelegationTokenCommand", "--command-config", settings, *arguments, succeeds=False).has("UnsupportedByAuthentication|DelegationToken.*NotAllowed|not allowed")

    def broker_api_versions(self):
        """kafka-broker-api-versions: what is served, in versions that Kafka 4.4 uses"""
        output = self.run("BrokerApiVersionsCommand").has(r"Produce\(0\): 0 to 13 \[usable: 13\]", r"Fetch\(1\): 4 to 18 \[usable: 18\]")
        served = [name for name, _ in output.lines(r"^\t(\w+)\(\d+\): .*\[usable: (\d+)\]")]
        if len(served) < 45:
            raise Wrong(f"only {len(served)} APIs: {served}")

    def cluster(self):
        """kafka-cluster: its id and its endpoint"""
        run("ClusterTool", "cluster-id", *self.to).has(r"^Cluster ID: \S{22}$")
        run("ClusterTool", "list-endpoints", *self.to).has(rf"^{self.node} +127.0.0.1 +{self.bootstrap.rsplit(':', 1)[1]} .*broker")

    def console(self):
        """kafka-console-producer and -consumer: keys, headers and values there and back"""
        topic, lines = f"{TOPIC}-console", [f"h:{n}\tkey-{n}\tvalue {n}" for n in range(40)]
        self.run("TopicCommand", "--create", "--topic", topic, "--partitions", "1")
        parsing = ("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true")
        self.run("ConsoleProducer", "--topic", topic, "--compression-codec", "zstd", *parsing, given="\n".join(lines) + "\n")
        printing = [word for name in ("headers", "key", "offset") for word in ("--formatter-property", f"print.{name}=true")]
        output = self.run("consumer.ConsoleConsumer", "--topic", topic, "--from-beginning", "--max-messages", "40", "--timeout-ms", "20000", *printing)
        got = output.lines(r"^Offset:(\d+)\t(h:\d+)\t(key-\d+)\t(value \d+)$")
        if got != [(str(n), *line.split("\t")) for n, line in enumerate(lines)]:
            raise Wrong(f"other records: {output.tail()}")

    def end_to_end_latency(self):
        """kafka-e2e-latency: each record back before the next"""
        named = ("--topic", TOPIC, "--num-records", "100", "--producer-acks", "all", "--record-size", "20")
        self.run("EndToEndLatency", *named).has(r"^Avg latency: [\d.]+ ms", "Percentiles: 50th = ")

    def groups(self):
        """kafka-groups: lists a group with its type and protocol"""
        group = f"{GROUP}-listed"
        self.run("consumer.ConsoleConsumer", "--topic", TOPIC, "--group", group, "--from-beginning", "--max-messages", "1", "--timeout-ms", "20000")
        self.run("GroupsCommand", "--list").has(rf"^{group} +Classic +consumer")

    def producers(self):
        """kafka-transactions describe-producers: the producer of the performance test"""
        run("TransactionsCommand", *self.to, "describe-producers", "--topic", TOPIC, "--partition", "0").has("^ProducerId\t", r"^\d+ *\t0 ")

    def transactions(self):
        """kafka-producer-perf-test in transactions, and kafka-transactions: list, describe, find none that hangs"""
        name, topic = f"perf-{RUN}", f"{TOPIC}-transactions"
        self.run("TopicCommand", "--create", "--topic", topic, "--partitions", "1")
        run(
            "ProducerPerformance", "--topic", topic, "--num-records", "500", "--record-size", "100", "--throughput", "2000",
            "--transactional-id", name, "--transaction-duration-ms", "50", "--command-property", f"bootstrap.servers={self.bootstrap}",
        ).has("^500 records sent, ")
        self.run("TransactionsCommand", "list").has(rf"^{name} *\t{self.node} .*CompleteCommit")
        self.run("TransactionsCommand", "describe", "--transactional-id", name).has(rf"^{self.node} *\t{name} *\t\d+ *\t\d+ *\tCompleteCommit")
        self.run("TransactionsCommand", "find-hanging", "--broker-id", self.node).lacks(topic)
        self.run("TransactionsCommand", "describe-producers", "--topic", topic, "--partition", "0").has(
            # No sequence of the epoch that the last transaction's end has begun.
            r"^\d+ *\t\d+ *\t\d+ *\t-?\d+ *\t\d+\tNone"
        )
        # Each transaction leaves a marker behind its records.
        ends = self.run("GetOffsetShell", "--topic", topic).lines(rf"^{topic}:0:(\d+)$")
        if int(ends[0][0]) <= 500:
            raise Wrong(f"the log ends at {ends}: no markers")
        read = ("--from-beginning", "--timeout-ms", "6000", "--isolation-level", "read_committed")
        self.run("consumer.ConsoleConsumer", "--topic", topic, *read, succeeds=None).has("Processed a total of 500 messages")

    def share_groups(self):
        """kafka-configs of a group, kafka-console-share-consumer, kafka-share-consumer-perf-test, kafka-share-groups: describe, reset, delete"""
        tool, group, topic = "consumer.group.ShareGroupCommand", f"{GROUP}-share", f"{TOPIC}-share"
        self.run("TopicCommand", "--create", "--topic", topic, "--partitions", "1")
        run("ProducerPerformance", "--topic", topic, "--num-records", "500", "--record-size", "10", "--throughput", "-1", "--command-property", f"bootstrap.servers={self.bootstrap}")
        settings = ("--entity-type", "groups", "--entity-name", group)
        self.run("ConfigCommand", "--alter", *settings, "--add-config", "share.auto.offset.reset=earliest").has("Completed")
        self.run("ConfigCommand", "--describe", *settings).has("share.auto.offset.reset=earliest .*DYNAMIC_GROUP_CONFIG")
        self.run("consumer.ConsoleShareConsumer", "--topic", topic, "--group", group, "--max-messages", "500", "--timeout-ms", "30000").has("Processed a total of 500 messages")
        self.run(tool, "--list").has(f"^{group}$")
        # Where it starts, Kafka writes down a while later; nothing is left either way.
        self.run(tool, "--describe", "--group", group).has(rf"^{group} +{topic} +0 +\d+ +0 *$")
        self.run(tool, "--describe", "--group", group, "--state").has(rf"^{group} .*\({self.node}\) +Empty +0")
        self.run("GroupsCommand", "--list").has(rf"^{group} +Share +share")
        self.run(tool, "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute").has(rf"^{group} +{topic} +0 +0 *$")
        output = self.run("ShareConsumerPerformance", "--topic", topic, "--group", group, "--num-records", "500", "--timeout", "30000")
        if not output.lines(r"^\d{4}-.*, (500), "):
            raise Wrong(f"not 500 again: {output.tail()}")
        self.run(tool, "--delete-offsets", "--group", group, "--topic", topic).has(rf"^{topic} +Successful")
        self.run(tool, "--delete", "--group", group).has("was successful")
        self.run(tool, "--list").lacks(f"^{group}$")
        self.run("ConfigCommand", "--alter", *settings, "--delete-config", "share.auto.offset.reset").has("Completed")

    def client_metrics(self):
        """kafka-client-metrics: none is there; setting one up is refused with the reason"""
        self.run("ClientMetricsCommand", "--list")
        if self.is_fanlog:
            wanted = ("--alter", "--name", "metrics", "--metrics", "org.apache", "--interval", "1000")
            self.run("ClientMetricsCommand", *wanted, succeeds=False).has("ClientMetrics has no settings here")

    ALL = (
        topics, configs, producer_performance, consumer_performance, get_offsets, consumer_groups, producers, delete_records, features,
        metadata_quorum, leader_election, reassignments, log_dirs, acls, users, tokens, broker_api_versions, cluster, console,
        end_to_end_latency, groups, transactions, share_groups, client_metrics,
    )


def main():
    tools = Tools(sys.argv[1], "--fanlog" in sys.argv[2:])
    failed = 0
    for check in Tools.ALL:
        what = check.__doc__.strip()
        try:
            check(tools)
            print(f"ok\t{what}", flush=True)
        except (Wrong, ValueError, LookupError, StopIteration) as error:
            failed += 1
            print(f"failed\t{what}: {str(error).replace(chr(10), ' | ')}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
