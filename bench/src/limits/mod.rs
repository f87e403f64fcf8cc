//! What the machine gives, without a broker: the figures that a broker's are compared with.

mod serving;

use crate::figures::{Figures, record, times};
use anyhow::Context;
use rustix::fs::{FallocateFlags, fallocate, fdatasync};
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The file that is written below the directory.
const FILE: &str = "limits";
const CHUNK: usize = 64 * 1024;
/// A recycled file is overwritten from its start when its end is reached.
const RECYCLED_BYTES: u64 = 64 * 1024 * 1024;
/// Where a growing file begins anew, so that the disk does not fill.
const GROWN_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Measures everything below `dir`, `span` each.
///
/// # Errors
/// The directory cannot be written, or loopback not be used.
pub fn measure(dir: &Path, span: Duration) -> anyhow::Result<Figures> {
    let found = all(dir, span);
    // Up to two gigabytes, which nobody needs any more; where measuring failed, that is the news.
    let removed = std::fs::remove_file(dir.join(FILE));
    let found = found?;
    removed.context("removing the file of the limits")?;
    Ok(found)
}

fn all(dir: &Path, span: Duration) -> anyhow::Result<Figures> {
    let mut figures = Figures::default();
    figures.put("crc_megabytes_per_second", crc(span));
    figures.put("loopback_megabytes_per_second", loopback(span)?);
    figures.put("write_megabytes_per_second", write(dir, span)?);
    let (p50, p99) = sync(&Target::growing(dir)?, span)?;
    figures.put("fdatasync_growing_p50_ms", p50);
    figures.put("fdatasync_growing_p99_ms", p99);
    let (p50, p99) = sync(&Target::recycled(dir)?, span)?;
    figures.put("fdatasync_recycled_p50_ms", p50);
    figures.put("fdatasync_recycled_p99_ms", p99);
    let bare = |target: Target, bytes, in_flight| {
        Bare {
            target,
            bytes,
            in_flight,
        }
        .run(span)
    };
    let mebibyte = 1024 * 1024;
    let recycled = bare(Target::recycled(dir)?, CHUNK, 5)?;
    figures.put("bare_64k_recycled_megabytes_per_second", recycled);
    let growing = bare(Target::growing(dir)?, CHUNK, 5)?;
    figures.put("bare_64k_growing_megabytes_per_second", growing);
    let recycled = bare(Target::recycled(dir)?, mebibyte, 5)?;
    figures.put("bare_1m_recycled_megabytes_per_second", recycled);
    let growing = bare(Target::growing(dir)?, mebibyte, 5)?;
    figures.put("bare_1m_growing_megabytes_per_second", growing);
    let file = serving::cached(dir)?;
    let sent = serving::read_and_send(&file, span)?;
    figures.put("bare_read_and_send_megabytes_per_second", sent);
    let sent = serving::sendfile(&file, span)?;
    figures.put("bare_sendfile_megabytes_per_second", sent);
    Ok(figures)
}

fn rate(bytes: u64, elapsed: Duration) -> f64 {
    bytes as f64 / 1e6 / elapsed.as_secs_f64()
}

fn crc(span: Duration) -> f64 {
    let chunk = vec![7u8; CHUNK];
    let started = Instant::now();
    let mut bytes = 0;
    while started.elapsed() < span {
        black_box(crc32c::crc32c(black_box(&chunk)));
        bytes += CHUNK as u64;
    }
    rate(bytes, started.elapsed())
}

/// One thread sends, another receives: megabytes a second.
fn loopback(span: Duration) -> anyhow::Result<f64> {
    let (mut near, mut far) = pair()?;
    let started = Instant::now();
    let receiver = std::thread::spawn(move || {
        let mut buffer = vec![0; 16 * CHUNK];
        let mut bytes = 0;
        while let Ok(count @ 1..) = far.read(&mut buffer) {
            bytes += count as u64;
        }
        bytes
    });
    let chunk = vec![7u8; CHUNK];
    while started.elapsed() < span {
        near.write_all(&chunk)?;
    }
    drop(near);
    let bytes = receiver.join().expect("the receiver does not panic");
    Ok(rate(bytes, started.elapsed()))
}

fn pair() -> anyhow::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok((near, far))
}

/// A file to which chunks are written one behind the other.
#[derive(Debug)]
struct Target {
    file: File,
    /// Where it begins anew.
    bytes_max: u64,
}

impl Target {
    fn growing(dir: &Path) -> anyhow::Result<Self> {
        let file = File::create(dir.join(FILE)).context("a file for the limits")?;
        Ok(Self {
            file,
            bytes_max: GROWN_BYTES_MAX,
        })
    }

    /// Its blocks are there and have been written, so that a sync changes no metadata.
    fn recycled(dir: &Path) -> anyhow::Result<Self> {
        let target = Self::growing(dir)?;
        // Reserving is an optimisation; the zeros below are what counts.
        let _ = fallocate(&target.file, FallocateFlags::empty(), 0, RECYCLED_BYTES);
        let zeros = vec![0; CHUNK];
        for at in (0..RECYCLED_BYTES).step_by(CHUNK) {
            target.file.write_all_at(&zeros, at)?;
        }
        target.file.sync_all()?;
        Ok(Self {
            bytes_max: RECYCLED_BYTES,
            ..target
        })
    }

    /// Writes a chunk at `at`, or at the start where it would not fit; answers where the next one goes.
    fn write(&self, chunk: &[u8], at: u64) -> anyhow::Result<u64> {
        let at = if at + chunk.len() as u64 > self.bytes_max {
            0
        } else {
            at
        };
        self.file.write_all_at(chunk, at)?;
        Ok(at + chunk.len() as u64)
    }
}

fn write(dir: &Path, span: Duration) -> anyhow::Result<f64> {
    let target = Target::growing(dir)?;
    let chunk = vec![7u8; CHUNK];
    let started = Instant::now();
    let (mut at, mut bytes) = (0, 0);
    while started.elapsed() < span {
        at = target.write(&chunk, at)?;
        bytes += CHUNK as u64;
    }
    Ok(rate(bytes, started.elapsed()))
}

/// The median and the 99th percentile of an fdatasync after a chunk, in milliseconds.
fn sync(target: &Target, span: Duration) -> anyhow::Result<(f64, f64)> {
    let chunk = vec![7u8; CHUNK];
    let mut times = times();
    let started = Instant::now();
    let mut at = 0;
    while started.elapsed() < span {
        at = target.write(&chunk, at)?;
        let before = Instant::now();
        fdatasync(&target.file)?;
        record(&mut times, before.elapsed());
    }
    let ms = |quantile| times.value_at_quantile(quantile) as f64 / 1000.0;
    Ok((ms(0.5), ms(0.99)))
}

/// The least that a durable log does: receive, checksum, write; sync once for all that have come; acknowledge each.
struct Bare {
    target: Target,
    bytes: usize,
    in_flight: usize,
}

impl Bare {
    /// Megabytes a second, one thread on each side.
    fn run(self, span: Duration) -> anyhow::Result<f64> {
        let (near, far) = pair()?;
        let (bytes, in_flight) = (self.bytes, self.in_flight);
        let server = std::thread::spawn(move || self.serve(far));
        let started = Instant::now();
        let acknowledged = send(near, bytes, in_flight, span)?;
        let elapsed = started.elapsed();
        server.join().expect("the server does not panic")?;
        Ok(rate(acknowledged * bytes as u64, elapsed))
    }

    fn serve(self, mut far: TcpStream) -> anyhow::Result<()> {
        let mut buffer = vec![0; self.bytes];
        let mut at = 0;
        while far.read_exact(&mut buffer).is_ok() {
            let mut pending = 1;
            loop {
                black_box(crc32c::crc32c(&buffer));
                at = self.target.write(&buffer, at)?;
                if pending == self.in_flight || rustix::io::ioctl_fionread(&far)? == 0 {
                    break;
                }
                // What has begun to come is worth waiting for.
                if far.read_exact(&mut buffer).is_err() {
                    return Ok(());
                }
                pending += 1;
            }
            fdatasync(&self.target.file)?;
            far.write_all(&vec![1; pending])?;
        }
        Ok(())
    }
}

/// Keeps chunks in flight; how many were acknowledged.
fn send(
    mut near: TcpStream,
    bytes: usize,
    in_flight: usize,
    span: Duration,
) -> anyhow::Result<u64> {
    let chunk = vec![7u8; bytes];
    let started = Instant::now();
    let (mut sent, mut acknowledged) = (0u64, 0u64);
    let mut acks = vec![0; in_flight];
    loop {
        let under_way = (sent - acknowledged) as usize;
        if started.elapsed() < span && under_way < in_flight {
            near.write_all(&chunk)?;
            sent += 1;
        } else if under_way == 0 {
            return Ok(acknowledged);
        } else {
            acknowledged += near.read(&mut acks)? as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_a_number_above_zero() {
        let dir = tempfile::tempdir().unwrap();
        let figures = measure(dir.path(), Duration::from_millis(20)).unwrap();
        let lines = figures.to_string();
        assert_eq!(lines.lines().count(), 13);
        for line in lines.lines() {
            let (name, value) = line.split_once(' ').unwrap();
            assert!(value.parse::<f64>().unwrap() > 0.0, "{name} is {value}");
        }
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
