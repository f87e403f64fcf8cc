//! Requests that a page from elsewhere has a browser send.
//!
//! Why it exists: there is no authentication yet, so whoever reaches the port may write; a browser on the same machine reaches it for any
//! page that it shows. A page's requests say where they come from (`Origin`), and a page whose name was pointed here (DNS rebinding)
//! asks for that name (`Host`).
//! In -> out: a request's head -> whether it may be served.

use crate::problem::{Kind, Problem};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use std::net::IpAddr;

const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// The names by which the broker may be asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    names: Vec<String>,
}

impl Hosts {
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self { names }
    }

    /// An address can't be pointed elsewhere; a name can, unless it is known to be ours.
    fn knows(&self, host: &str) -> bool {
        let is_named = |name: &String| name == "*" || name.eq_ignore_ascii_case(host);
        host.eq_ignore_ascii_case("localhost")
            || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || self.names.iter().any(is_named)
    }

    /// Whether the request may be served.
    ///
    /// # Errors
    /// It was sent by another site's page, or asks for a name that may be another's.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), Problem> {
        let host = host_of(head).unwrap_or_default();
        let name = without_port(host);
        if !self.knows(name) {
            return Err(Problem::new(
                Kind::UnknownHost,
                format!(
                    "host '{name}' is not known to be this broker: ask for its address, or name the host in the broker's setting \
                     fanlog.http.hosts"
                ),
            )
            .with("host", name));
        }
        let cross_site = |what: String| {
            Problem::new(
                Kind::CrossSite,
                format!("{what}: pages of other sites may not use this broker"),
            )
        };
        if let Some(origin) = text(&head.headers, header::ORIGIN.as_str()) {
            let own = origin.split_once("://").map(|(_, rest)| rest);
            if own.is_none_or(|own| !own.eq_ignore_ascii_case(host)) {
                return Err(cross_site(format!("the request's origin is '{origin}'")));
            }
        }
        match text(&head.headers, SEC_FETCH_SITE) {
            None | Some("same-origin" | "none") => Ok(()),
            Some(site) => Err(cross_site(format!("the request is {site}"))),
        }
    }
}

fn host_of(head: &Parts) -> Option<&str> {
    let of_target = head.uri.authority().map(|authority| authority.as_str());
    of_target.or_else(|| text(&head.headers, header::HOST.as_str()))
}

/// What is not text is nothing that is known.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') =>
        {
            name
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn check(headers: &[(&str, &str)], expected: Result<(), Kind>) {
        let mut request = Request::builder().uri("/v1/topics");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let hosts = Hosts::new(vec!["broker.example".to_owned()]);
        let checked = hosts.check(&head).map_err(|problem| problem.kind);
        assert_eq!(checked, expected, "{headers:?}");
    }

    #[test]
    fn only_addresses_and_known_names_are_asked_for() {
        check(&[("host", "127.0.0.1:8080")], Ok(()));
        check(&[("host", "[::1]:8080")], Ok(()));
        check(&[("host", "[::1]")], Ok(()));
        check(&[("host", "LOCALHOST:1")], Ok(()));
        check(&[("host", "broker.example")], Ok(()));
        check(&[("host", "evil.example:8080")], Err(Kind::UnknownHost));
        check(
            &[("host", "127.0.0.1.evil.example")],
            Err(Kind::UnknownHost),
        );
        check(&[], Err(Kind::UnknownHost));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let host = ("host", "127.0.0.1:8080");
        check(&[host, ("origin", "http://127.0.0.1:8080")], Ok(()));
        check(
            &[host, ("origin", "http://127.0.0.1:9090")],
            Err(Kind::CrossSite),
        );
        check(
            &[host, ("origin", "https://evil.example")],
            Err(Kind::CrossSite),
        );
        check(&[host, ("origin", "null")], Err(Kind::CrossSite));
        check(
            &[host, ("sec-fetch-site", "cross-site")],
            Err(Kind::CrossSite),
        );
        check(
            &[host, ("sec-fetch-site", "same-site")],
            Err(Kind::CrossSite),
        );
        check(&[host, ("sec-fetch-site", "same-origin")], Ok(()));
    }
}
