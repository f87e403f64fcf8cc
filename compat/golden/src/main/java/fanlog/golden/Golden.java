package fanlog.golden;

import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.types.Schema;

/**
 * Writes messages and record batches by Kafka's own classes, as test data for a codec that is not Kafka's.
 *
 * <p>Arguments: the folder to write to, then for each message {@code Name:first-last}, its versions. One file for each
 * API or record, one line for each message: {@code name version case bytes}, and for a message that carries tagged
 * fields which nobody knows, a fifth word: the bytes without them.
 */
public final class Golden {
    private static final List<String> PACKAGES =
            List.of(
                    "org.apache.kafka.common.message.",
                    "org.apache.kafka.coordinator.group.generated.",
                    "org.apache.kafka.coordinator.share.generated.",
                    "org.apache.kafka.coordinator.transaction.generated.");

    private Golden() {}

    /** Writes everything. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Files.createDirectories(folder);
        Map<String, StringBuilder> files = new TreeMap<>();
        for (String argument : List.of(arguments).subList(1, arguments.length)) {
            String[] parts = argument.split("[:-]");
            String file = parts[0].replaceFirst("(Request|Response|Key|Value)$", "") + ".hex";
            StringBuilder out = files.computeIfAbsent(file, name -> new StringBuilder());
            message(parts[0], Short.parseShort(parts[1]), Short.parseShort(parts[2]), out);
        }
        files.put("batches.hex", Batches.lines());
        for (Map.Entry<String, StringBuilder> file : files.entrySet()) {
            try (PrintWriter out = new PrintWriter(folder.resolve(file.getKey()).toFile(), StandardCharsets.US_ASCII)) {
                out.print(file.getValue());
            }
        }
    }

    private static void message(String name, short first, short last, StringBuilder out) throws Exception {
        Class<?> type = find(name);
        Schema[] schemas = (Schema[]) type.getField("SCHEMAS").get(null);
        for (short version = first; version <= last; version++) {
            for (Style style : Style.values()) {
                if (style == Style.MANY && version != last) {
                    continue;
                }
                Sample sample = new Sample(style, (name + version + style).hashCode());
                Message message = (Message) type.getConstructor().newInstance();
                sample.fill(message, schemas[version]);
                String known = hex(message, version);
                String words = name + " " + version + " " + style.name().toLowerCase() + " ";
                out.append(words).append(known.isEmpty() ? "-" : known).append('\n');
                if (style == Style.RANDOM && sample.addUnknownTags(message, schemas[version])) {
                    words = name + " " + version + " unknown-tags ";
                    out.append(words).append(hex(message, version)).append(' ').append(known).append('\n');
                }
            }
        }
    }

    private static Class<?> find(String name) throws ClassNotFoundException {
        for (String place : PACKAGES) {
            for (String suffix : List.of("Data", "")) {
                try {
                    return Class.forName(place + name + suffix);
                } catch (ClassNotFoundException elsewhere) {
                    continue;
                }
            }
        }
        throw new ClassNotFoundException("Kafka has no message " + name);
    }

    private static String hex(Message message, short version) {
        ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, version).buffer();
        return hex(bytes);
    }

    static String hex(ByteBuffer bytes) {
        byte[] all = new byte[bytes.remaining()];
        bytes.duplicate().get(all);
        return HexFormat.of().formatHex(all);
    }
}
