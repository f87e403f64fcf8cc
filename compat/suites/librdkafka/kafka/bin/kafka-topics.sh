#!/bin/sh
# Some tests call Kafka's own tool through KAFKA_PATH; this is that tool, from the jars that Maven brought.
exec java -Xmx128m -XX:TieredStopAtLevel=1 -cp "$KAFKA_CLASS_PATH" org.apache.kafka.tools.TopicCommand "$@"
