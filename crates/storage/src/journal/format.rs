//! The bytes of a journal file.
//!
//! ```text
//! <n>.journal, big-endian, in blocks of 4,096 bytes
//!   block 0    file header: which use of the file this is
//!   then       commits, each beginning and ending at a block
//!
//! file header (64 bytes, then zeros)
//!   0   u64 "FLJFILE1"   8   u32 crc of bytes 12..64   12  u32 0
//!   16  u64 epoch of the file                          24  u64 salt   32  32 bytes of zero
//!
//! commit: one write, one sync
//!   head (64)  table (48 for each record)  payloads  zeros  table again  tail (64)
//! head and tail
//!   0   u64 "FLJHEAD1" / "FLJTAIL1"   8   u32 crc of bytes 12..64   12  u32 how many records
//!   16  u64 epoch of the file         24  u64 number of the commit  32  u64 bytes of payloads
//!   40  u32 crc of the table          44  u64 salt    52  12 bytes of zero
//! table entry
//!   0   16  topic id        16  i32 partition     20  i32 leader epoch
//!   24  i64 base offset     32  i64 next offset   40  u32 bytes of payload   44  u32 crc of the payload
//! ```
//! The table stands twice, at both ends of the commit: damage at one place never hides whose records were there.
//! Head, tail and table are bound to the file's epoch, which no two uses of files share: what an earlier use left is never valid. They
//! are bound to its salt too, a number that nobody outside knows: no producer can send what looks like a commit. A
//! commit fills whole blocks, so that writing the next one touches nothing that was durable, and reads nothing from the disk.

use super::{Entry, LogId};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TopicId};
use uuid::Uuid;

/// What a commit begins and ends at.
pub(crate) const BLOCK_BYTES: u64 = 4096;
pub(super) const BLOCK: usize = 4096;
pub(super) const HEAD_BYTES: usize = 64;
pub(super) const ENTRY_BYTES: usize = 48;
const FILE_MAGIC: u64 = u64::from_be_bytes(*b"FLJFILE1");
const HEAD_MAGIC: u64 = u64::from_be_bytes(*b"FLJHEAD1");
const TAIL_MAGIC: u64 = u64::from_be_bytes(*b"FLJTAIL1");
const CRC_AT: usize = 8;
const CHECKED_FROM: usize = 12;

/// One use of a file, from its first commit until it is used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Usage {
    /// Rises with each use of any file: the start of the broker in the upper half, a count in the lower.
    pub(super) epoch: u64,
    pub(super) salt: u64,
}

impl Usage {
    /// Which start of the broker it was.
    pub(super) fn run(self) -> u64 {
        self.epoch >> 32
    }
}

/// Which end of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Head,
    Tail,
}

/// What stands at both ends of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommitEnd {
    pub(super) usage: Usage,
    pub(super) number: u64,
    pub(super) count: u32,
    pub(super) payload_bytes: u64,
    pub(super) table_crc: u32,
}

impl CommitEnd {
    /// How many bytes the commit fills; nothing where that is beyond all bounds.
    pub(super) fn commit_bytes(&self) -> Option<u64> {
        commit_bytes(u64::from(self.count), self.payload_bytes)
    }

    pub(super) fn table_bytes(&self) -> u64 {
        u64::from(self.count) * ENTRY_BYTES as u64
    }

    pub(super) fn encode(&self, end: End) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..8].copy_from_slice(&magic(end).to_be_bytes());
        bytes[12..16].copy_from_slice(&self.count.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.usage.epoch.to_be_bytes());
        bytes[24..32].copy_from_slice(&self.number.to_be_bytes());
        bytes[32..40].copy_from_slice(&self.payload_bytes.to_be_bytes());
        bytes[40..44].copy_from_slice(&self.table_crc.to_be_bytes());
        bytes[44..52].copy_from_slice(&self.usage.salt.to_be_bytes());
        seal(&mut bytes);
        bytes
    }

    pub(super) fn decode(bytes: &[u8], end: End) -> Option<Self> {
        check(bytes, magic(end))?;
        Some(Self {
            count: u32::from_be_bytes(take(bytes, 12)?),
            usage: Usage {
                epoch: u64::from_be_bytes(take(bytes, 16)?),
                salt: u64::from_be_bytes(take(bytes, 44)?),
            },
            number: u64::from_be_bytes(take(bytes, 24)?),
            payload_bytes: u64::from_be_bytes(take(bytes, 32)?),
            table_crc: u32::from_be_bytes(take(bytes, 40)?),
        })
    }
}

/// How many bytes a commit fills.
pub(super) fn commit_bytes(count: u64, payload_bytes: u64) -> Option<u64> {
    let table = count.checked_mul(ENTRY_BYTES as u64)?;
    let ends = 2 * HEAD_BYTES as u64;
    payload_bytes
        .checked_add(table.checked_mul(2)?)?
        .checked_add(ends)?
        .checked_next_multiple_of(BLOCK_BYTES)
}

fn magic(end: End) -> u64 {
    match end {
        End::Head => HEAD_MAGIC,
        End::Tail => TAIL_MAGIC,
    }
}

/// The first bytes of a file in the given use.
pub(super) fn encode_file_header(usage: Usage) -> [u8; HEAD_BYTES] {
    let mut bytes = [0; HEAD_BYTES];
    bytes[..8].copy_from_slice(&FILE_MAGIC.to_be_bytes());
    bytes[16..24].copy_from_slice(&usage.epoch.to_be_bytes());
    bytes[24..32].copy_from_slice(&usage.salt.to_be_bytes());
    seal(&mut bytes);
    bytes
}

/// The use that a file's first bytes tell.
pub(super) fn decode_file_header(bytes: &[u8]) -> Option<Usage> {
    check(bytes, FILE_MAGIC)?;
    Some(Usage {
        epoch: u64::from_be_bytes(take(bytes, 16)?),
        salt: u64::from_be_bytes(take(bytes, 24)?),
    })
}

fn seal(bytes: &mut [u8; HEAD_BYTES]) {
    let crc = crc32c::crc32c(&bytes[CHECKED_FROM..]);
    bytes[CRC_AT..CHECKED_FROM].copy_from_slice(&crc.to_be_bytes());
}

fn check(bytes: &[u8], magic: u64) -> Option<()> {
    let bytes = bytes.get(..HEAD_BYTES)?;
    let is_whole = u64::from_be_bytes(take(bytes, 0)?) == magic
        && u32::from_be_bytes(take(bytes, CRC_AT)?) == crc32c::crc32c(&bytes[CHECKED_FROM..]);
    is_whole.then_some(())
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

pub(super) fn encode_entry(entry: &Entry, crc: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(entry.log.topic_id.0.as_bytes());
    out.extend_from_slice(&entry.log.partition.0.to_be_bytes());
    out.extend_from_slice(&entry.leader_epoch.0.to_be_bytes());
    out.extend_from_slice(&entry.base.get().to_be_bytes());
    out.extend_from_slice(&entry.next.get().to_be_bytes());
    out.extend_from_slice(&entry.bytes.to_be_bytes());
    out.extend_from_slice(&crc.to_be_bytes());
}

/// An entry and the checksum of its payload.
pub(super) fn decode_entry(bytes: &[u8]) -> Option<(Entry, u32)> {
    let entry = Entry {
        log: LogId {
            topic_id: TopicId(Uuid::from_bytes(take(bytes, 0)?)),
            partition: PartitionIndex(i32::from_be_bytes(take(bytes, 16)?)),
        },
        leader_epoch: LeaderEpoch(i32::from_be_bytes(take(bytes, 20)?)),
        base: Offset(i64::from_be_bytes(take(bytes, 24)?)),
        next: Offset(i64::from_be_bytes(take(bytes, 32)?)),
        bytes: u32::from_be_bytes(take(bytes, 40)?),
    };
    let crc = u32::from_be_bytes(take(bytes, 44)?);
    (entry.base.get() >= 0 && entry.next >= entry.base).then_some((entry, crc))
}

/// A whole table; nothing where it is not as it was written.
pub(super) fn decode_table(bytes: &[u8], end: &CommitEnd) -> Option<Vec<(Entry, u32)>> {
    if table_crc(bytes, end.usage, end.number) != end.table_crc {
        return None;
    }
    let entries: Option<Vec<_>> = bytes.chunks_exact(ENTRY_BYTES).map(decode_entry).collect();
    let entries = entries.filter(|entries| entries.len() == end.count as usize)?;
    let sum: u64 = entries.iter().map(|(e, _)| u64::from(e.bytes)).sum();
    (sum == end.payload_bytes).then_some(entries)
}

/// Bound to the commit, so that the table of another one does not pass.
pub(super) fn table_crc(table: &[u8], usage: Usage, number: u64) -> u32 {
    let crc = crc32c::crc32c(&usage.epoch.to_be_bytes());
    let crc = crc32c::crc32c_append(crc, &usage.salt.to_be_bytes());
    let crc = crc32c::crc32c_append(crc, &number.to_be_bytes());
    crc32c::crc32c_append(crc, table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(id: u128, partition: i32, base: i64, count: i64, bytes: u32) -> Entry {
        Entry {
            log: LogId {
                topic_id: TopicId(Uuid::from_u128(id)),
                partition: PartitionIndex(partition),
            },
            leader_epoch: LeaderEpoch(7),
            base: Offset(base),
            next: Offset(base + count),
            bytes,
        }
    }

    proptest! {
        #[test]
        fn an_entry_round_trips(id: u128, partition in 0..i32::MAX, base in 0..i64::MAX / 2, count in 0..i64::MAX / 2, bytes: u32, crc: u32) {
            let entry = entry(id, partition, base, count, bytes);
            let mut out = Vec::new();
            encode_entry(&entry, crc, &mut out);
            prop_assert_eq!(out.len(), ENTRY_BYTES);
            prop_assert_eq!(decode_entry(&out), Some((entry, crc)));
        }

        #[test]
        fn an_end_round_trips(epoch: u64, salt: u64, number: u64, count: u32, payload_bytes: u64, table_crc: u32) {
            let end = CommitEnd { usage: Usage { epoch, salt }, number, count, payload_bytes, table_crc };
            let head = end.encode(End::Head);
            prop_assert_eq!(CommitEnd::decode(&head, End::Head), Some(end));
            prop_assert_eq!(CommitEnd::decode(&head, End::Tail), None);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = CommitEnd::decode(&bytes, End::Head);
            let _ = decode_entry(&bytes);
            let _ = decode_file_header(&bytes);
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let end = CommitEnd {
            usage: Usage { epoch: 3, salt: 8 },
            number: 4,
            count: 1,
            payload_bytes: 5,
            table_crc: 6,
        };
        for bit in 0..HEAD_BYTES * 8 {
            let mut head = end.encode(End::Head);
            head[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(CommitEnd::decode(&head, End::Head), None, "bit {bit}");
            let mut header = encode_file_header(end.usage);
            header[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode_file_header(&header), None, "bit {bit}");
        }
    }

    #[test]
    fn a_commit_beyond_all_bounds_has_no_size() {
        let end = CommitEnd {
            usage: Usage { epoch: 1, salt: 8 },
            number: 1,
            count: u32::MAX,
            payload_bytes: u64::MAX,
            table_crc: 0,
        };
        assert_eq!(end.commit_bytes(), None);
    }
}
