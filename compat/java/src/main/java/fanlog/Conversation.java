package fanlog;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The Java side of compat/python/conversation.py: the arguments, the records and the lines shared with the runner. */
final class Conversation {
    private static final int KEYS = 40;

    /** A run of records sent with one codec and one kind of acknowledgement. */
    record Leg(String codec, String acks, int first, int end) {
        String batch() {
            return codec + "/" + acks;
        }
    }

    final String command;
    private final Map<String, String> options = new HashMap<>();

    Conversation(String[] args) {
        if (args.length == 0) {
            throw new IllegalArgumentException("no command");
        }
        command = args[0];
        for (int i = 1; i + 1 < args.length; i += 2) {
            options.put(args[i].substring(2), args[i + 1]);
        }
    }

    String text(String name) {
        String value = options.get(name);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is missing");
        }
        return value;
    }

    boolean has(String name) {
        return options.containsKey(name);
    }

    int number(String name) {
        return Integer.parseInt(text(name));
    }

    double number(String name, double otherwise) {
        return Double.parseDouble(options.getOrDefault(name, Double.toString(otherwise)));
    }

    List<Leg> legs() {
        List<Leg> legs = new ArrayList<>();
        int first = number("first-id");
        for (String part : text("plan").split(",")) {
            String[] fields = part.split(":");
            int end = first + Integer.parseInt(fields[2]);
            legs.add(new Leg(fields[0], fields[1], first, end));
            first = end;
        }
        return legs;
    }

    static String key(int id) {
        return "key-" + id % KEYS;
    }

    static String value(int id) {
        return id + ":" + "abcdefghij".repeat(20).substring(0, 50 + id % 150);
    }

    static synchronized void tell(Object... fields) {
        StringBuilder line = new StringBuilder();
        for (Object field : fields) {
            line.append(line.length() == 0 ? "" : "\t").append(field);
        }
        System.out.println(line);
        System.out.flush();
    }

    static void tellCommit(Map<Integer, Long> offsets) {
        List<String> parts = new ArrayList<>();
        new TreeMap<>(offsets).forEach((partition, offset) -> parts.add(partition + "=" + offset));
        tell("committed", String.join(",", parts));
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            System.err.println("check failed: " + what);
            System.exit(1);
        }
        tell("ok", what);
    }

    /** A check that asks the broker. */
    interface Condition {
        boolean holds() throws Exception;
    }

    /**
     * A check of what may take a moment: Apache Kafka answers a change of its metadata before the broker that is asked
     * next has seen it.
     */
    static void checkSoon(Condition condition, String what) throws Exception {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (!condition.holds() && System.nanoTime() < deadline) {
            Thread.sleep(100);
        }
        check(condition.holds(), what);
    }
}
