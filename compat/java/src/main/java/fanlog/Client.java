package fanlog;

import static java.util.concurrent.TimeUnit.SECONDS;

import fanlog.Conversation.Leg;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/** The Java kafka-clients: KafkaProducer, the classic KafkaConsumer, Admin. */
public final class Client {
    private Client() {}

    /** Runs one command. */
    public static void main(String[] arguments) throws Exception {
        Conversation args = new Conversation(arguments);
        switch (args.command) {
            case "version" -> Conversation.tell("client", "kafka-clients (Java)", clientVersion());
            case "create" -> create(args);
            case "produce" -> {
                for (Leg leg : args.legs()) {
                    produce(args, leg);
                }
            }
            case "consume" -> GroupMember.run(args);
            case "watch" -> Watcher.run(args);
            case "admin" -> AdminChecks.run(args);
            case "share" -> ShareChecks.run(args);
            case "share-prepare" -> ShareMember.prepare(args);
            case "share-member" -> ShareMember.run(args);
            case "share-lag" -> ShareMember.lag(args);
            case "queue-work" -> QueueWorker.run(args);
            default -> throw new IllegalArgumentException("no command " + args.command);
        }
    }

    /** The library's own record of its version. */
    private static String clientVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream in = KafkaProducer.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(in);
        }
        return properties.getProperty("version");
    }

    private static void create(Conversation args) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args.text("bootstrap")))) {
            NewTopic topic = new NewTopic(args.text("topic"), args.number("partitions"), (short) 1);
            topic.configs(Map.of("retention.ms", "86400000"));
            admin.createTopics(List.of(topic)).all().get(20, SECONDS);
            Conversation.check(true, "create topic");
        }
    }

    private static void produce(Conversation args, Leg leg) throws Exception {
        boolean isIdempotent = leg.acks().equals("idempotent");
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args.text("bootstrap"));
        settings.put("compression.type", leg.codec());
        settings.put("enable.idempotence", Boolean.toString(isIdempotent));
        settings.put("acks", isIdempotent ? "all" : leg.acks());
        settings.put("linger.ms", "5");
        double paceMs = args.number("pace-ms", 0);
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int id = leg.first(); id < leg.end(); id++) {
                var record = new ProducerRecord<>(args.text("topic"), Conversation.key(id), Conversation.value(id));
                record.headers().add("id", Integer.toString(id).getBytes());
                record.headers().add("batch", leg.batch().getBytes());
                sent.add(producer.send(record));
                if (paceMs > 0) {
                    Thread.sleep((long) paceMs, (int) (paceMs % 1 * 1_000_000));
                }
            }
            producer.flush();
            for (int i = 0; i < sent.size(); i++) {
                RecordMetadata metadata = sent.get(i).get(60, SECONDS);
                long offset = leg.acks().equals("0") ? -1 : metadata.offset();
                Conversation.tell("acked", leg.first() + i, metadata.partition(), offset);
            }
        }
    }
}
