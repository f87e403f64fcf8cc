package fanlog;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A member of a share group that tells everything: `got` for each record with its delivery, and, once the broker has answered,
 * `done` for each that it accepted, `back` for each that it released, `refused` where its word did not count.
 */
final class ShareMember {
    /** From this delivery on nothing is released any more, so that no record is given up. */
    private static final int RELEASED_UP_TO = 4;

    private ShareMember() {}

    private record Said(String id, int delivery, boolean accepts) {}

    /** The group's settings: as many deliveries as there may be, and a short lock. */
    static void prepare(Conversation args) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args.text("bootstrap")))) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.GROUP, args.text("group"));
            List<AlterConfigOp> changes = new ArrayList<>();
            for (String[] setting : new String[][] {
                {"share.auto.offset.reset", "earliest"},
                {"share.delivery.count.limit", "10"},
                {"share.record.lock.duration.ms", "15000"},
            }) {
                changes.add(new AlterConfigOp(new ConfigEntry(setting[0], setting[1]), AlterConfigOp.OpType.SET));
            }
            admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get();
            Conversation.check(true, "share group prepared");
        }
    }

    /** How many records the group is not done with. */
    static void lag(Conversation args) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args.text("bootstrap")))) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int index = 0; index < args.number("partitions"); index++) {
                partitions.add(new TopicPartition(args.text("topic"), index));
            }
            String group = args.text("group");
            var spec = Map.of(group, new ListShareGroupOffsetsSpec().topicPartitions(partitions));
            long lag = 0;
            for (var offset : admin.listShareGroupOffsets(spec).partitionsToOffsetInfo(group).get().values()) {
                lag += offset == null ? 1 : offset.lag().orElse(1L);
            }
            Conversation.tell("lag", lag);
        }
    }

    static void run(Conversation args) throws InterruptedException {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args.text("bootstrap"));
        properties.put("group.id", args.text("group"));
        properties.put("share.acknowledgement.mode", "explicit");
        properties.put("share.acquire.mode", "record_limit");
        properties.put("max.poll.records", "25");
        Random random = new Random(args.number("seed"));
        var consumer = new KafkaShareConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(args.text("topic")));
        while (true) {
            Map<TopicPartition, List<Said>> said = new HashMap<>();
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                String id = record.value().substring(0, record.value().indexOf(':'));
                int delivery = record.deliveryCount().orElse((short) 0);
                Conversation.tell("got", id, delivery);
                boolean accepts = delivery > RELEASED_UP_TO || random.nextInt(10) > 0;
                consumer.acknowledge(record, accepts ? AcknowledgeType.ACCEPT : AcknowledgeType.RELEASE);
                TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                said.computeIfAbsent(partition, p -> new ArrayList<>()).add(new Said(id, delivery, accepts));
            }
            if (!said.isEmpty()) {
                // Work takes a while: who is killed is killed in the middle of it.
                Thread.sleep(50 + random.nextInt(200));
                tell(said, consumer.commitSync());
            }
        }
    }

    private static void tell(
            Map<TopicPartition, List<Said>> said, Map<TopicIdPartition, Optional<KafkaException>> answers) {
        Map<TopicPartition, Optional<KafkaException>> byPartition = new HashMap<>();
        answers.forEach((partition, error) -> byPartition.put(partition.topicPartition(), error));
        said.forEach((partition, all) -> {
            Optional<KafkaException> error = byPartition.getOrDefault(partition, Optional.of(new KafkaException("no answer")));
            for (Said one : all) {
                if (error.isPresent()) {
                    Conversation.tell("refused", one.id, one.delivery, error.get().getClass().getSimpleName());
                } else {
                    Conversation.tell(one.accepts ? "done" : "back", one.id, one.delivery);
                }
            }
        });
    }
}
