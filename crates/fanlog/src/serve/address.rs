//! Addresses on the command line: where to listen, and what to tell clients.

use std::net::{SocketAddr, ToSocketAddrs};

/// An address to listen on: `HOST:PORT`, the host a name or an IP address.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        |why: &str| format!("'{text}' is not HOST:PORT ({why}); for example 127.0.0.1:9092");
    let mut found = text
        .to_socket_addrs()
        .map_err(|error| wrong(&error.to_string()))?;
    found.next().ok_or_else(|| wrong("the name has no address"))
}

/// An address to listen on, or `off`.
pub(crate) fn listen_or_off(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" {
        Ok(None)
    } else {
        listen(text).map(Some)
    }
}

/// A host and port as clients are told them; the name is not looked up here.
pub(crate) fn advertised(text: &str) -> Result<(String, u16), String> {
    let wrong = || format!("'{text}' is not HOST:PORT; for example broker.example.org:9092");
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let host = host
        .strip_prefix('[')
        .and_then(|h| h.strip_suffix(']'))
        .unwrap_or(host);
    let port: u16 = port.parse().map_err(|_| wrong())?;
    if host.is_empty() || port == 0 || host.contains(char::is_whitespace) {
        return Err(wrong());
    }
    Ok((host.to_owned(), port))
}

/// The host and port of a Kafka listener, `PLAINTEXT://HOST:PORT`, the only kind served.
pub(crate) fn of_listener(text: &str) -> Result<&str, String> {
    text.strip_prefix("PLAINTEXT://")
        .filter(|rest| !rest.contains(','))
        .ok_or_else(|| {
            format!("'{text}' is not PLAINTEXT://HOST:PORT, the one kind of listener served")
        })
}

/// The same written out.
pub(crate) fn as_listener(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("PLAINTEXT://[{host}]:{port}"),
        false => format!("PLAINTEXT://{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advertised_address_is_a_host_and_a_port() {
        let check = |text: &str, expected: Option<(&str, u16)>| {
            let expected = expected.map(|(host, port)| (host.to_owned(), port));
            assert_eq!(advertised(text).ok(), expected, "{text}");
        };
        check(
            "broker.example.org:9092",
            Some(("broker.example.org", 9092)),
        );
        check("[::1]:9092", Some(("::1", 9092)));
        check("10.0.0.1:1", Some(("10.0.0.1", 1)));
        check("broker", None);
        check(":9092", None);
        check("a b:9092", None);
        check("a:0", None);
        check("a:99999", None);
    }

    #[test]
    fn a_listener_is_plaintext_and_single() {
        assert_eq!(
            of_listener("PLAINTEXT://127.0.0.1:9092"),
            Ok("127.0.0.1:9092")
        );
        assert!(of_listener("SSL://127.0.0.1:9092").is_err());
        assert!(of_listener("PLAINTEXT://a:1,PLAINTEXT://b:2").is_err());
        assert_eq!(as_listener("::1", 9), "PLAINTEXT://[::1]:9");
    }

    #[test]
    fn http_can_be_switched_off() {
        assert_eq!(listen_or_off("off"), Ok(None));
        assert!(listen_or_off("127.0.0.1:8080").unwrap().is_some());
        assert!(listen_or_off("8080").is_err());
    }
}
