//! The Kafka protocol on TCP: frames, connections, one file per API.
