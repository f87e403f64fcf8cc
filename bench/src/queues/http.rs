//! One blocking HTTP/1.1 connection that is kept: a POST out, JSON in.

use anyhow::{Context, bail, ensure};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long an answer may take beside the wait that the request asks for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);
/// The largest head and body accepted, in bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A connection to a broker's HTTP port.
#[derive(Debug)]
pub(crate) struct Http {
    stream: TcpStream,
    address: String,
    request: Vec<u8>,
    answer: Vec<u8>,
}

/// What came back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl Answer<'_> {
    /// That it succeeded.
    ///
    /// # Errors
    /// It did not; what the broker says.
    pub(crate) fn ok(self) -> anyhow::Result<Self> {
        let said = || String::from_utf8_lossy(&self.body[..self.body.len().min(500)]).into_owned();
        ensure!(
            (200..300).contains(&self.status),
            "{}: {}",
            self.status,
            said()
        );
        Ok(self)
    }
}

impl Http {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens there.
    pub(crate) fn open(address: &str) -> anyhow::Result<Self> {
        let stream =
            TcpStream::connect(address).with_context(|| format!("nobody listens at {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(Self {
            stream,
            address: address.to_owned(),
            request: Vec::new(),
            answer: Vec::new(),
        })
    }

    /// Posts JSON, or nothing.
    ///
    /// # Errors
    /// The connection broke, or what came is no such answer.
    pub(crate) fn post(&mut self, path: &str, body: &[u8]) -> anyhow::Result<Answer<'_>> {
        self.call("POST", path, body)
    }

    /// Gets a document.
    ///
    /// # Errors
    /// The connection broke, or what came is no such answer.
    pub(crate) fn get(&mut self, path: &str) -> anyhow::Result<Answer<'_>> {
        self.call("GET", path, &[])
    }

    fn call(&mut self, method: &str, path: &str, body: &[u8]) -> anyhow::Result<Answer<'_>> {
        self.request.clear();
        let (address, length) = (&self.address, body.len());
        write!(
            self.request,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n"
        )?;
        if !body.is_empty() {
            self.request
                .extend_from_slice(b"content-type: application/json\r\n");
        }
        self.request.extend_from_slice(b"\r\n");
        self.request.extend_from_slice(body);
        self.stream
            .write_all(&self.request)
            .context("sending a request")?;
        self.answer()
    }

    fn answer(&mut self) -> anyhow::Result<Answer<'_>> {
        self.answer.clear();
        let head = loop {
            if let Some(end) = head_end(&self.answer) {
                break end;
            }
            ensure!(self.answer.len() < HEAD_BYTES_MAX, "an answer without end");
            self.read_more(64 * 1024)?;
        };
        let (status, length) = Self::head(&self.answer[..head])?;
        ensure!(
            length <= BODY_BYTES_MAX,
            "an answer of {length} bytes; the most is {BODY_BYTES_MAX}"
        );
        let whole = head + length;
        ensure!(
            self.answer.len() <= whole,
            "more than one answer to a request"
        );
        while self.answer.len() < whole {
            self.read_more(whole - self.answer.len())?;
        }
        Ok(Answer {
            status,
            body: &self.answer[head..whole],
        })
    }

    fn read_more(&mut self, most: usize) -> anyhow::Result<()> {
        let before = self.answer.len();
        self.answer.resize(before + most, 0);
        let read = self.stream.read(&mut self.answer[before..]);
        let read = read.context("waiting for an answer")?;
        self.answer.truncate(before + read);
        ensure!(read > 0, "the broker closed the connection");
        Ok(())
    }

    /// The status, and the length of the body.
    fn head(head: &[u8]) -> anyhow::Result<(u16, usize)> {
        let head = str::from_utf8(head).context("a head that is not text")?;
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        let code = status
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse::<u16>().ok());
        let code = code.with_context(|| format!("no status: {status:?}"))?;
        let lengths = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim())
        });
        match lengths.last() {
            Some(length) => Ok((code, length.parse().context("content-length")?)),
            None if code == 204 => Ok((code, 0)),
            None => bail!("an answer without a length: {head}"),
        }
    }
}

fn head_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    end.map(|end| end + 4)
}

#[cfg(test)]
mod tests {
    use super::Http;

    #[test]
    fn a_head_has_a_status_and_a_length() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";
        assert_eq!(Http::head(head).unwrap(), (200, 12));
        assert_eq!(
            Http::head(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap(),
            (204, 0)
        );
        assert!(Http::head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
