package fanlog.golden;

import java.lang.reflect.Field;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.record.internal.BaseRecords;

/**
 * Fills a message of Kafka's with values of a style. Kafka's own schema of a version says which fields it has and which
 * of them may be null; the values go into the fields of the generated class.
 */
final class Sample {
    private static final int MANY_ELEMENTS = 130;
    private static final int LONG_STRING = 130;
    private static final String[] CHARACTERS = {"a", "Z", "0", ".", "é", "€", "🦀"};

    private final Style style;
    private final Random random;

    Sample(Style style, long seed) {
        this.style = style;
        this.random = new Random(seed);
    }

    /** Sets every field of the version; with the style DEFAULT, none. */
    void fill(Message message, Schema schema) throws ReflectiveOperationException {
        if (style != Style.DEFAULT) {
            fill(message, schema, 0);
        }
    }

    private void fill(Object target, Schema schema, int depth) throws ReflectiveOperationException {
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields tagged) {
                for (var field : tagged.fields().values()) {
                    boolean isLeftOut = isRandom() && random.nextInt(3) == 0;
                    if (!isLeftOut) {
                        set(target, field, depth);
                    }
                }
            } else {
                set(target, bound.def, depth);
            }
        }
    }

    private void set(Object target, org.apache.kafka.common.protocol.types.Field what, int depth)
            throws ReflectiveOperationException {
        Field field = find(target.getClass(), what.name);
        boolean isNull = what.type.isNullable()
                && (style == Style.LEAST || isRandom() && random.nextInt(4) == 0);
        Object value = isNull ? null : value(what.type, field.getType(), field.getGenericType(), depth);
        field.set(target, value);
    }

    private static Field find(Class<?> type, String snake) throws NoSuchFieldException {
        String plain = snake.replace("_", "");
        for (Field field : type.getDeclaredFields()) {
            if (field.getName().replace("_", "").equalsIgnoreCase(plain)) {
                field.setAccessible(true);
                return field;
            }
        }
        throw new NoSuchFieldException(type + " " + snake);
    }

    private Object value(org.apache.kafka.common.protocol.types.Type kind, Class<?> type, Type generic, int depth)
            throws ReflectiveOperationException {
        if (kind.isArray()) {
            return list(kind.arrayElementType().orElseThrow(), type, generic, depth);
        }
        if (kind instanceof Schema schema) {
            Object inner = construct(type);
            fill(inner, schema, depth + 1);
            return inner;
        }
        String name = kind.toString();
        return switch (type.getSimpleName()) {
            case "boolean", "Boolean" -> style == Style.MOST || isRandom() && random.nextBoolean();
            case "byte", "Byte" -> (byte) number(Byte.MIN_VALUE, Byte.MAX_VALUE);
            case "short", "Short" -> (short) number(Short.MIN_VALUE, Short.MAX_VALUE);
            case "int", "Integer" -> name.equals("UINT16")
                    ? (int) number(0, 0xffff)
                    : (int) number(Integer.MIN_VALUE, Integer.MAX_VALUE);
            case "long", "Long" -> number(Long.MIN_VALUE, Long.MAX_VALUE);
            case "double", "Double" -> floating();
            case "Uuid" -> new Uuid(number(Long.MIN_VALUE, Long.MAX_VALUE), number(Long.MIN_VALUE, Long.MAX_VALUE));
            case "String" -> text();
            case "byte[]" -> bytes();
            case "ByteBuffer" -> ByteBuffer.wrap(bytes());
            default -> {
                if (BaseRecords.class.isAssignableFrom(type)) {
                    yield Batches.small(length(3), random);
                }
                throw new IllegalArgumentException("no value for " + type + " " + name);
            }
        };
    }

    @SuppressWarnings("unchecked")
    private Object list(org.apache.kafka.common.protocol.types.Type element, Class<?> type, Type generic, int depth)
            throws ReflectiveOperationException {
        int length = switch (style) {
            case DEFAULT, LEAST -> 0;
            case MOST -> 1;
            case MANY -> depth == 0 ? MANY_ELEMENTS : 0;
            case RANDOM, RANDOM2 -> random.nextInt(3);
        };
        boolean isPlainList = type == List.class;
        Collection<Object> list = isPlainList ? new ArrayList<>() : (Collection<Object>) construct(type);
        Class<?> elementType = isPlainList
                ? (Class<?>) ((ParameterizedType) generic).getActualTypeArguments()[0]
                : (Class<?>) ((ParameterizedType) type.getGenericSuperclass()).getActualTypeArguments()[0];
        for (int i = 0; i < length; i++) {
            list.add(value(element, elementType, elementType, depth + 1));
        }
        return list;
    }

    private static Object construct(Class<?> type) throws ReflectiveOperationException {
        var constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }

    /** Tagged fields that no version knows, on the message and on the first element of each list. */
    boolean addUnknownTags(Object target, Schema schema) throws ReflectiveOperationException {
        BoundField[] fields = schema.fields();
        if (fields.length == 0 || !(fields[fields.length - 1].def.type instanceof TaggedFields)) {
            return false;
        }
        Field unknown = find(target.getClass(), "_unknownTaggedFields");
        unknown.set(target, List.of(new RawTaggedField(1000, new byte[0]), new RawTaggedField(70_000, bytes())));
        for (BoundField bound : fields) {
            boolean isListOfStructures = bound.def.type.isArray()
                    && bound.def.type.arrayElementType().orElseThrow() instanceof Schema;
            if (!isListOfStructures) {
                continue;
            }
            Schema element = (Schema) bound.def.type.arrayElementType().orElseThrow();
            Collection<?> list = (Collection<?>) find(target.getClass(), bound.def.name).get(target);
            if (list != null && !list.isEmpty()) {
                addUnknownTags(list.iterator().next(), element);
            }
        }
        return true;
    }

    private boolean isRandom() {
        return style == Style.RANDOM || style == Style.RANDOM2;
    }

    /** A number within its bounds; a random one is often small, and sometimes the smallest or largest. */
    private long number(long min, long max) {
        return switch (style) {
            case DEFAULT -> 0;
            case LEAST -> min;
            case MOST -> max;
            case MANY -> random.nextInt(3);
            case RANDOM, RANDOM2 -> switch (random.nextInt(8)) {
                case 0 -> min;
                case 1 -> max;
                case 2 -> Math.max(min, -1);
                case 3 -> 0;
                case 4, 5 -> random.nextInt(100);
                default -> Math.floorMod(random.nextLong(), max / 2) + (max / 2 > 0 && min < 0 ? min / 2 : 0);
            };
        };
    }

    private double floating() {
        return switch (style) {
            case DEFAULT -> 0;
            case LEAST -> -Double.MAX_VALUE;
            case MOST -> Double.MAX_VALUE;
            default -> random.nextGaussian() * 1e6;
        };
    }

    private int length(int bound) {
        return switch (style) {
            case DEFAULT, LEAST -> 0;
            case MOST -> bound;
            case MANY -> random.nextInt(2);
            case RANDOM, RANDOM2 -> random.nextInt(bound);
        };
    }

    private String text() {
        int length = style == Style.MOST ? LONG_STRING : length(12);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append(style == Style.MOST ? "x" : CHARACTERS[random.nextInt(CHARACTERS.length)]);
        }
        return text.append(style == Style.MOST ? "é🦀" : "").toString();
    }

    private byte[] bytes() {
        byte[] bytes = new byte[style == Style.MOST ? LONG_STRING : length(24)];
        random.nextBytes(bytes);
        return bytes;
    }
}
