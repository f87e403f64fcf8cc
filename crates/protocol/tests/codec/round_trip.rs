//! What a correct writer writes is read, and written again as the same bytes.

use super::sample::{self, Dice, Style};
use super::table;

const SAMPLES: u64 = 60;

#[test]
fn every_message_of_every_version_comes_back_byte_for_byte() {
    let mut versions = 0;
    for message in sample::all_messages() {
        let codec = table::find(&message.name);
        for version in message.versions.first..=message.versions.last {
            versions += 1;
            for seed in 0..SAMPLES {
                let bytes = sample::draw(&message, version, Style::Canonical, &mut Dice::new(seed));
                let decoded = codec(&bytes, version)
                    .unwrap_or_else(|error| panic!("{} {version}: {error}", message.name));
                assert_eq!(decoded.written, bytes, "{} {version} {seed}", message.name);
            }
        }
    }
    assert!(versions > 300, "only {versions} versions were tried");
}

#[test]
fn tagged_fields_that_nobody_knows_are_skipped() {
    let mut skipped = 0;
    for message in sample::all_messages() {
        let codec = table::find(&message.name);
        let Some(flexible) = message.flexible else {
            continue;
        };
        for version in flexible.first..=flexible.last {
            for seed in 0..SAMPLES {
                let with =
                    sample::draw(&message, version, Style::UnknownTags, &mut Dice::new(seed));
                let decoded = codec(&with, version)
                    .unwrap_or_else(|error| panic!("{} {version}: {error}", message.name));
                skipped += with.len() - decoded.written.len();
                let again = codec(&decoded.written, version).unwrap();
                assert_eq!(again.written, decoded.written, "{} {version}", message.name);
            }
        }
    }
    assert!(skipped > 0, "no unknown tagged field was drawn");
}
