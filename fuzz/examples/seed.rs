//! Writes what the fuzzers begin with: `seed <folder>`, one folder below it for each target.
//!
//! From the golden bytes that Kafka's own classes wrote, and from small files that we write ourselves.

use fanlog_fuzz::message_index;
use fanlog_model::settings::{broker_settings, topic_settings};
use fanlog_model::{LeaderEpoch, Offset, TopicId};
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::{GroupMetadataKey, OffsetCommitKey};
use fanlog_protocol::records::BatchView;
use fanlog_storage::formats::*;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("usage: seed <folder>"));
    let mut corpus = Corpus { folder, count: 0 };
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/protocol/tests/golden");
    for entry in fs::read_dir(golden)? {
        let text = fs::read_to_string(entry?.path())?;
        for line in text.lines() {
            corpus.golden_line(&line.split(' ').collect::<Vec<_>>())?;
        }
    }
    corpus.files()?;
    corpus.settings()?;
    corpus.aws_requests()?;
    println!("{} inputs", corpus.count);
    Ok(())
}

struct Corpus {
    folder: PathBuf,
    count: usize,
}

impl Corpus {
    fn put(&mut self, target: &str, bytes: &[u8]) -> std::io::Result<()> {
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder)?;
        self.count += 1;
        fs::write(folder.join(format!("seed-{}", self.count)), bytes)
    }

    fn golden_line(&mut self, words: &[&str]) -> std::io::Result<()> {
        if words[0] == "batch" {
            return self.batch(words[1], &bytes(words[3]));
        }
        let (name, version, body) = (words[0], words[1], bytes(words[3]));
        let version: i16 = version.parse().expect("a golden line has a version");
        let index = message_index(name).expect("golden bytes are of messages that we know");
        self.put("messages", &[&[index, version as u8], &body[..]].concat())?;
        if let Some(api) = request(name) {
            let mut frame = api.to_i16().to_be_bytes().to_vec();
            frame.extend(version.to_be_bytes());
            frame.extend([0, 0, 0, 1, 0, 1, b'c']);
            if api.request_header_version(version) == 2 {
                frame.push(0);
            }
            self.put("frames", &[&frame[..], &body].concat())?;
        }
        let versioned = [&version.to_be_bytes()[..], &body].concat();
        match name {
            "GroupMetadataValue" => {
                let group = "g".into();
                let key = GroupMetadataKey { group }.encode_with_version_prefix();
                self.put("group_records", &parts(&[&key.expect("short"), &versioned]))
            }
            "OffsetCommitValue" => {
                let key = OffsetCommitKey {
                    group: "g".into(),
                    topic: "t".into(),
                    partition: 3,
                };
                let key = key.encode_with_version_prefix().expect("short");
                self.put("group_records", &parts(&[&key, &versioned]))
            }
            _ => Ok(()),
        }
    }

    fn batch(&mut self, compression: &str, batch: &[u8]) -> std::io::Result<()> {
        self.put("batches", batch)?;
        let view = BatchView::parse(batch).expect("golden batches are well formed");
        if compression != "none" {
            self.put(compression, view.compressed_records())?;
        }
        if batch.len() < usize::from(u16::MAX) {
            let files = [&[][..], &[], &[], &[], &[], &[], batch];
            for flags in 0..4 {
                self.put("recovery", &[&[flags], &parts(&files)[..]].concat())?;
            }
        }
        Ok(())
    }

    /// The requests that botocore wrote.
    fn aws_requests(&mut self) -> std::io::Result<()> {
        let requests = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../crates/aws-protocol/tests/data/botocore-requests.txt");
        for line in fs::read_to_string(requests)?.lines() {
            let words: Vec<&str> = line.splitn(3, '\t').collect();
            let is_json = words[0] == "sqs-json";
            let target = if is_json {
                format!("AmazonSQS.{}", words[1])
            } else {
                String::new()
            };
            let scope = "AWS4-HMAC-SHA256 Credential=k/20261130/r/sqs/aws4_request, SignedHeaders=host, Signature=";
            let authorization = format!("{scope}{}", "0".repeat(64));
            let request = ["/", "", &target, &authorization, "", words[2]].map(str::as_bytes);
            self.put("aws_requests", &parts(&request))?;
        }
        Ok(())
    }

    fn files(&mut self) -> std::io::Result<()> {
        let tagged = |which: u8, bytes: Vec<u8>| [vec![which], bytes].concat();
        let epochs: Vec<_> = (0..3)
            .map(|i| leader_epoch_checkpoint::EpochEntry {
                epoch: LeaderEpoch(i),
                start_offset: Offset(i64::from(i) * 10),
            })
            .collect();
        self.put(
            "checkpoints",
            &tagged(0, leader_epoch_checkpoint::encode(&epochs)),
        )?;
        self.put(
            "checkpoints",
            &tagged(1, b"0\n2\na 0 5\nb.c 17 99\n".to_vec()),
        )?;
        self.put(
            "checkpoints",
            &tagged(2, partition_metadata::encode(TopicId::default())),
        )?;
        self.put("checkpoints", &tagged(3, clean_shutdown::encode(7)))?;
        self.put(
            "checkpoints",
            &tagged(4, recovery_mark::encode(Offset(9)).to_vec()),
        )?;
        self.put(
            "checkpoints",
            &tagged(5, b"00000000000000000017.timeindex".to_vec()),
        )?;
        let entries: Vec<u8> = (1..5u8).flat_map(|i| [0, 0, 0, i, 0, 0, i, 0]).collect();
        self.put("indexes", &tagged(0, entries))?;
        let entries: Vec<u8> = (1..5u8)
            .flat_map(|i| [0, 0, 0, 0, 0, 0, i, 0, 0, 0, 0, i])
            .collect();
        self.put("indexes", &tagged(1, entries))?;
        self.put("indexes", &tagged(2, vec![0; 34]))?;
        self.put("producer_snapshot", &producer_snapshot::encode(&[]))?;
        self.put(
            "catalog_records",
            &parts(&[&[&[1][..], &[7; 16]].concat(), &[0, 0, 0, 1, b't']]),
        )
    }

    fn settings(&mut self) -> std::io::Result<()> {
        let all = topic_settings().values().chain(broker_settings().values());
        for setting in all {
            let default = setting.default.unwrap_or("1");
            self.put(
                "settings",
                format!("{}={default}\n", setting.name).as_bytes(),
            )?;
        }
        Ok(())
    }
}

fn request(name: &str) -> Option<ApiKey> {
    let api = name.strip_suffix("Request")?;
    ApiKey::ALL.into_iter().find(|each| each.name() == api)
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
    if hex == "-" {
        return Vec::new();
    }
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// Parts behind their lengths, as the targets take them apart.
fn parts(parts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        out.extend((part.len() as u16).to_be_bytes());
        out.extend_from_slice(part);
    }
    out
}
