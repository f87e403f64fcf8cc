//! The project's menu.
fn main() {}
