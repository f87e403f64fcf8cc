//! Flags that several commands share, and how their values are read.

use super::output::Output;
use clap::Args;
use fanlog_client::{ClientConfig, ClientError, Cluster};
use fanlog_model::TopicName;
use std::time::Duration;

/// How to reach the cluster, and how to print.
#[derive(Clone, Debug, Args)]
pub(super) struct Connect {
    /// Brokers to ask first: host:port, several with commas
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9092", value_delimiter = ',', value_parser = bootstrap)]
    bootstrap: Vec<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(super) output: Output,
}

impl Connect {
    /// Connects.
    pub(super) async fn cluster(&self) -> Result<Cluster, ClientError> {
        let config = ClientConfig {
            bootstrap: self.bootstrap.clone(),
            client_id: "fanlog-cli".to_owned(),
            ..ClientConfig::default()
        };
        Cluster::connect(config).await
    }
}

/// Reads `host:port`; the name is looked up later.
fn bootstrap(text: &str) -> Result<String, String> {
    let text = text.trim();
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse()) {
        Some(Ok(1u16..)) => Ok(text.to_owned()),
        _ => Err("write it as host:port, for example 127.0.0.1:9092".to_owned()),
    }
}

/// Reads a topic's name.
pub(super) fn topic_name(text: &str) -> Result<TopicName, String> {
    TopicName::new(text).map_err(|error| error.to_string())
}

/// Reads `name=value`.
pub(super) fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as name=value".to_owned()),
    }
}

/// Reads a length of time: `500ms`, `30s`, `10m`, `6h`, `2d`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let read = fanlog_model::times::parse_duration(text);
    read.ok_or_else(|| "write it with its unit: 500ms, 30s, 10m, 6h or 2d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        let check = |text: &str, ms: Option<u64>| {
            let read = duration(text).ok();
            assert_eq!(read, ms.map(Duration::from_millis), "{text}");
        };
        check("500ms", Some(500));
        check("30s", Some(30_000));
        check("10m", Some(600_000));
        check("6h", Some(21_600_000));
        check("2d", Some(172_800_000));
        check("10", None);
        check("s", None);
        check("1w", None);
        check("-1s", None);
        check("99999999999999999999s", None);
        check("18446744073709551615d", None);
    }

    #[test]
    fn a_bootstrap_address_has_a_host_and_a_port() {
        for text in ["127.0.0.1:9092", "[::1]:9092", " broker.example.org:1 "] {
            assert_eq!(bootstrap(text).as_deref(), Ok(text.trim()));
        }
        for text in ["", "127.0.0.1", ":9092", "h:", "h:0", "h:65536", "h:kafka"] {
            assert!(bootstrap(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_setting_has_a_name() {
        assert_eq!(
            name_and_value("a=b=c"),
            Ok(("a".to_owned(), "b=c".to_owned()))
        );
        assert_eq!(name_and_value("a="), Ok(("a".to_owned(), String::new())));
        assert!(name_and_value("=b").is_err());
        assert!(name_and_value("a").is_err());
    }
}
