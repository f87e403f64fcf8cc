//! Addresses of queues: `http://host:port/account/name`.

use crate::percent;

/// The longest address that is read.
const LENGTH_MAX: usize = 2048;

/// What an address says of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueAddress {
    /// The account before the name, if there is one: some clients send the name alone.
    pub account: Option<String>,
    /// The queue's name.
    pub name: String,
}

/// Reads an address: a full one, its path, or a name alone. Which host it names does not matter: whoever reached us by
/// another name than we know ourselves by is right to. Nothing if there is no name in it.
pub fn parse(address: &str) -> Option<QueueAddress> {
    if address.len() > LENGTH_MAX {
        return None;
    }
    let without_query = address.split(['?', '#']).next().unwrap_or_default();
    let path = match without_query.split_once("://") {
        Some((_, host_and_path)) => host_and_path.split_once('/')?.1,
        None => without_query,
    };
    let mut parts = path.split('/').filter(|part| !part.is_empty()).rev();
    let name = percent::decode(parts.next()?.as_bytes(), false)?;
    let account = match parts.next() {
        Some(account) => Some(percent::decode(account.as_bytes(), false)?),
        None => None,
    };
    Some(QueueAddress { account, name })
}

/// Writes an address; `base` is scheme, host and port, as `http://localhost:9324`.
pub fn format(base: &str, account: &str, name: &str) -> String {
    let base = base.trim_end_matches('/');
    format!("{base}/{account}/{name}")
}

#[cfg(test)]
mod tests {
    use super::{format, parse};

    #[test]
    fn addresses_are_read_whichever_way_they_are_written() {
        let full = format("http://localhost:9324/", "123456789012", "orders.fifo");
        assert_eq!(full, "http://localhost:9324/123456789012/orders.fifo");
        for written in [
            full.as_str(),
            "/123456789012/orders.fifo",
            "https://x/123456789012/orders%2Efifo?a=b",
        ] {
            let read = parse(written).expect("an address");
            assert_eq!(read.name, "orders.fifo");
            assert_eq!(read.account.as_deref(), Some("123456789012"));
        }
        let alone = parse("orders").expect("a name");
        assert_eq!((alone.account, alone.name.as_str()), (None, "orders"));
        for nothing in ["", "/", "http://host", "http://host/", "http://h/%ff"] {
            assert_eq!(parse(nothing), None, "{nothing}");
        }
    }
}
