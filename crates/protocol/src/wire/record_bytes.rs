//! Record batches inside a message: bytes that are never copied on their way through.

use bytes::Bytes;

/// Record batches as they lie in a frame or in a log.
#[derive(Clone, Debug)]
pub enum RecordBytes<'a> {
    /// A part of the frame that was read. Writing it copies it.
    Borrowed(&'a [u8]),
    /// Slices that follow one another, as a log hands them out. Writing shares them.
    Shared(Vec<Bytes>),
    /// So many bytes that are not in memory: whoever sends the frame adds them in this place.
    Apart(usize),
}

impl<'a> RecordBytes<'a> {
    /// No batches. An empty Fetch answer carries this and not null, which librdkafka takes for an error (P7).
    pub const EMPTY: RecordBytes<'static> = RecordBytes::Borrowed(&[]);

    /// How many bytes the batches take.
    pub fn len(&self) -> usize {
        match self {
            Self::Borrowed(bytes) => bytes.len(),
            Self::Shared(slices) => slices.iter().map(Bytes::len).sum(),
            Self::Apart(length) => *length,
        }
    }

    /// Whether there is no batch.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in one piece; copies when they lie in several.
    ///
    /// # Panics
    /// They lie apart.
    pub fn to_vec(&self) -> Vec<u8> {
        match self {
            Self::Borrowed(bytes) => bytes.to_vec(),
            Self::Shared(slices) => slices.concat(),
            Self::Apart(length) => panic!("{length} bytes of records are not in memory"),
        }
    }

    /// The bytes of the frame, where they are a part of one.
    pub fn as_borrowed(&self) -> Option<&'a [u8]> {
        match self {
            Self::Borrowed(bytes) => Some(bytes),
            Self::Shared(_) | Self::Apart(_) => None,
        }
    }
}

impl Default for RecordBytes<'_> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PartialEq for RecordBytes<'_> {
    /// Equal bytes are equal, however they are cut. Of bytes that lie apart only the length is known.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Apart(a), Self::Apart(b)) => a == b,
            (Self::Apart(_), _) | (_, Self::Apart(_)) => false,
            (Self::Borrowed(a), Self::Borrowed(b)) => a == b,
            _ => self.len() == other.len() && self.to_vec() == other.to_vec(),
        }
    }
}

impl Eq for RecordBytes<'_> {}
