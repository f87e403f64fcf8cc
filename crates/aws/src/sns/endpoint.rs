//! Addresses of HTTP endpoints: which may be subscribed.
//!
//! Why it exists: whoever may subscribe could otherwise have the broker send requests anywhere that it reaches and he does not: to a
//! neighbour's administration, to a cloud's metadata. So an operator says where to, by prefixes; none is allowed by default.
//! In -> out: an address as text -> its parts, or why it is none; and whether one of the prefixes allows it.

use hyper::Uri;
use thiserror::Error;

/// AWS takes no longer ones.
const LENGTH_MAX: usize = 2048;

/// An address that can be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) is_https: bool,
    /// A name or an address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Path and query, as they are asked for.
    pub(crate) path: String,
    /// As it stands in the header `host`.
    pub(crate) authority: String,
}

/// Why a text is no such address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum EndpointError {
    /// It cannot be read.
    #[error("it is no address of HTTP, such as https://host/path")]
    NotAnAddress,
    /// The protocol of the subscription is another.
    #[error("it must begin with {0}://")]
    OtherProtocol(&'static str),
    /// It could be read in two ways.
    #[error("it may have no user, no fragment and no path with dots alone")]
    Ambiguous,
}

impl Endpoint {
    /// Reads an address.
    ///
    /// # Errors
    /// It is none, or has parts by which it could lead somewhere else than it seems to.
    pub(crate) fn parse(text: &str) -> Result<Self, EndpointError> {
        if text.len() > LENGTH_MAX {
            return Err(EndpointError::NotAnAddress);
        }
        if text.contains(['#', '\\']) {
            return Err(EndpointError::Ambiguous);
        }
        let uri: Uri = text.parse().map_err(|_| EndpointError::NotAnAddress)?;
        let is_https = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(EndpointError::NotAnAddress),
        };
        let authority = uri.authority().ok_or(EndpointError::NotAnAddress)?;
        if authority.as_str().contains('@') || has_dots(uri.path()) {
            return Err(EndpointError::Ambiguous);
        }
        let host = authority.host().trim_matches(['[', ']']);
        if host.is_empty() {
            return Err(EndpointError::NotAnAddress);
        }
        let port = match authority.port() {
            Some(port) => port.as_u16(),
            None if is_https => 443,
            None => 80,
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            is_https,
            host: host.to_ascii_lowercase(),
            port,
            path: match path.is_empty() {
                true => "/".to_owned(),
                false => path.to_owned(),
            },
            authority: authority.as_str().to_owned(),
        })
    }

    /// As `parse`, of a subscription of this protocol: `http` or `https`.
    pub(crate) fn of_protocol(is_https: bool, text: &str) -> Result<Self, EndpointError> {
        let endpoint = Self::parse(text)?;
        match endpoint.is_https == is_https {
            true => Ok(endpoint),
            false => Err(EndpointError::OtherProtocol(if is_https {
                "https"
            } else {
                "http"
            })),
        }
    }

    /// Whether one of the prefixes allows it: a whole host and the beginning of its paths, or, as `http://` and `https://`, all hosts.
    pub(crate) fn is_allowed_by(&self, prefixes: &[String]) -> bool {
        prefixes.iter().any(|prefix| match prefix.as_str() {
            "http://" => !self.is_https,
            "https://" => self.is_https,
            prefix => Self::parse(prefix).is_ok_and(|allowed| {
                let is_there = allowed.is_https == self.is_https
                    && allowed.host == self.host
                    && allowed.port == self.port;
                is_there && begins_with(&self.path, &allowed.path)
            }),
        })
    }
}

/// Whether a path lies below another: `/a` has `/a`, `/a/b` and `/a?c`, and not `/ab`.
fn begins_with(path: &str, prefix: &str) -> bool {
    let Some(rest) = path.strip_prefix(prefix) else {
        return false;
    };
    prefix.ends_with('/') || rest.is_empty() || rest.starts_with(['/', '?'])
}

/// Whether a part of the path is `.` or `..`, however it is written: servers resolve them.
fn has_dots(path: &str) -> bool {
    let parts = path.split('/');
    let mut parts = parts.map(|part| part.to_ascii_lowercase().replace("%2e", "."));
    parts.any(|part| {
        matches!(part.as_str(), "." | "..") || part.contains("%2f") || part.contains("%5c")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_a_port_and_a_path() {
        let check = |text: &str, host: &str, port: u16, path: &str| {
            let endpoint = Endpoint::parse(text).unwrap();
            let found = (&*endpoint.host, endpoint.port, &*endpoint.path);
            assert_eq!(found, (host, port, path), "{text}");
        };
        check("http://example.com", "example.com", 80, "/");
        check("https://Example.com/a?b=c", "example.com", 443, "/a?b=c");
        check("http://127.0.0.1:8000/x", "127.0.0.1", 8000, "/x");
        check("http://[::1]:8000", "::1", 8000, "/");
    }

    #[test]
    fn what_could_lead_somewhere_else_is_refused() {
        let check = |text: &str, expected: EndpointError| {
            assert_eq!(Endpoint::parse(text), Err(expected), "{text}");
        };
        check("", EndpointError::NotAnAddress);
        check("example.com", EndpointError::NotAnAddress);
        check("/a", EndpointError::NotAnAddress);
        check("ftp://example.com", EndpointError::NotAnAddress);
        check("http://", EndpointError::NotAnAddress);
        check("http://user@example.com/", EndpointError::Ambiguous);
        check("http://example.com/#a", EndpointError::Ambiguous);
        check("http://example.com\\@evil/", EndpointError::Ambiguous);
        check("http://example.com/a/../b", EndpointError::Ambiguous);
        check("http://example.com/a/%2E%2e/b", EndpointError::Ambiguous);
        check("http://example.com/a%2f..%2fb", EndpointError::Ambiguous);
        check(
            &format!("http://example.com/{}", "a".repeat(LENGTH_MAX)),
            EndpointError::NotAnAddress,
        );
        assert_eq!(
            Endpoint::of_protocol(true, "http://example.com"),
            Err(EndpointError::OtherProtocol("https"))
        );
    }

    #[test]
    fn a_prefix_allows_one_host_and_what_is_below_its_path() {
        let check = |prefix: &str, address: &str, expected: bool| {
            let endpoint = Endpoint::parse(address).unwrap();
            let found = endpoint.is_allowed_by(&[prefix.to_owned()]);
            assert_eq!(found, expected, "{prefix} {address}");
        };
        check("http://example.com", "http://example.com/a", true);
        check("http://example.com", "http://EXAMPLE.com:80/a", true);
        check("http://example.com", "http://example.com.evil.org/", false);
        check("http://example.com", "http://example.com:81/", false);
        check("http://example.com", "https://example.com/", false);
        check("https://example.com/in", "https://example.com/in/1", true);
        check("https://example.com/in", "https://example.com/in?x=1", true);
        check("https://example.com/in", "https://example.com/inner", false);
        check("https://example.com/in/", "https://example.com/in/1", true);
        check("https://example.com/in/", "https://example.com/in", false);
        check("http://", "http://anything:9/", true);
        check("http://", "https://anything/", false);
        check("nonsense", "http://example.com/", false);
        assert!(!Endpoint::parse("http://a/").unwrap().is_allowed_by(&[]));
    }
}
