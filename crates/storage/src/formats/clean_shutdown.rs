//! `.kafka_cleanshutdown`: there while the data directory was left in order.
//!
//! ```text
//! {"version":0,"brokerEpoch":<i64>}
//! ```
//! The broker removes it, durably, before it opens the first log, and writes it once every log is closed.

use super::FormatError;

const FILE: &str = ".kafka_cleanshutdown";
const BEFORE: &str = "{\"version\":0,\"brokerEpoch\":";

/// The file's name, in the data directory.
pub const FILE_NAME: &str = FILE;
/// The longest file that is read.
pub const FILE_BYTES_MAX: usize = 1024;

/// The file's bytes.
pub fn encode(broker_epoch: i64) -> Vec<u8> {
    format!("{BEFORE}{broker_epoch}}}").into_bytes()
}

/// The broker epoch in the file. Only Kafka's own spelling is understood: whoever writes it otherwise gets a recovery.
///
/// # Errors
/// It is not what Kafka or we write.
pub fn decode(bytes: &[u8]) -> Result<i64, FormatError> {
    let wrong = || FormatError::Line {
        file: FILE,
        line: String::from_utf8_lossy(bytes).chars().take(80).collect(),
    };
    let text = std::str::from_utf8(bytes).map_err(|_| wrong())?;
    text.strip_prefix(BEFORE)
        .and_then(|rest| rest.strip_suffix('}'))
        .and_then(|epoch| epoch.parse().ok())
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_file_has_the_bytes_that_kafka_4_4_writes() {
        let golden = b"{\"version\":0,\"brokerEpoch\":42}";
        assert_eq!(encode(42), golden);
        assert_eq!(decode(golden), Ok(42));
        assert!(decode(b"").is_err());
        assert!(decode(b"{\"version\":1,\"brokerEpoch\":42}").is_err());
        assert!(decode(b"{\"version\":0,\"brokerEpoch\":42").is_err());
    }

    proptest! {
        #[test]
        fn an_epoch_round_trips(epoch in any::<i64>()) {
            prop_assert_eq!(decode(&encode(epoch)), Ok(epoch));
        }
    }
}
