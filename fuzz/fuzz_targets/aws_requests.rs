//! See `fanlog_fuzz::TARGETS`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fanlog_fuzz::run("aws_requests", bytes));
