package fanlog;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** What an operator asks of the broker, after the group has ended. */
final class AdminChecks {
    private final Admin admin;
    private final String topic;
    private final String group;
    private final int partitions;

    static void run(Conversation args) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args.text("bootstrap")))) {
            AdminChecks checks = new AdminChecks(admin, args);
            checks.configs();
            Map<TopicPartition, Long> ends = checks.offsets(OffsetSpec.latest());
            long total = ends.values().stream().mapToLong(Long::longValue).sum();
            Conversation.check(total == args.number("records"), "list offsets: " + total + " records");
            checks.groups(ends);
            checks.cluster();
            checks.records(ends);
            checks.removal();
        }
    }

    private AdminChecks(Admin admin, Conversation args) {
        this.admin = admin;
        topic = args.text("topic");
        group = args.text("group");
        partitions = args.number("partitions");
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(20, SECONDS);
    }

    private Config describe() throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        return get(admin.describeConfigs(List.of(resource)).all()).get(resource);
    }

    private void configs() throws Exception {
        ConfigEntry retention = describe().get("retention.ms");
        Conversation.check(
                retention.value().equals("86400000")
                        && retention.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG,
                "describe configs: the value set at creation, with its source");
        ConfigEntry policy = describe().get("cleanup.policy");
        Conversation.check(
                policy != null && policy.value().equals("delete") && policy.isDefault(),
                "describe configs: a default is told as one");
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Collection<AlterConfigOp> change = List.of(
                new AlterConfigOp(new ConfigEntry("max.message.bytes", "2000000"), AlterConfigOp.OpType.SET));
        get(admin.incrementalAlterConfigs(Map.of(resource, change)).all());
        Conversation.checkSoon(
                () -> describe().get("max.message.bytes").value().equals("2000000"), "incremental alter configs");
        Collection<AlterConfigOp> back = List.of(
                new AlterConfigOp(new ConfigEntry("max.message.bytes", ""), AlterConfigOp.OpType.DELETE));
        get(admin.incrementalAlterConfigs(Map.of(resource, back)).all());
        Conversation.checkSoon(
                () -> describe().get("max.message.bytes").isDefault(), "alter configs: back to the default");
    }

    private Map<TopicPartition, Long> offsets(OffsetSpec spec) throws Exception {
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            wanted.put(new TopicPartition(topic, partition), spec);
        }
        Map<TopicPartition, Long> found = new HashMap<>();
        get(admin.listOffsets(wanted).all()).forEach((partition, info) -> found.put(partition, info.offset()));
        return found;
    }

    private void groups(Map<TopicPartition, Long> ends) throws Exception {
        var described = get(admin.describeConsumerGroups(List.of(group)).all()).get(group);
        Conversation.check(
                described.groupState() == GroupState.EMPTY && described.members().isEmpty(), "describe group: empty");
        boolean isListed = get(admin.listGroups().all()).stream().anyMatch(g -> g.groupId().equals(group));
        Conversation.check(isListed, "list groups");
        Map<TopicPartition, OffsetAndMetadata> committed =
                get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
        boolean isAtEnd = ends.entrySet().stream().allMatch(end -> end.getValue() == 0
                || committed.containsKey(end.getKey())
                        && committed.get(end.getKey()).offset() == end.getValue());
        Conversation.check(isAtEnd, "group offsets: committed to the end");
    }

    private void cluster() throws Exception {
        var cluster = admin.describeCluster();
        Conversation.check(get(cluster.nodes()).size() == 1 && get(cluster.controller()) != null, "describe cluster");
        var folders = get(admin.describeLogDirs(List.of(get(cluster.controller()).id())).allDescriptions());
        boolean hasTopic = folders.values().stream()
                .flatMap(dirs -> dirs.values().stream())
                .anyMatch(dir -> dir.replicaInfos().keySet().stream().anyMatch(p -> p.topic().equals(topic)));
        Conversation.check(hasTopic, "describe log dirs");
    }

    private void records(Map<TopicPartition, Long> ends) throws Exception {
        TopicPartition busiest =
                ends.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
        long upto = ends.get(busiest) / 2;
        get(admin.deleteRecords(Map.of(busiest, RecordsToDelete.beforeOffset(upto))).all());
        Conversation.check(
                offsets(OffsetSpec.earliest()).get(busiest) == upto, "delete records: the start moved");
        Conversation.check(
                offsets(OffsetSpec.maxTimestamp()).get(busiest) >= upto, "list offsets: the greatest timestamp");
    }

    private void removal() throws Exception {
        get(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions + 2))).all());
        Conversation.checkSoon(
                () -> get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic).partitions().size()
                        == partitions + 2,
                "create partitions");
        get(admin.deleteConsumerGroups(List.of(group)).all());
        boolean isListed = get(admin.listGroups().all()).stream().anyMatch(g -> g.groupId().equals(group));
        Conversation.check(!isListed, "delete group");
        get(admin.deleteTopics(List.of(topic)).all());
        Conversation.checkSoon(() -> !get(admin.listTopics().names()).contains(topic), "delete topic");
    }
}
