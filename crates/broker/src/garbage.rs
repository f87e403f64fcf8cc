//! Removes what a crash left of deleted topics, at a start.
//!
//! Why it exists: a deletion is durable before its folders go; a crash in between leaves folders nobody reads.
//! Never: removes a folder whose `partition.metadata` does not name a topic that the catalog has deleted. What is not
//! understood stays, and is named in the log.
//! Read next: `folders.rs`.

use crate::folders::{Folder, folder_names, mark_deleted, remove_deleted, topic_id_in};
use fanlog_coordinators::catalog::{CATALOG_TOPIC, CatalogView};
use fanlog_environment::Disk;
use fanlog_model::{PartitionIndex, TopicId, TopicName};
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// Removes the folders of deleted topics. One that cannot be removed stays for the next start.
pub(crate) fn collect_garbage(
    disk: &dyn Disk,
    catalog: &CatalogView,
    deleted: &HashSet<TopicId>,
) -> io::Result<()> {
    for name in folder_names(disk)? {
        let id = topic_id_in(disk, &name).ok().flatten();
        let deleted_id = id.filter(|id| deleted.contains(id));
        let removed = match (Folder::of(&name), deleted_id) {
            (Folder::Partition(topic, index), _) if is_known(catalog, &topic, index) => continue,
            (Folder::Partition(..), Some(id)) => {
                mark_deleted(disk, &name, id).and_then(|marked| remove_deleted(disk, &marked))
            }
            (Folder::Deleted, Some(_)) => remove_deleted(disk, &name),
            (Folder::Deleted, None) if is_empty(disk, &name) => remove_deleted(disk, &name),
            _ => {
                tracing::warn!(folder = %name, "a folder that the catalog does not know is left alone");
                continue;
            }
        };
        match removed {
            Ok(()) => tracing::info!(folder = %name, "removed what was left of a deleted topic"),
            Err(error) => tracing::warn!(folder = %name, %error, "a deleted topic's folder stays"),
        }
    }
    Ok(())
}

fn is_known(catalog: &CatalogView, topic: &TopicName, index: PartitionIndex) -> bool {
    if topic.as_str() == CATALOG_TOPIC {
        return index == PartitionIndex(0);
    }
    catalog
        .topic(topic)
        .is_some_and(|topic| index.0 < topic.partitions)
}

fn is_empty(disk: &dyn Disk, name: &str) -> bool {
    disk.read_dir(Path::new(name))
        .is_ok_and(|entries| entries.is_empty())
}
