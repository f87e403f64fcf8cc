package fanlog;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** KafkaShareConsumer and what its Admin says of share groups. */
final class ShareChecks {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final String bootstrap;
    private final String run;
    private final Admin admin;

    static void run(Conversation args) throws Exception {
        String bootstrap = args.text("bootstrap");
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            ShareChecks checks = new ShareChecks(bootstrap, args.text("topic"), admin);
            checks.implicitly();
            checks.explicitly();
            checks.renewed();
            checks.givenUp();
            checks.limited();
            checks.shared();
            checks.latest();
            checks.administered();
            checks.committedOnly();
        }
    }

    private ShareChecks(String bootstrap, String run, Admin admin) {
        this.bootstrap = bootstrap;
        this.run = run;
        this.admin = admin;
    }

    private String topic(String name, int partitions) throws Exception {
        String topic = run + "." + name;
        admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get(20, SECONDS);
        return topic;
    }

    private void produce(String topic, int first, int count) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int id = first; id < first + count; id++) {
                producer.send(new ProducerRecord<>(topic, "k" + id, "v" + id));
            }
        }
    }

    /** A share group with these settings, as `name=value`. */
    private String group(String name, String... settings) throws Exception {
        String group = run + "-" + name;
        List<AlterConfigOp> changes = new ArrayList<>();
        for (String setting : settings) {
            String[] parts = setting.split("=", 2);
            changes.add(new AlterConfigOp(new ConfigEntry(parts[0], parts[1]), AlterConfigOp.OpType.SET));
        }
        ConfigResource resource = new ConfigResource(ConfigResource.Type.GROUP, group);
        admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get(20, SECONDS);
        return group;
    }

    private KafkaShareConsumer<String, String> consumer(String group, String topic, String... settings) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("group.id", group);
        for (String setting : settings) {
            String[] parts = setting.split("=", 2);
            properties.put(parts[0], parts[1]);
        }
        var consumer = new KafkaShareConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(topic));
        return consumer;
    }

    /** Polls until `wanted` records came, or nothing more does; each is handed to `each`. */
    private static List<ConsumerRecord<String, String>> read(
            KafkaShareConsumer<String, String> consumer, int wanted, Function<ConsumerRecord<String, String>, AcknowledgeType> each) {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (found.size() < wanted && System.nanoTime() < until) {
            ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(200));
            for (ConsumerRecord<String, String> record : records) {
                found.add(record);
                AcknowledgeType type = each == null ? null : each.apply(record);
                if (type != null) {
                    consumer.acknowledge(record, type);
                }
            }
            if (each != null && !records.isEmpty()) {
                check(consumer.commitSync());
            }
        }
        return found;
    }

    private static void check(Map<TopicIdPartition, Optional<KafkaException>> outcome) {
        outcome.values().forEach(error -> error.ifPresent(e -> {
            throw e;
        }));
    }

    /** What comes within a moment. */
    private static List<String> more(KafkaShareConsumer<String, String> consumer) {
        List<String> found = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            consumer.poll(Duration.ofMillis(200)).forEach(record -> found.add(record.value()));
        }
        return found;
    }

    private static Set<String> values(List<ConsumerRecord<String, String>> records) {
        Set<String> values = new HashSet<>();
        records.forEach(record -> values.add(record.value()));
        return values;
    }

    private void implicitly() throws Exception {
        String topic = topic("implicit", 3);
        String group = group("implicit", "share.auto.offset.reset=earliest");
        produce(topic, 0, 1000);
        try (var consumer = consumer(group, topic)) {
            var found = read(consumer, 1000, null);
            Conversation.check(found.size() == 1000 && values(found).size() == 1000, "implicit: every record once");
            check(consumer.commitSync());
        }
        try (var consumer = consumer(group, topic)) {
            Conversation.check(more(consumer).isEmpty(), "implicit: nothing again for the next member");
        }
    }

    private void explicitly() throws Exception {
        String topic = topic("explicit", 1);
        String group = group("explicit", "share.auto.offset.reset=earliest");
        produce(topic, 0, 9);
        Map<String, Integer> deliveries = new HashMap<>();
        try (var consumer = consumer(group, topic, "share.acknowledgement.mode=explicit")) {
            read(consumer, 12, record -> {
                int times = deliveries.merge(record.value(), 1, Integer::sum);
                Conversation.check(
                        record.deliveryCount().orElse((short) -1) == times, "explicit: the delivery is counted");
                int id = Integer.parseInt(record.value().substring(1));
                return switch (id % 3) {
                    case 0 -> AcknowledgeType.ACCEPT;
                    case 1 -> times < 2 ? AcknowledgeType.RELEASE : AcknowledgeType.ACCEPT;
                    default -> AcknowledgeType.REJECT;
                };
            });
            Conversation.check(more(consumer).isEmpty(), "explicit: accepted and rejected records don't come back");
        }
        boolean isRight = deliveries.entrySet().stream()
                .allMatch(e -> e.getValue() == (Integer.parseInt(e.getKey().substring(1)) % 3 == 1 ? 2 : 1));
        Conversation.check(isRight && deliveries.size() == 9, "explicit: released records come once more: " + deliveries);
    }

    private void renewed() throws Exception {
        String topic = topic("renew", 1);
        String group = group(
                "renew", "share.auto.offset.reset=earliest", "share.record.lock.duration.ms=15000");
        produce(topic, 0, 1);
        try (var consumer = consumer(group, topic, "share.acknowledgement.mode=explicit")) {
            var found = read(consumer, 1, record -> AcknowledgeType.RENEW);
            Conversation.check(found.size() == 1, "renew: the lock starts anew");
            Conversation.check(
                    consumer.acquisitionLockTimeoutMs().orElse(-1) == 15000, "renew: the lock's length is told");
            ConsumerRecords<String, String> again = consumer.poll(Duration.ofSeconds(1));
            for (ConsumerRecord<String, String> record : again) {
                consumer.acknowledge(record, AcknowledgeType.ACCEPT);
            }
            check(consumer.commitSync());
            Conversation.check(again.count() == 1, "renew: the record stays with its holder");
            Conversation.check(more(consumer).isEmpty(), "renew: done");
        }
    }

    private void givenUp() throws Exception {
        String topic = topic("limit", 1);
        String group = group("limit", "share.auto.offset.reset=earliest", "share.delivery.count.limit=3");
        produce(topic, 0, 2);
        Map<String, Integer> deliveries = new HashMap<>();
        try (var consumer = consumer(group, topic, "share.acknowledgement.mode=explicit")) {
            read(consumer, 6, record -> {
                deliveries.merge(record.value(), 1, Integer::sum);
                return AcknowledgeType.RELEASE;
            });
            Conversation.check(more(consumer).isEmpty(), "limit: given up");
        }
        Conversation.check(deliveries.equals(Map.of("v0", 3, "v1", 3)), "limit: three deliveries each: " + deliveries);
    }

    private void limited() throws Exception {
        String topic = topic("limited", 1);
        String group = group("limited", "share.auto.offset.reset=earliest");
        produce(topic, 0, 50);
        try (var consumer = consumer(group, topic, "share.acquire.mode=record_limit", "max.poll.records=7")) {
            int most = 0;
            int all = 0;
            long until = System.nanoTime() + PATIENCE.toNanos();
            while (all < 50 && System.nanoTime() < until) {
                int count = consumer.poll(Duration.ofMillis(200)).count();
                most = Math.max(most, count);
                all += count;
            }
            check(consumer.commitSync());
            Conversation.check(all == 50 && most == 7, "record limit: never more than seven at once: " + most);
        }
    }

    private void shared() throws Exception {
        String topic = topic("shared", 1);
        String group = group("shared", "share.auto.offset.reset=earliest");
        try (var one = consumer(group, topic, "share.acquire.mode=record_limit", "max.poll.records=5");
                var two = consumer(group, topic, "share.acquire.mode=record_limit", "max.poll.records=5")) {
            more(one);
            more(two);
            produce(topic, 0, 200);
            List<String> found = new ArrayList<>();
            int ofOne = 0;
            long until = System.nanoTime() + PATIENCE.toNanos();
            while (found.size() < 200 && System.nanoTime() < until) {
                for (var consumer : List.of(one, two)) {
                    for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                        found.add(record.value());
                        ofOne += consumer == one ? 1 : 0;
                    }
                }
            }
            check(one.commitSync());
            check(two.commitSync());
            Conversation.check(
                    found.size() == 200 && new HashSet<>(found).size() == 200, "shared: every record once, of one partition");
            Conversation.check(ofOne > 0 && ofOne < 200, "shared: both members have some: " + ofOne);
        }
    }

    private void latest() throws Exception {
        String topic = topic("latest", 1);
        String group = group("latest");
        produce(topic, 0, 5);
        try (var consumer = consumer(group, topic)) {
            // Kafka finds out where "latest" is some heartbeats after the first.
            boolean isQuiet = true;
            for (int i = 0; i < 8; i++) {
                isQuiet &= more(consumer).isEmpty();
            }
            Conversation.check(isQuiet, "latest: what was there before is not read");
            produce(topic, 5, 5);
            var found = read(consumer, 5, null);
            Conversation.check(values(found).equals(Set.of("v5", "v6", "v7", "v8", "v9")), "latest: what comes is read");
        }
    }

    private void committedOnly() throws Exception {
        String topic = topic("committed", 1);
        String group = group("committed", "share.auto.offset.reset=earliest", "share.isolation.level=read_committed");
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", group);
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (int round = 0; round < 4; round++) {
                producer.beginTransaction();
                for (int id = 0; id < 5; id++) {
                    producer.send(new ProducerRecord<>(topic, "k", "r" + round));
                }
                if (round % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
        try (var consumer = consumer(group, topic)) {
            var found = read(consumer, 10, null);
            Conversation.check(
                    found.size() == 10 && values(found).equals(Set.of("r0", "r2")), "read committed: nothing that was aborted");
            check(consumer.commitSync());
            Conversation.check(more(consumer).isEmpty(), "read committed: nothing else");
        }
        produce(topic, 0, 1);
        try (var consumer = consumer(group, topic)) {
            Conversation.check(values(read(consumer, 1, null)).equals(Set.of("v0")), "read committed: goes on");
        }
    }

    private void administered() throws Exception {
        String topic = topic("admin", 1);
        String group = group("admin", "share.auto.offset.reset=earliest");
        TopicPartition partition = new TopicPartition(topic, 0);
        produce(topic, 0, 10);
        try (var consumer = consumer(group, topic)) {
            read(consumer, 10, null);
            check(consumer.commitSync());
            var described = admin.describeShareGroups(List.of(group)).all().get(20, SECONDS).get(group);
            Conversation.check(
                    described.groupState() == GroupState.STABLE && described.members().size() == 1,
                    "admin: a stable group with one member");
        }
        Conversation.checkSoon(
                () -> admin.describeShareGroups(List.of(group)).all().get(20, SECONDS).get(group).groupState()
                        == GroupState.EMPTY,
                "admin: an empty group");
        // Kafka tells the start as of the last write that moved it, so it is the lag that says that all is done.
        Conversation.checkSoon(() -> lag(group, partition) == 0, "admin: where the group stands");
        admin.alterShareGroupOffsets(group, Map.of(partition, 4L)).all().get(20, SECONDS);
        Conversation.checkSoon(() -> start(group, partition) == 4, "admin: moved");
        try (var consumer = consumer(group, topic)) {
            Conversation.check(read(consumer, 6, null).size() == 6, "admin: reads from there");
            check(consumer.commitSync());
        }
        Conversation.checkSoon(
                () -> admin.describeShareGroups(List.of(group)).all().get(20, SECONDS).get(group).groupState()
                        == GroupState.EMPTY,
                "admin: empty again");
        admin.deleteShareGroupOffsets(group, Set.of(topic)).all().get(20, SECONDS);
        Conversation.checkSoon(() -> start(group, partition) == -1, "admin: offsets forgotten");
        boolean isListed = admin.listGroups().all().get(20, SECONDS).stream().anyMatch(g -> g.groupId().equals(group));
        Conversation.check(isListed, "admin: listed");
        admin.deleteShareGroups(List.of(group)).all().get(20, SECONDS);
        boolean isGone = admin.listGroups().all().get(20, SECONDS).stream().noneMatch(g -> g.groupId().equals(group));
        Conversation.check(isGone, "admin: deleted");
    }

    private long start(String group, TopicPartition partition) throws Exception {
        var offset = offset(group, partition);
        return offset == null ? -1 : offset.startOffset();
    }

    private long lag(String group, TopicPartition partition) throws Exception {
        var offset = offset(group, partition);
        return offset == null ? -1 : offset.lag().orElse(-1L);
    }

    private SharePartitionOffsetInfo offset(String group, TopicPartition partition) throws Exception {
        var spec = new ListShareGroupOffsetsSpec().topicPartitions(List.of(partition));
        var offsets = admin.listShareGroupOffsets(Map.of(group, spec)).partitionsToOffsetInfo(group).get(20, SECONDS);
        return offsets.get(partition);
    }
}
