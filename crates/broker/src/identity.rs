//! The data directory's identity: which cluster and node it belongs to and which format it has.
//!
//! Why it exists: a broker must never write into a directory that is not its own, and an older broker never into
//! a newer one's. The file is written first in an empty directory and never changes afterwards.
//!
//! ```text
//! fanlog.properties
//!   # Fanlog's data directory. Do not edit.
//!   version=1
//!   cluster.id=<22 characters, a UUID in URL-safe base64>
//!   node.id=<number>
//! ```
//! Read next: `start_counter.rs`.

use crate::small_files::{property, read_small_file};
use fanlog_environment::{Disk, Environment, write_atomically};
use fanlog_model::BrokerId;
use std::io;
use std::path::Path;
use thiserror::Error;
use uuid::Uuid;

/// The identity's file, at the root of the data directory.
pub const IDENTITY_FILE: &str = "fanlog.properties";
const FILE: &str = IDENTITY_FILE;
/// The format of the directory as a whole; it rises when an older broker would misread it.
const VERSION: u32 = 1;
/// What may lie in a directory that counts as empty: our lock, and what mkfs makes.
const IGNORED: [&str; 2] = [".lock", "lost+found"];
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Which cluster and node a data directory belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The cluster's name, as clients see it.
    pub cluster_id: String,
    /// This broker's number.
    pub node_id: BrokerId,
}

/// Why a data directory is refused. Fate: an operator chooses another directory or puts this one right.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// It holds something and is not ours.
    #[error(
        "the data directory is not empty and not Fanlog's (it has '{found}' and no {FILE}); give an empty directory"
    )]
    Foreign {
        /// One of the things found.
        found: String,
    },
    /// It is Apache Kafka's.
    #[error(
        "the data directory belongs to Apache Kafka (it has meta.properties and no {FILE}); give an empty directory"
    )]
    Kafka,
    /// A newer Fanlog wrote it.
    #[error(
        "the data directory has format version {found}; this Fanlog knows up to {VERSION}: run a newer Fanlog"
    )]
    Newer {
        /// The version found.
        found: u32,
    },
    /// It belongs to another node.
    #[error(
        "the data directory belongs to node {}, and this is node {}; correct node.id or the directory", found.0, configured.0
    )]
    OtherNode {
        /// The node in the file.
        found: BrokerId,
        /// The node configured.
        configured: BrokerId,
    },
    /// It belongs to another cluster.
    #[error(
        "the data directory belongs to cluster '{found}', not '{configured}'; correct the cluster id or the directory"
    )]
    OtherCluster {
        /// The cluster in the file.
        found: String,
        /// The cluster configured.
        configured: String,
    },
    /// The file does not say what it must.
    #[error("{FILE} in the data directory is unreadable: {reason}; restore it from a backup")]
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// The disk failed.
    #[error("the data directory cannot be used: {0}")]
    Io(#[from] io::Error),
}

/// Reads the directory's identity, or gives one to an empty directory.
pub(crate) fn open_identity(
    environment: &Environment,
    node_id: BrokerId,
    cluster_id: Option<&str>,
) -> Result<Identity, IdentityError> {
    let disk = &*environment.disk;
    let Some(text) = read_identity_file(disk)? else {
        check_empty(disk)?;
        return write_identity(environment, node_id, cluster_id);
    };
    let found = parse(&text)?;
    if found.node_id != node_id {
        return Err(IdentityError::OtherNode {
            found: found.node_id,
            configured: node_id,
        });
    }
    match cluster_id {
        Some(configured) if configured != found.cluster_id => Err(IdentityError::OtherCluster {
            found: found.cluster_id,
            configured: configured.to_owned(),
        }),
        _ => Ok(found),
    }
}

fn read_identity_file(disk: &dyn Disk) -> Result<Option<String>, IdentityError> {
    read_small_file(disk, Path::new(FILE)).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => IdentityError::Unreadable {
            reason: error.to_string(),
        },
        _ => IdentityError::Io(error),
    })
}

fn check_empty(disk: &dyn Disk) -> Result<(), IdentityError> {
    let mut foreign = None;
    for entry in disk.read_dir(Path::new(""))? {
        let name = entry.name.to_string_lossy().into_owned();
        if name == "meta.properties" {
            return Err(IdentityError::Kafka);
        }
        // A crash while the identity was first written leaves its temporary file.
        if !IGNORED.contains(&name.as_str()) && !name.starts_with(FILE) {
            foreign = Some(name);
        }
    }
    match foreign {
        Some(found) => Err(IdentityError::Foreign { found }),
        None => Ok(()),
    }
}

fn write_identity(
    environment: &Environment,
    node_id: BrokerId,
    cluster_id: Option<&str>,
) -> Result<Identity, IdentityError> {
    let identity = Identity {
        cluster_id: cluster_id.map_or_else(|| base64(environment.entropy.uuid()), str::to_owned),
        node_id,
    };
    let text = format!(
        "# Fanlog's data directory. Do not edit.\nversion={VERSION}\ncluster.id={}\nnode.id={}\n",
        identity.cluster_id, identity.node_id.0
    );
    write_atomically(&*environment.disk, Path::new(FILE), text.as_bytes())?;
    Ok(identity)
}

fn parse(text: &str) -> Result<Identity, IdentityError> {
    let unreadable = |reason: &str| IdentityError::Unreadable {
        reason: reason.to_owned(),
    };
    let version: u32 = property(text, "version")
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| unreadable("it has no version"))?;
    if version > VERSION {
        return Err(IdentityError::Newer { found: version });
    }
    let cluster_id = property(text, "cluster.id")
        .filter(|value| !value.is_empty())
        .ok_or_else(|| unreadable("it has no cluster.id"))?;
    let node_id = property(text, "node.id")
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| unreadable("it has no node.id"))?;
    Ok(Identity {
        cluster_id: cluster_id.to_owned(),
        node_id: BrokerId(node_id),
    })
}

/// A UUID as Kafka writes cluster ids: 22 characters of URL-safe base64, unpadded.
fn base64(uuid: Uuid) -> String {
    let number = u128::from_be_bytes(*uuid.as_bytes());
    let digit = |shift: u32| BASE64_URL[((number >> shift) & 63) as usize] as char;
    let mut text: String = (0..21).map(|i| digit(122 - 6 * i)).collect();
    text.push(BASE64_URL[((number & 3) << 4) as usize] as char);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_becomes_url_safe_base64() {
        assert_eq!(base64(Uuid::nil()), "AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(base64(Uuid::from_u128(1)), "AAAAAAAAAAAAAAAAAAAAAQ");
        assert_eq!(base64(Uuid::from_u128(u128::MAX)), "_____________________w");
    }

    #[test]
    fn a_newer_or_damaged_identity_is_refused() {
        assert!(matches!(
            parse("version=2\ncluster.id=x\nnode.id=1\n"),
            Err(IdentityError::Newer { found: 2 })
        ));
        for text in [
            "",
            "version=1\nnode.id=1\n",
            "version=1\ncluster.id=x\nnode.id=one\n",
        ] {
            assert!(
                matches!(parse(text), Err(IdentityError::Unreadable { .. })),
                "{text}"
            );
        }
    }
}
