package fanlog;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A share consumer that works a queue: the lines of compat/queues/workers.py. */
final class QueueWorker {
    private static final long WORK_MS = 20;

    private QueueWorker() {}

    private record Said(long offset, String word) {}

    static void run(Conversation args) throws InterruptedException {
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
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args.text("bootstrap"));
        settings.put("group.id", args.text("group"));
        settings.put("share.acknowledgement.mode", "explicit");
        settings.put("share.acquire.mode", "record_limit");
        settings.put("max.poll.records", "20");
        String bad = args.has("reject") ? args.text("reject") : null;
        try (var consumer = new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(args.text("topic")));
            while (!isStopping.get()) {
                Map<TopicPartition, List<Said>> said = new HashMap<>();
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    Conversation.tell(
                            "got",
                            record.topic(),
                            record.partition(),
                            record.offset(),
                            record.deliveryCount().orElse((short) 0),
                            record.value());
                    boolean rejects = bad != null && record.value().startsWith(bad);
                    consumer.acknowledge(record, rejects ? AcknowledgeType.REJECT : AcknowledgeType.ACCEPT);
                    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                    said.computeIfAbsent(partition, p -> new ArrayList<>())
                            .add(new Said(record.offset(), rejects ? "reject" : "accept"));
                }
                if (!said.isEmpty()) {
                    // Work takes a while, or the first would have all.
                    Thread.sleep(WORK_MS);
                    tell(said, consumer.commitSync());
                }
            }
        }
    }

    private static void tell(
            Map<TopicPartition, List<Said>> said, Map<TopicIdPartition, Optional<KafkaException>> answers) {
        Map<TopicPartition, Optional<KafkaException>> errors = new HashMap<>();
        answers.forEach((partition, error) -> errors.put(partition.topicPartition(), error));
        said.forEach((partition, all) -> {
            Optional<KafkaException> error = errors.getOrDefault(partition, Optional.of(new KafkaException("no answer")));
            for (Said one : all) {
                String word = error.isPresent() ? "refused" : "settled";
                String what = error.isPresent() ? error.get().getClass().getSimpleName() : one.word;
                Conversation.tell(word, partition.topic(), partition.partition(), one.offset, what);
            }
        });
    }
}
