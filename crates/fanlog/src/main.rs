//! The Fanlog broker and its command line.
fn main() {}
