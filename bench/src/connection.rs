//! One blocking connection: frames out, frames in, in order.

use anyhow::{Context, ensure};
use fanlog_protocol::messages::RequestHeader;
use fanlog_protocol::wire::{GatherBuffer, Reader};
use fanlog_protocol::{Message, Request};
use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The largest answer accepted, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 128 * 1024 * 1024;
/// How long an answer may take before the run is given up.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Where the correlation id stands in a frame: behind length, key and version.
pub const CORRELATION_AT: usize = 8;

/// A connection to a broker.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens there.
    pub fn open(broker: &str) -> anyhow::Result<Self> {
        let stream =
            TcpStream::connect(broker).with_context(|| format!("no broker at {broker}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(Self {
            stream,
            answer: Vec::new(),
        })
    }

    /// A second handle on the same connection, to send by one thread and receive by another.
    ///
    /// # Errors
    /// No more files can be opened.
    pub fn second(&self) -> anyhow::Result<Self> {
        Ok(Self {
            stream: self.stream.try_clone()?,
            answer: Vec::new(),
        })
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// The connection broke.
    pub fn send(&mut self, frame: &[u8]) -> anyhow::Result<()> {
        self.stream.write_all(frame).context("sending a request")
    }

    /// Receives the next answer's frame, behind its length: the correlation id, then the rest.
    ///
    /// # Errors
    /// The connection broke, or the frame is longer than any that is expected.
    pub fn receive(&mut self) -> anyhow::Result<&[u8]> {
        let mut length = [0; 4];
        let context = "waiting for an answer";
        self.stream.read_exact(&mut length).context(context)?;
        let length = u32::from_be_bytes(length) as usize;
        ensure!(
            (4..=ANSWER_BYTES_MAX).contains(&length),
            "an answer of {length} bytes; the most is {ANSWER_BYTES_MAX}"
        );
        // Grown only: zeroing a buffer for each answer would cost as much as receiving it.
        if self.answer.len() < length {
            self.answer.resize(length, 0);
        }
        let answer = &mut self.answer[..length];
        self.stream.read_exact(answer).context(context)?;
        Ok(answer)
    }

    /// Sends a request in a version whose headers have no tagged fields, and reads its answer.
    ///
    /// # Errors
    /// The connection broke, or what came is no such answer.
    pub fn call<'s, 'q, R: Request<'q>>(
        &'s mut self,
        request: &R,
        version: i16,
    ) -> anyhow::Result<R::Response<'s>> {
        let frame = frame(request, version)?;
        self.send(&frame)?;
        read::<R>(self.receive()?, version)
    }
}

/// A request as bytes, its length in front.
///
/// # Errors
/// The version cannot carry a field that is set.
pub fn frame<'q, R: Request<'q>>(request: &R, version: i16) -> anyhow::Result<Vec<u8>> {
    let header = RequestHeader {
        request_api_key: R::KEY.to_i16(),
        request_api_version: version,
        correlation_id: 0,
        client_id: Some(Cow::Borrowed("fanlog-bench")),
    };
    let mut buffer = GatherBuffer::new();
    header.encode(&mut buffer, R::KEY.request_header_version(version))?;
    request.encode(&mut buffer, version)?;
    let body = buffer.into_vec();
    let length = u32::try_from(body.len()).context("a request of more than 4 GiB")?;
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend(body);
    Ok(frame)
}

/// Reads an answer's frame; versions whose headers have no tagged fields only.
///
/// # Errors
/// What came is no such answer.
pub fn read<'q, 'r, R: Request<'q>>(
    frame: &'r [u8],
    version: i16,
) -> anyhow::Result<R::Response<'r>> {
    ensure!(
        R::KEY.response_header_version(version) == 0,
        "{:?} {version} has a header that this tool does not read",
        R::KEY
    );
    let mut reader = Reader::new(&frame[4..]);
    Ok(R::Response::decode(&mut reader, version)?)
}
