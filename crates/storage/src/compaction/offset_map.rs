//! Where the newest record of each key lies, for as many keys as fit in a budget.
//!
//! Why it exists: a log may hold any number of keys, and memory may not. So the map says when it is full, and what lies behind that
//! offset is left to the next cleaning.
//! Owns: 24 bytes for each place: a 16-byte hash of the key, and the offset plus one (0 stands for a free place).

use super::sip_hash::SipKey;
use fanlog_model::Offset;

/// What one place takes.
pub(crate) const PLACE_BYTES: usize = 24;

/// Key to offset, with open addressing.
#[derive(Debug)]
pub(crate) struct OffsetMap {
    key: SipKey,
    /// Hash and offset apart, so that no byte is padding. Zeroed memory is not touched before it is used.
    hashes: Vec<[u64; 2]>,
    offsets: Vec<u64>,
    keys: usize,
    keys_max: usize,
}

impl OffsetMap {
    /// A map for up to `records` records within `bytes`, filled up to `load_factor`; for one key at least.
    pub(crate) fn new(key: SipKey, bytes: usize, load_factor: f64, records: u64) -> Self {
        let load_factor = load_factor.clamp(0.1, 0.95);
        let wanted = (records as f64 / load_factor) as usize + 1;
        let places = (bytes / PLACE_BYTES).min(wanted).max(2);
        Self {
            key,
            hashes: vec![[0; 2]; places],
            offsets: vec![0; places],
            keys: 0,
            keys_max: ((places as f64 * load_factor) as usize).clamp(1, places - 1),
        }
    }

    /// Notes that `key` has a record at `offset`, behind all noted before; says whether there was room for it.
    pub(crate) fn put(&mut self, key: &[u8], offset: Offset) -> bool {
        let (hash, place) = self.place_of(key);
        if self.offsets[place] == 0 {
            if self.keys == self.keys_max {
                return false;
            }
            self.keys += 1;
            self.hashes[place] = hash;
        }
        self.offsets[place] = offset.get() as u64 + 1;
        true
    }

    /// The offset of the newest record of `key` that was noted.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Offset> {
        let (_, place) = self.place_of(key);
        let noted = self.offsets[place].checked_sub(1)?;
        Some(Offset(noted as i64))
    }

    pub(crate) fn len(&self) -> usize {
        self.keys
    }

    /// Where the key is, or would be. There is always a free place.
    fn place_of(&self, key: &[u8]) -> ([u64; 2], usize) {
        let hash = self.key.hash(key);
        let hash = [hash as u64, (hash >> 64) as u64];
        let places = self.offsets.len();
        // The high bits of the product: every place is as likely as any other.
        let mut place = ((u128::from(hash[0]) * places as u128) >> 64) as usize;
        while self.offsets[place] != 0 && self.hashes[place] != hash {
            place = if place + 1 == places { 0 } else { place + 1 };
        }
        (hash, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn map(bytes: usize, records: u64) -> OffsetMap {
        OffsetMap::new(SipKey::new([5; 16]), bytes, 0.9, records)
    }

    #[test]
    fn a_full_map_takes_known_keys_only() {
        let mut map = map(10 * PLACE_BYTES, 1_000_000);
        let mut offset = 0;
        let key = |i: i64| i.to_be_bytes();
        while map.put(&key(offset), Offset(offset)) {
            offset += 1;
        }
        assert_eq!((offset, map.len()), (9, 9));
        assert!(map.put(&key(3), Offset(100)));
        assert_eq!(map.get(&key(3)), Some(Offset(100)));
        assert_eq!(map.get(&key(9)), None);
    }

    #[test]
    fn a_map_takes_no_more_memory_than_its_records_need() {
        assert!(map(1 << 40, 100).offsets.len() < 120);
        let mut least = map(0, 100);
        assert!(least.put(b"a", Offset(0)) && !least.put(b"b", Offset(1)));
    }

    proptest! {
        #[test]
        fn it_is_a_map(keys in prop::collection::vec(0u16..300, 0..400)) {
            let (mut ours, mut model) = (map(1 << 20, 400), HashMap::new());
            for (offset, key) in keys.iter().enumerate() {
                let offset = Offset(offset as i64);
                prop_assert!(ours.put(&key.to_be_bytes(), offset));
                model.insert(*key, offset);
            }
            prop_assert_eq!(ours.len(), model.len());
            for key in 0..300u16 {
                prop_assert_eq!(ours.get(&key.to_be_bytes()), model.get(&key).copied());
            }
        }
    }
}
