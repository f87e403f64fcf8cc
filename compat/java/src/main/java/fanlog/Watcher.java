package fanlog;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member that says what it owns and since when: the lines of compat/groups/members.py. */
final class Watcher implements ConsumerRebalanceListener {
    private final KafkaConsumer<String, String> consumer;
    private final int commitEvery;
    private final Map<TopicPartition, OffsetAndMetadata> processed =
            new TreeMap<>((one, two) -> one.toString().compareTo(two.toString()));
    private int sinceCommit;

    static void run(Conversation args) {
        AtomicBoolean isStopping = new AtomicBoolean();
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            isStopping.set(true);
            try {
                main.join(30_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        new Watcher(args).poll(isStopping);
    }

    private Watcher(Conversation args) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args.text("bootstrap"));
        settings.put("group.id", args.text("group"));
        settings.put("group.protocol", args.text("protocol"));
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("max.poll.records", "20");
        settings.put("metadata.max.age.ms", "1000");
        if (args.text("protocol").equals("classic")) {
            settings.put("session.timeout.ms", "6000");
            settings.put("heartbeat.interval.ms", "500");
        }
        if (args.has("instance")) {
            settings.put("group.instance.id", args.text("instance"));
        }
        consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        commitEvery = args.number("commit-every");
        if (args.has("pattern")) {
            consumer.subscribe(new SubscriptionPattern(args.text("pattern")), this);
        } else if (args.has("client-pattern")) {
            consumer.subscribe(Pattern.compile(args.text("client-pattern")), this);
        } else {
            consumer.subscribe(List.of(args.text("topics").split(",")), this);
        }
    }

    private void poll(AtomicBoolean isStopping) {
        try {
            while (!isStopping.get()) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    take(record);
                }
                if (sinceCommit >= commitEvery) {
                    commit();
                }
            }
            commit();
        } catch (KafkaException e) {
            tell("error", e.getClass().getSimpleName());
        }
        consumer.close();
    }

    private void take(ConsumerRecord<String, String> record) {
        tell("got", record.topic() + ":" + record.partition(), record.offset(), record.value());
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        processed.put(partition, new OffsetAndMetadata(record.offset() + 1));
        sinceCommit++;
    }

    private void commit() {
        sinceCommit = 0;
        if (processed.isEmpty()) {
            return;
        }
        try {
            consumer.commitSync(processed);
            tell("committed", processed.entrySet().stream()
                    .map(each -> each.getKey().topic() + ":" + each.getKey().partition() + "=" + each.getValue().offset())
                    .collect(Collectors.joining(",")));
        } catch (KafkaException e) {
            tell("refused", e.getClass().getSimpleName());
            return;
        }
        processed.clear();
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        commit();
        processed.keySet().removeAll(partitions);
        tell("revoked", names(partitions));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        tell("assigned", names(partitions));
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        processed.keySet().removeAll(partitions);
        tell("lost", names(partitions));
    }

    private static String names(Collection<TopicPartition> partitions) {
        return partitions.stream().map(each -> each.topic() + ":" + each.partition()).sorted().collect(Collectors.joining(","));
    }

    private static void tell(String word, Object... fields) {
        Instant now = Instant.now();
        long at = now.getEpochSecond() * 1_000_000_000L + now.getNano();
        Conversation.tell(word, at, java.util.Arrays.stream(fields).map(Object::toString).collect(Collectors.joining("\t")));
    }
}
