//! Internal Kafka client for the command line, the demo and the benchmarks; not published.
