//! The message ids of one topic and where each was first, in memory that is counted as it is allocated.
//!
//! Why it exists: ids come in millions; a map that doubles as a whole would stop the topic while it does, and take three times its size
//! for that moment. So it is many small maps, chosen by the id's hash, of which one grows or is swept at a time.
//! Owns: what is remembered of each id.   Never: time, durability, locks.
//! Invariants: OPS-1: it takes `bytes()`, and grows only within the room that it is given.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};

/// A power of two. Each is swept or grows in well under a millisecond up to a million ids in all.
const SHARDS: usize = 64;
/// What an entry of a map takes: id, slot, and the map's byte beside them.
const ENTRY_BYTES: usize = size_of::<(Id, Slot)>() + 1;
/// Maps are about half full right after they have grown: so much an id takes at most.
#[cfg(test)]
pub(super) const ID_BYTES_MAX: usize = ENTRY_BYTES * 16 / 7 + 1;

/// A message id's hash by a secret key: nobody can make two ids that have the same, and by chance there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    high: u64,
    low: u64,
}

/// Where a message with this id was first, and when that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) offset: i64,
    pub(super) time_ms: i64,
    pub(super) partition: i32,
    pub(super) state: State,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// About to be appended: it has no offset yet.
    Claimed,
    /// Appended in a transaction that is not decided.
    Open,
    /// Appended: it counts once that is durable.
    Appended,
}

/// There is no room for another id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

#[derive(Debug)]
pub(super) struct IdMap {
    shards: Vec<Shard>,
    bytes: usize,
    next_swept: usize,
}

#[derive(Debug, Default)]
struct Shard {
    slots: HashMap<Id, Slot, ById>,
    /// How many entries are allocated: the map's own capacity leaves out those that removed ids still take.
    entries: usize,
}

impl Shard {
    /// How many entries there will be once another id is in.
    fn entries_with_another(&self) -> usize {
        let capacity = self.entries / 8 * 7;
        let has_room = self.slots.len() < self.slots.capacity();
        // Where most are removed ones, those are cleared away.
        match has_room || self.slots.len() < capacity / 2 {
            true => self.entries,
            false => entries(self.slots.capacity().max(capacity) + 1),
        }
    }
}

impl Id {
    pub(super) fn new(hash: u128) -> Self {
        Self {
            high: (hash >> 64) as u64,
            low: hash as u64,
        }
    }

    fn shard(self) -> usize {
        self.high as usize % SHARDS
    }
}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.low);
    }
}

/// The id is a hash already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ById(u64);

impl BuildHasher for ById {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for ById {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("an id is hashed as one number")
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl Default for IdMap {
    fn default() -> Self {
        let mut shards = Vec::new();
        shards.resize_with(SHARDS, Shard::default);
        Self {
            shards,
            bytes: 0,
            next_swept: 0,
        }
    }
}

impl IdMap {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.slots.len()).sum()
    }

    pub(super) fn get(&self, id: Id) -> Option<&Slot> {
        self.shards[id.shard()].slots.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut Slot> {
        self.shards[id.shard()].slots.get_mut(&id)
    }

    /// Puts an id in, or replaces what is known of it, while the map takes no more than `bytes_max`.
    pub(super) fn insert(&mut self, id: Id, slot: Slot, bytes_max: usize) -> Result<(), Full> {
        let shard = &mut self.shards[id.shard()];
        if let Some(known) = shard.slots.get_mut(&id) {
            *known = slot;
            return Ok(());
        }
        let after = shard.entries_with_another();
        let more = after.saturating_sub(shard.entries) * ENTRY_BYTES;
        if more > 0 && self.bytes + more > bytes_max {
            return Err(Full);
        }
        let is_made_anew = shard.slots.len() == shard.slots.capacity();
        shard.slots.insert(id, slot);
        if is_made_anew {
            self.bytes -= shard.entries * ENTRY_BYTES;
            shard.entries = entries(shard.slots.capacity());
            self.bytes += shard.entries * ENTRY_BYTES;
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, id: Id) {
        self.shards[id.shard()].slots.remove(&id);
    }

    /// Forgets what is to go of one of its many parts, the next in turn, and gives back what that leaves free.
    pub(super) fn sweep_next(&mut self, stays: impl Fn(&Slot) -> bool) {
        let shard = &mut self.shards[self.next_swept];
        self.next_swept = (self.next_swept + 1) % SHARDS;
        shard.slots.retain(|_, slot| stays(slot));
        if shard.slots.len() < shard.entries / 4 {
            shard.slots.shrink_to(shard.slots.len() * 2);
            self.bytes -= shard.entries * ENTRY_BYTES;
            shard.entries = entries(shard.slots.capacity());
            self.bytes += shard.entries * ENTRY_BYTES;
        }
    }

    /// As `sweep_next`, of all parts.
    pub(super) fn sweep(&mut self, stays: impl Fn(&Slot) -> bool) {
        for _ in 0..SHARDS {
            self.sweep_next(&stays);
        }
    }
}

/// The parts that a sweep of all goes through.
pub(super) const PARTS: i64 = SHARDS as i64;

/// How many entries a map has that was just made for so many: a power of two, of which an eighth stays free.
fn entries(capacity: usize) -> usize {
    match capacity {
        0 => 0,
        1..=3 => 4,
        4..=7 => 8,
        _ => (capacity * 8).div_ceil(7).next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> Id {
        // Spread as a hash is.
        Id::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
    }

    fn slot(offset: i64) -> Slot {
        Slot {
            offset,
            time_ms: offset,
            partition: 0,
            state: State::Appended,
        }
    }

    #[test]
    fn an_id_takes_no_more_than_is_said_and_the_map_no_more_than_it_may() {
        assert_eq!(ENTRY_BYTES, 41);
        assert_eq!(ID_BYTES_MAX, 94);
        let mut map = IdMap::default();
        let bytes_max = 4 * 1024 * 1024;
        let mut count = 0;
        while map.insert(id(count), slot(count as i64), bytes_max).is_ok() {
            count += 1;
            assert!(map.bytes() <= bytes_max);
        }
        assert!(count as usize >= bytes_max / ID_BYTES_MAX, "{count} ids");
        assert_eq!(map.len(), count as usize);
        // What is known may change where nothing new fits.
        assert_eq!(map.insert(id(0), slot(7), bytes_max), Ok(()));
        assert_eq!(map.get(id(0)), Some(&slot(7)));
        map.sweep(|slot| slot.offset >= count as i64 - 10);
        assert_eq!(map.len(), 10);
        assert!(map.bytes() <= 64 * 4 * ENTRY_BYTES, "{}", map.bytes());
        assert_eq!(map.get(id(1)), None);
        // Ids that come and go for long take no more than those that are there at once.
        for number in count..count + 200_000 {
            assert_eq!(
                map.insert(id(number), slot(number as i64), bytes_max),
                Ok(())
            );
            map.remove(id(number - 5_000));
        }
        assert!(map.bytes() <= 5_100 * 2 * ID_BYTES_MAX, "{}", map.bytes());
    }
}
