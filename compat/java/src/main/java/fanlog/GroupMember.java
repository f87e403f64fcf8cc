package fanlog;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** One member of a group, of the protocol that GROUP_PROTOCOL names; it commits by hand and leaves when it is told to stop. */
final class GroupMember implements ConsumerRebalanceListener {
    private final KafkaConsumer<String, String> consumer;
    private final String topic;
    private final int commitEvery;
    private final Map<Integer, Long> processed = new TreeMap<>();
    private int sinceCommit;

    static void run(Conversation args) throws Exception {
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
        new GroupMember(args).poll(isStopping);
    }

    private GroupMember(Conversation args) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args.text("bootstrap"));
        settings.put("group.id", args.text("group"));
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        // Of the new protocol the broker sets the times and assigns.
        boolean isNew = "consumer".equals(System.getenv("GROUP_PROTOCOL"));
        settings.put("group.protocol", isNew ? "consumer" : "classic");
        if (!isNew) {
            settings.put("session.timeout.ms", "6000");
            settings.put("heartbeat.interval.ms", "1000");
        }
        settings.put("max.poll.records", "50");
        consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        topic = args.text("topic");
        commitEvery = args.number("commit-every");
        consumer.subscribe(List.of(topic), this);
    }

    private void poll(AtomicBoolean isStopping) {
        while (!isStopping.get()) {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                take(record);
            }
            if (sinceCommit >= commitEvery) {
                commit();
            }
        }
        commit();
        consumer.close();
    }

    private void take(ConsumerRecord<String, String> record) {
        List<String> headers = new ArrayList<>();
        record.headers().forEach(header -> headers.add(header.key() + "=" + new String(header.value())));
        Conversation.tell(
                "got", record.partition(), record.offset(), record.key(), record.value(), String.join(",", headers));
        processed.put(record.partition(), record.offset() + 1);
        sinceCommit++;
    }

    private void commit() {
        sinceCommit = 0;
        if (processed.isEmpty()) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> offsets = new java.util.HashMap<>();
        processed.forEach((p, offset) -> offsets.put(new TopicPartition(topic, p), new OffsetAndMetadata(offset)));
        try {
            consumer.commitSync(offsets);
        } catch (KafkaException e) {
            Conversation.tell("refused", e.getClass().getSimpleName());
            return;
        }
        Conversation.tellCommit(processed);
        processed.clear();
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        commit();
        processed.clear();
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        processed.clear();
    }
}
