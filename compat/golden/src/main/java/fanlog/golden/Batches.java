package fanlog.golden;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Record batches in every compression. The batches of one case hold the same records, however they are compressed. */
final class Batches {
    private static final int BUFFER_BYTES = 256;

    private Batches() {}

    /** A batch for the inside of a message. */
    static MemoryRecords small(int count, Random random) {
        List<SimpleRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] value = new byte[random.nextInt(20)];
            random.nextBytes(value);
            records.add(new SimpleRecord(random.nextInt(1000), null, value));
        }
        return count == 0
                ? MemoryRecords.EMPTY
                : MemoryRecords.withRecords(Compression.NONE, records.toArray(SimpleRecord[]::new));
    }

    /** A line for each batch: {@code batch compression case bytes}. */
    static StringBuilder lines() {
        StringBuilder out = new StringBuilder();
        for (CompressionType compression : CompressionType.values()) {
            String name = compression.name.equals("none") ? "none" : compression.name;
            for (Case each : cases()) {
                out.append("batch ").append(name).append(' ').append(each.name).append(' ');
                out.append(Golden.hex(each.build(compression))).append('\n');
            }
        }
        for (ControlRecordType type : List.of(ControlRecordType.COMMIT, ControlRecordType.ABORT)) {
            MemoryRecords marker = MemoryRecords.withEndTransactionMarker(
                    77, 1_700_000_000_000L, 5, 99L, (short) 3, new EndTransactionMarker(type, 12));
            out.append("batch none marker-").append(type.name().toLowerCase()).append(' ');
            out.append(Golden.hex(marker.buffer())).append('\n');
        }
        ByteBuffer empty = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(
                empty, RecordBatch.MAGIC_VALUE_V2, 9L, (short) 1, 4, 100, 109, 7, TimestampType.CREATE_TIME, 55L, true, false);
        empty.flip();
        out.append("batch none empty ").append(Golden.hex(empty)).append('\n');
        return out;
    }

    /** What a batch holds. */
    private record Case(
            String name,
            TimestampType timestamps,
            long baseOffset,
            long producerId,
            short producerEpoch,
            int baseSequence,
            boolean isTransactional,
            int leaderEpoch,
            List<SimpleRecord> records,
            int offsetStep) {

        ByteBuffer build(CompressionType type) {
            MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
                    ByteBuffer.allocate(BUFFER_BYTES), RecordBatch.MAGIC_VALUE_V2, Compression.of(type).build(),
                    timestamps, baseOffset, 1_700_000_000_123L, producerId, producerEpoch, baseSequence,
                    isTransactional, false, leaderEpoch, 1 << 20);
            long offset = baseOffset;
            for (SimpleRecord record : records) {
                builder.appendWithOffset(offset, record);
                offset += offsetStep;
            }
            return builder.build().buffer();
        }
    }

    private static Case plain(String name, List<SimpleRecord> records, int offsetStep) {
        return new Case(name, TimestampType.CREATE_TIME, 0, -1, (short) -1, -1, false, -1, records, offsetStep);
    }

    private static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        cases.add(plain("one", List.of(record(5, "k", "v")), 1));
        cases.add(plain("nulls", List.of(record(5, null, null), record(5, "", ""), record(0, null, "v")), 1));
        cases.add(plain("holes", List.of(record(1, "a", "1"), record(2, "b", "2"), record(3, "c", "3")), 1000));
        cases.add(plain("times", List.of(record(Long.MAX_VALUE / 4, "a", "b"), record(-1, "c", "d"), record(0, "", "")), 1));
        cases.add(plain("headers", List.of(withHeaders()), 1));
        cases.add(new Case("broker-time", TimestampType.LOG_APPEND_TIME, 1L << 40, -1, (short) -1, -1, false, 9, random(3, 7), 1));
        cases.add(new Case("largest", TimestampType.CREATE_TIME, Long.MAX_VALUE - 10, Long.MAX_VALUE, Short.MAX_VALUE,
                Integer.MAX_VALUE, false, Integer.MAX_VALUE, random(4, 2), 1));
        cases.add(new Case("transactional", TimestampType.CREATE_TIME, 17, 99, (short) 0, 0, true, 3, random(5, 4), 1));
        cases.add(plain("many", random(6, 300), 1));
        cases.add(plain("long", List.of(record(9, "k", "long ".repeat(4000))), 1));
        cases.add(plain("random", random(8, 5), 1));
        return cases;
    }

    private static SimpleRecord record(long timestamp, String key, String value) {
        return new SimpleRecord(timestamp, bytes(key), bytes(value));
    }

    private static SimpleRecord withHeaders() {
        Header[] headers = {
            new RecordHeader("trace", bytes("abc")), new RecordHeader("trace", (byte[]) null),
            new RecordHeader("é🦀", bytes("")), new RecordHeader("", bytes("x".repeat(200))),
        };
        return new SimpleRecord(1_700_000_000_000L, bytes("k"), bytes("v"), headers);
    }

    private static List<SimpleRecord> random(long seed, int count) {
        Random random = new Random(seed);
        List<SimpleRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] key = random.nextInt(3) == 0 ? null : new byte[random.nextInt(10)];
            byte[] value = new byte[random.nextInt(count > 100 ? 8 : 150)];
            if (key != null) {
                random.nextBytes(key);
            }
            random.nextBytes(value);
            records.add(new SimpleRecord(1_700_000_000_000L + random.nextInt(100_000), key, value));
        }
        return records;
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }
}
