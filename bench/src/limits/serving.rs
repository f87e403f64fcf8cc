//! What a bare server of cached file bytes sends over loopback: by reading and sending, and by sendfile.

use super::{CHUNK, pair, rate};
use anyhow::{Context, ensure};
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is served, again and again: small enough to stay in the page cache, larger than the processor's.
const FILE_BYTES: u64 = 256 * 1024 * 1024;
/// What is read or sent at once.
const PIECE: usize = 1024 * 1024;

/// A file in the page cache.
pub(super) fn cached(dir: &Path) -> anyhow::Result<File> {
    let path = dir.join(super::FILE);
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .context("a file for the limits")?;
    let chunk = vec![7; CHUNK];
    for at in (0..FILE_BYTES).step_by(CHUNK) {
        file.write_all_at(&chunk, at)?;
    }
    file.sync_all()?;
    Ok(file)
}

/// Megabytes a second through a buffer that is used again.
pub(super) fn read_and_send(file: &File, span: Duration) -> anyhow::Result<f64> {
    let mut buffer = vec![0; PIECE];
    serve(span, |near, at| {
        file.read_exact_at(&mut buffer, at)?;
        near.write_all(&buffer)?;
        Ok(PIECE)
    })
}

/// Megabytes a second when the file's bytes never come into this program.
pub(super) fn sendfile(file: &File, span: Duration) -> anyhow::Result<f64> {
    serve(span, |near, mut at| {
        Ok(rustix::fs::sendfile(near, file, Some(&mut at), PIECE)?)
    })
}

/// One thread serves, another receives.
fn serve(
    span: Duration,
    mut piece: impl FnMut(&mut TcpStream, u64) -> anyhow::Result<usize>,
) -> anyhow::Result<f64> {
    let (mut near, mut far) = pair()?;
    let started = Instant::now();
    let receiver = std::thread::spawn(move || {
        let mut buffer = vec![0; PIECE];
        let mut bytes = 0;
        while let Ok(count @ 1..) = far.read(&mut buffer) {
            bytes += count as u64;
        }
        bytes
    });
    let mut at = 0;
    while started.elapsed() < span {
        let sent = piece(&mut near, at)?;
        ensure!(sent > 0, "nothing was sent at {at}");
        at = (at + sent as u64) % (FILE_BYTES - PIECE as u64);
    }
    drop(near);
    let bytes = receiver.join().expect("the receiver does not panic");
    Ok(rate(bytes, started.elapsed()))
}
