//! Kafka bytes to messages and back, and record batch v2; pure.

pub mod records;
