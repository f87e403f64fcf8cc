//! A range of IP addresses.

use std::net::IpAddr;

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cidr {
    first: u128,
    is_v6: bool,
    /// How many bits at the end may differ.
    free_bits: u32,
}

impl Cidr {
    /// `10.0.0.0/8`, `2001:db8::/32`.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let (address, is_v6) = bits(address)?;
        let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
        let length: u32 = is_number.then(|| length.parse().ok())??;
        let free_bits = if is_v6 { 128_u32 } else { 32 }.checked_sub(length)?;
        Some(Self {
            first: without_last(address, free_bits),
            is_v6,
            free_bits,
        })
    }

    pub(super) fn contains(self, address: &str) -> bool {
        bits(address).is_some_and(|(address, is_v6)| {
            is_v6 == self.is_v6 && without_last(address, self.free_bits) == self.first
        })
    }
}

fn bits(address: &str) -> Option<(u128, bool)> {
    Some(match address.parse().ok()? {
        IpAddr::V4(address) => (u32::from(address).into(), false),
        IpAddr::V6(address) => (address.into(), true),
    })
}

fn without_last(address: u128, bits: u32) -> u128 {
    let shifted = address.checked_shr(bits).unwrap_or(0);
    shifted.checked_shl(bits).unwrap_or(0)
}
