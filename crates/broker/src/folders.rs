//! The folders of the data directory: which partition each holds, and how those of deleted topics go.
//!
//! Why it exists: deleting must survive a crash at any step and must never take what is not understood. So a
//! partition's folder is first renamed to a name that no partition can have, then removed; and a start removes only
//! folders whose `partition.metadata` names a topic that the catalog knows to be deleted.
//!
//! ```text
//! <topic>-<partition>/                           a partition, as Kafka names it
//! <topic>-<partition>.<topic id, hex>-delete/    a partition on its way out, as Kafka names it
//! __fanlog_catalog-0/                            the catalog's own log
//! ```
//! Read next: `garbage.rs`.

use fanlog_environment::{Disk, read_bounded};
use fanlog_model::{PartitionIndex, TopicId, TopicName};
use fanlog_storage::formats::partition_metadata::{self, FILE_BYTES_MAX};
use std::io;
use std::path::{Path, PathBuf};

use fanlog_storage::journal::FOLDER as JOURNAL;

const DELETE_SUFFIX: &str = "-delete";
pub(crate) const PARTITION_METADATA: &str = "partition.metadata";
/// The longest name of a folder on common file systems.
const FOLDER_NAME_BYTES_MAX: usize = 255;

/// What a folder's name says that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// A partition.
    Partition(TopicName, PartitionIndex),
    /// A partition on its way out.
    Deleted,
    /// Something else.
    Unknown,
}

impl Folder {
    pub(crate) fn of(name: &str) -> Self {
        if name.ends_with(DELETE_SUFFIX) && name.contains('.') {
            return Self::Deleted;
        }
        let parse = |(topic, index): (&str, &str)| {
            let canonical = index
                .parse::<i32>()
                .ok()
                .filter(|i| i.to_string() == index && *i >= 0)?;
            Some((TopicName::new(topic).ok()?, PartitionIndex(canonical)))
        };
        match name.rsplit_once('-').and_then(parse) {
            Some((topic, index)) => Self::Partition(topic, index),
            None => Self::Unknown,
        }
    }
}

/// The names of the folders of partitions, at the root.
pub(crate) fn folder_names(disk: &dyn Disk) -> io::Result<Vec<String>> {
    let entries = disk.read_dir(Path::new(""))?;
    let names = entries
        .into_iter()
        .filter(|entry| entry.is_dir && entry.name != "lost+found" && entry.name != JOURNAL)
        // A name that is not text is nothing of ours.
        .filter_map(|entry| entry.name.into_string().ok())
        .collect();
    Ok(names)
}

/// The topic id in a folder's `partition.metadata`; none if there is no such file or it does not say.
pub(crate) fn topic_id_in(disk: &dyn Disk, folder: &str) -> io::Result<Option<TopicId>> {
    let path = Path::new(folder).join(PARTITION_METADATA);
    match read_bounded(disk, &path, FILE_BYTES_MAX) {
        Ok(bytes) => Ok(partition_metadata::decode(&bytes).ok()),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidData => Ok(None),
            _ => Err(error),
        },
    }
}

/// Renames a partition's folder, durably, to a name that no partition can have; the new name.
pub(crate) fn mark_deleted(disk: &dyn Disk, folder: &str, id: TopicId) -> io::Result<String> {
    let deleted = deleted_name(folder, id);
    if disk.exists(Path::new(folder))? {
        disk.rename(Path::new(folder), Path::new(&deleted))?;
        disk.sync_dir(Path::new(""))?;
    }
    Ok(deleted)
}

/// Removes a folder that was marked deleted. `partition.metadata` goes last, so that a folder half removed by a
/// crash still says whose it is.
pub(crate) fn remove_deleted(disk: &dyn Disk, folder: &str) -> io::Result<()> {
    assert_eq!(
        Folder::of(folder),
        Folder::Deleted,
        "only deleted folders are removed"
    );
    let path = PathBuf::from(folder);
    if !disk.exists(&path)? {
        return Ok(());
    }
    for entry in disk.read_dir(&path)? {
        let is_metadata = entry.name == PARTITION_METADATA;
        if !is_metadata && !entry.is_dir {
            disk.remove_file(&path.join(&entry.name))?;
        }
    }
    disk.sync_dir(&path)?;
    disk.remove_dir_all(&path)?;
    disk.sync_dir(Path::new(""))
}

fn deleted_name(folder: &str, id: TopicId) -> String {
    let suffix = format!(".{}{DELETE_SUFFIX}", id.0.simple());
    let kept = folder.len().min(FOLDER_NAME_BYTES_MAX - suffix.len());
    // Folder names are ASCII, as topic names are; two long names that are cut alike differ by their id, and two
    // partitions of one topic by what is added here.
    if kept == folder.len() {
        return format!("{folder}{suffix}");
    }
    let (topic, index) = folder
        .rsplit_once('-')
        .expect("a partition's folder has a number");
    let kept = FOLDER_NAME_BYTES_MAX - suffix.len() - index.len() - 1;
    format!("{}-{index}{suffix}", &topic[..kept])
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_folders_name_says_what_it_is() {
        let check = |name: &str, expected: Folder| assert_eq!(Folder::of(name), expected, "{name}");
        let partition = |topic: &str, index| {
            Folder::Partition(TopicName::new(topic).unwrap(), PartitionIndex(index))
        };
        check("orders-0", partition("orders", 0));
        check("a-b-12", partition("a-b", 12));
        check("a--1", partition("a-", 1));
        check("orders-01", Folder::Unknown);
        check("orders-", Folder::Unknown);
        check("orders", Folder::Unknown);
        check("-0", Folder::Unknown);
        check("orders-0.00ff-delete", Folder::Deleted);
        // A topic may be called so; its folder ends in a number.
        check("x.y-delete-0", partition("x.y-delete", 0));
    }

    #[test]
    fn the_name_of_a_deleted_folder_is_unique_and_fits() {
        let id = TopicId(Uuid::from_u128(7));
        let long = "x".repeat(TopicName::LENGTH_MAX);
        let first = deleted_name(&format!("{long}-0"), id);
        let other = deleted_name(&format!("{long}-9999"), id);
        assert_ne!(first, other);
        for name in [&first, &other, &deleted_name("t-0", id)] {
            assert!(name.len() <= FOLDER_NAME_BYTES_MAX);
            assert_eq!(Folder::of(name), Folder::Deleted);
        }
    }
}
