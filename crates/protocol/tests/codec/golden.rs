//! Bytes that Kafka's own classes agreed with, for what the other oracle does not know.

use super::table;

#[test]
fn kafkas_own_bytes_come_back() {
    let mut count = 0;
    for line in include_str!("golden.txt").lines() {
        if line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let [name, version, hex] = words[..] else {
            panic!("not a name, a version and bytes: {line}");
        };
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digits).collect();
        let decoded = table::find(name)(&bytes, version.parse().unwrap());
        let decoded = decoded.unwrap_or_else(|error| panic!("{name} {version}: {error}"));
        assert_eq!(decoded.written, bytes, "{name} {version}");
        count += 1;
    }
    assert_eq!(count, 24);
}
