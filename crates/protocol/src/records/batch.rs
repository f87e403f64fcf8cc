//! The zero-copy view of one batch: its frame, its header's fields, its checksum.

use super::compression::{Compression, CompressionError, Decompressor};
use super::record::RecordIter;
use fanlog_model::{BaseSequence, LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs};
use thiserror::Error;

/// The bytes of a batch before its records.
pub const HEADER_BYTES: usize = 61;
/// The bytes that the length field does not count: the base offset and itself.
pub(super) const UNCOUNTED_BYTES: usize = 12;
/// The length field of a batch without records: the smallest there is.
const LENGTH_MIN: i32 = (HEADER_BYTES - UNCOUNTED_BYTES) as i32;

pub(super) const LENGTH_AT: usize = 8;
pub(super) const LEADER_EPOCH_AT: usize = 12;
const MAGIC_AT: usize = 16;
pub(super) const CRC_AT: usize = 17;
/// Where the bytes begin that the checksum covers.
pub(super) const ATTRIBUTES_AT: usize = 21;
const LAST_OFFSET_DELTA_AT: usize = 23;
pub(super) const BASE_TIMESTAMP_AT: usize = 27;
pub(super) const MAX_TIMESTAMP_AT: usize = 35;
const PRODUCER_ID_AT: usize = 43;
const PRODUCER_EPOCH_AT: usize = 51;
const BASE_SEQUENCE_AT: usize = 53;
pub(super) const RECORD_COUNT_AT: usize = 57;

pub(super) const MAGIC: i8 = 2;
pub(super) const COMPRESSION_BITS: u16 = 0x07;
pub(super) const LOG_APPEND_TIME_BIT: u16 = 0x08;
pub(super) const TRANSACTIONAL_BIT: u16 = 0x10;
pub(super) const CONTROL_BIT: u16 = 0x20;
pub(super) const DELETE_HORIZON_BIT: u16 = 0x40;

/// Whose clock a batch's timestamps were taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimestampType {
    /// The producer's, for each record.
    #[default]
    CreateTime,
    /// The broker's, one for all records: the max timestamp.
    LogAppendTime,
}

/// Why bytes are not a batch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BatchError {
    /// The bytes end before the batch does.
    #[error("record batch is cut: {needed} bytes are needed and {present} are present")]
    Truncated {
        /// How many bytes the batch needs, as far as is known.
        needed: usize,
        /// How many there are.
        present: usize,
    },
    /// The length field is smaller than a header.
    #[error("record batch states a length of {length}; the least is {LENGTH_MIN}")]
    BadLength {
        /// What the field says.
        length: i32,
    },
    /// Not the format of 2017 and later.
    #[error(
        "record batch has magic {magic}; only 2 is supported: use a client of Kafka 0.11 or later"
    )]
    UnsupportedMagic {
        /// What the field says.
        magic: i8,
    },
    /// The attributes name a compression that does not exist.
    #[error("record batch has compression number {id}; 0 to 4 are known")]
    UnknownCompression {
        /// What the attributes say.
        id: u8,
    },
    /// The checksum does not match the bytes.
    #[error(
        "record batch is corrupt: its checksum is {stored:#010x} and its bytes give {computed:#010x}"
    )]
    CrcMismatch {
        /// What the field says.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// The records cannot be decompressed.
    #[error(transparent)]
    Compression(#[from] CompressionError),
}

/// One batch, in place. The frame is checked; the checksum and the records are checked when asked.
#[derive(Clone, Copy)]
pub struct BatchView<'a> {
    /// Exactly the batch: `HEADER_BYTES` or more.
    bytes: &'a [u8],
    compression: Compression,
}

impl<'a> BatchView<'a> {
    /// The first batch in `bytes`; what follows it is left alone ([`Self::total_len`] leads there).
    ///
    /// # Errors
    /// When no whole batch of magic 2 begins here.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BatchError> {
        let present = bytes.len();
        // The magic stands at the same place in every version: an old format is named as such, not as a bad length.
        if let Some(&magic) = bytes.get(MAGIC_AT)
            && magic as i8 != MAGIC
        {
            return Err(BatchError::UnsupportedMagic { magic: magic as i8 });
        }
        let Some(length) = bytes.get(LENGTH_AT..).and_then(<[u8]>::first_chunk) else {
            let needed = HEADER_BYTES;
            return Err(BatchError::Truncated { needed, present });
        };
        let length = i32::from_be_bytes(*length);
        if length < LENGTH_MIN {
            return Err(BatchError::BadLength { length });
        }
        let needed = length as usize + UNCOUNTED_BYTES;
        let Some(bytes) = bytes.get(..needed) else {
            return Err(BatchError::Truncated { needed, present });
        };
        let id = bytes[ATTRIBUTES_AT + 1] & COMPRESSION_BITS as u8;
        let compression = Compression::from_id(id).ok_or(BatchError::UnknownCompression { id })?;
        Ok(Self { bytes, compression })
    }

    /// Walks the batches that stand one after the other in `bytes`; ends after the first error.
    pub fn parse_all(bytes: &'a [u8]) -> impl Iterator<Item = Result<Self, BatchError>> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let batch = Self::parse(rest);
            rest = match &batch {
                Ok(batch) => &rest[batch.total_len()..],
                Err(_) => &[],
            };
            Some(batch)
        })
    }

    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        *self.bytes[at..]
            .first_chunk()
            .expect("parse checked that the header is whole")
    }

    fn attributes(&self) -> u16 {
        u16::from_be_bytes(self.field(ATTRIBUTES_AT))
    }

    /// The batch, byte for byte.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How many bytes the batch takes: the next one begins there.
    pub const fn total_len(&self) -> usize {
        self.bytes.len()
    }

    /// The offset of the first record as it was produced; compaction may have removed that record.
    pub fn base_offset(&self) -> Offset {
        Offset(i64::from_be_bytes(self.field(0)))
    }

    /// The offset of the last record as it was produced; `i64::MAX` where a corrupt header would reach beyond.
    pub fn last_offset(&self) -> Offset {
        let delta = i64::from(self.last_offset_delta());
        Offset(self.base_offset().get().saturating_add(delta))
    }

    /// The offset after the batch.
    pub fn next_offset(&self) -> Offset {
        Offset(self.last_offset().get().saturating_add(1))
    }

    /// The epoch of the leader that appended the batch.
    pub fn partition_leader_epoch(&self) -> LeaderEpoch {
        LeaderEpoch(i32::from_be_bytes(self.field(LEADER_EPOCH_AT)))
    }

    /// The checksum as stored.
    pub fn crc(&self) -> u32 {
        u32::from_be_bytes(self.field(CRC_AT))
    }

    /// How the records are compressed.
    pub const fn compression(&self) -> Compression {
        self.compression
    }

    /// Whose clock the timestamps are from.
    pub fn timestamp_type(&self) -> TimestampType {
        if self.attributes() & LOG_APPEND_TIME_BIT == 0 {
            TimestampType::CreateTime
        } else {
            TimestampType::LogAppendTime
        }
    }

    /// Whether the records belong to a transaction.
    pub fn is_transactional(&self) -> bool {
        self.attributes() & TRANSACTIONAL_BIT != 0
    }

    /// Whether the record is a marker for brokers and clients, invisible to applications.
    pub fn is_control(&self) -> bool {
        self.attributes() & CONTROL_BIT != 0
    }

    /// Whether the base timestamp is the time at which compaction may drop tombstones.
    pub fn has_delete_horizon(&self) -> bool {
        self.attributes() & DELETE_HORIZON_BIT != 0
    }

    /// The last offset, counted from the base offset.
    pub fn last_offset_delta(&self) -> i32 {
        i32::from_be_bytes(self.field(LAST_OFFSET_DELTA_AT))
    }

    /// What the records' timestamps count from.
    pub fn base_timestamp(&self) -> TimestampMs {
        TimestampMs(i64::from_be_bytes(self.field(BASE_TIMESTAMP_AT)))
    }

    /// The latest timestamp of the records, or the append time for all of them.
    pub fn max_timestamp(&self) -> TimestampMs {
        TimestampMs(i64::from_be_bytes(self.field(MAX_TIMESTAMP_AT)))
    }

    /// The idempotent producer, or [`ProducerId::NONE`].
    pub fn producer_id(&self) -> ProducerId {
        ProducerId(i64::from_be_bytes(self.field(PRODUCER_ID_AT)))
    }

    /// Whether an idempotent producer wrote the batch.
    pub fn has_producer_id(&self) -> bool {
        self.producer_id().get() > ProducerId::NONE.get()
    }

    /// The producer's fencing number.
    pub fn producer_epoch(&self) -> ProducerEpoch {
        ProducerEpoch(i16::from_be_bytes(self.field(PRODUCER_EPOCH_AT)))
    }

    /// The sequence number of the first record.
    pub fn base_sequence(&self) -> BaseSequence {
        BaseSequence(i32::from_be_bytes(self.field(BASE_SEQUENCE_AT)))
    }

    /// The sequence number of the last record as produced; [`BaseSequence::NONE`] where the batch has none.
    pub fn last_sequence(&self) -> BaseSequence {
        let base = self.base_sequence();
        if base.get() < 0 {
            return BaseSequence::NONE;
        }
        base.plus(self.last_offset_delta().max(0))
    }

    /// How many records the header states; compaction may leave none.
    pub fn record_count(&self) -> i32 {
        i32::from_be_bytes(self.field(RECORD_COUNT_AT))
    }

    /// The bytes after the header, as stored.
    pub fn compressed_records(&self) -> &'a [u8] {
        &self.bytes[HEADER_BYTES..]
    }

    /// What the checksum should be.
    pub fn computed_crc(&self) -> u32 {
        crc32c::crc32c(&self.bytes[ATTRIBUTES_AT..])
    }

    /// Checks the checksum.
    ///
    /// # Errors
    /// When a byte has changed since the producer sent it.
    pub fn check_crc(&self) -> Result<(), BatchError> {
        let (stored, computed) = (self.crc(), self.computed_crc());
        if stored == computed {
            Ok(())
        } else {
            Err(BatchError::CrcMismatch { stored, computed })
        }
    }

    /// The records, decompressed as a whole into `decompressor` where needed.
    ///
    /// # Errors
    /// When they cannot be decompressed within its limit.
    pub fn records<'b>(
        &self,
        decompressor: &'b mut Decompressor,
    ) -> Result<RecordIter<'b>, BatchError>
    where
        'a: 'b,
    {
        let plain = decompressor.decompress(self.compression, self.compressed_records())?;
        Ok(RecordIter::new(plain, self.record_count()))
    }

    /// The time of a record of this batch.
    pub fn timestamp_of(&self, timestamp_delta: i64) -> TimestampMs {
        match self.timestamp_type() {
            TimestampType::LogAppendTime => self.max_timestamp(),
            TimestampType::CreateTime => {
                TimestampMs(self.base_timestamp().get().saturating_add(timestamp_delta))
            }
        }
    }

    /// The offset of a record of this batch.
    pub fn offset_of(&self, offset_delta: i32) -> Offset {
        Offset(self.base_offset().get().saturating_add(offset_delta.into()))
    }
}

impl std::fmt::Debug for BatchView<'_> {
    /// The header, without the records: they may be megabytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchView")
            .field("base_offset", &self.base_offset())
            .field("last_offset_delta", &self.last_offset_delta())
            .field("total_len", &self.total_len())
            .field("partition_leader_epoch", &self.partition_leader_epoch())
            .field("attributes", &self.attributes())
            .field("base_timestamp", &self.base_timestamp())
            .field("max_timestamp", &self.max_timestamp())
            .field("producer_id", &self.producer_id())
            .field("producer_epoch", &self.producer_epoch())
            .field("base_sequence", &self.base_sequence())
            .field("record_count", &self.record_count())
            .finish()
    }
}
