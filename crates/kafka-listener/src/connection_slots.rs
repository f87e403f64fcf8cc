//! How many connections are open, in all and from each address, against limits that may change while running.
//!
//! Invariants: OPS-1.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Which limit a connection would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// `max.connections`, or what the limit of open files leaves.
    InAll,
    /// `max.connections.per.ip`.
    FromAddress,
}

impl Full {
    /// The setting to raise.
    pub(crate) fn setting(self) -> &'static str {
        match self {
            Self::InAll => "max.connections",
            Self::FromAddress => "max.connections.per.ip",
        }
    }
}

/// The connections that are open. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionSlots {
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    in_all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// One open connection, given back when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    slots: ConnectionSlots,
    address: IpAddr,
}

impl ConnectionSlots {
    /// Counts a connection from `address`, unless a limit is reached.
    pub(crate) fn take(
        &self,
        address: IpAddr,
        in_all_max: usize,
        per_address_max: usize,
    ) -> Result<ConnectionSlot, Full> {
        let address = address.to_canonical();
        let mut open = self.open.lock();
        if open.in_all >= in_all_max {
            return Err(Full::InAll);
        }
        if open.by_address.get(&address).copied().unwrap_or(0) >= per_address_max {
            return Err(Full::FromAddress);
        }
        open.in_all += 1;
        *open.by_address.entry(address).or_default() += 1;
        let slots = self.clone();
        Ok(ConnectionSlot { slots, address })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.slots.open.lock();
        open.in_all -= 1;
        if let Some(count) = open.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_holds_and_a_closed_connection_makes_room() {
        let slots = ConnectionSlots::default();
        let (a, b) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let first = slots.take(a, 2, 1).unwrap();
        assert_eq!(slots.take(a, 2, 1).unwrap_err(), Full::FromAddress);
        let mapped: IpAddr = "::ffff:10.0.0.1".parse().unwrap();
        assert_eq!(slots.take(mapped, 2, 1).unwrap_err(), Full::FromAddress);
        let _second = slots.take(b, 2, 1).unwrap();
        assert_eq!(slots.take(b, 2, 9).unwrap_err(), Full::InAll);
        drop(first);
        assert!(slots.take(a, 2, 1).is_ok());
        assert_eq!(slots.open.lock().by_address.len(), 1);
    }
}
