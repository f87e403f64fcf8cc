//! The only door to the world: clock, disk and entropy, real and simulated.
