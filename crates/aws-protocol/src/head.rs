//! The head of an HTTP request, as far as AWS requests need it.

/// Method, path, query and headers, as they came: nothing decoded.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'a> {
    /// The method in capitals.
    pub method: &'a str,
    /// The path, percent-encoded as it came; `/` or the path of a queue URL.
    pub path: &'a str,
    /// What follows the question mark, without it; empty if there is none.
    pub query: &'a str,
    /// Every header in the order in which it came, one entry per line.
    pub headers: &'a [(&'a str, &'a [u8])],
}

impl<'a> RequestHead<'a> {
    /// The first header of this name, if it is text; names are compared without regard to case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self
            .headers
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok().map(str::trim)
    }
}
