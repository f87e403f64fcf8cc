#!/bin/sh
# Some tests run a Java program of theirs, in CLASSPATH, with Kafka's client from the jars that Maven brought.
exec java -Xmx256m -XX:TieredStopAtLevel=1 -cp "$CLASSPATH:$KAFKA_CLASS_PATH" "$@"
