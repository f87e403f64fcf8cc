//! The directory tree: names as a caller sees them, as the disk has them, and the changes between the two.

use crate::entropy::SplitMix;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// A file or directory, by whatever name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(u64);

const ROOT: NodeId = NodeId(0);

type Entries = BTreeMap<OsString, NodeId>;

#[derive(Clone, Debug, Default)]
struct Directory {
    live: Entries,
    durable: Entries,
}

/// A name: the directory that holds it, and its last part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    dir: NodeId,
    name: OsString,
}

#[derive(Clone, Debug)]
enum Change {
    Add(Place, NodeId),
    Remove(Place),
    Move(Place, Place, NodeId),
}

impl Change {
    fn touches(&self, dir: NodeId) -> bool {
        match self {
            Self::Add(at, _) | Self::Remove(at) => at.dir == dir,
            Self::Move(from, to, _) => from.dir == dir || to.dir == dir,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Names {
    dirs: BTreeMap<NodeId, Directory>,
    pending: Vec<Change>,
    next: NodeId,
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            dirs: BTreeMap::from([(ROOT, Directory::default())]),
            pending: Vec::new(),
            next: NodeId(1),
        }
    }

    pub(super) fn is_dir(&self, node: NodeId) -> bool {
        self.dirs.contains_key(&node)
    }

    pub(super) fn is_empty_dir(&self, node: NodeId) -> bool {
        self.dirs.get(&node).is_some_and(|dir| dir.live.is_empty())
    }

    /// What has this path.
    pub(super) fn find(&self, path: &Path) -> io::Result<NodeId> {
        let mut node = ROOT;
        for name in parts(path)? {
            let dir = self.dirs.get(&node).ok_or(io::ErrorKind::NotADirectory)?;
            node = *dir.live.get(name).ok_or(io::ErrorKind::NotFound)?;
        }
        Ok(node)
    }

    /// Where this path would stand: its directory must exist.
    pub(super) fn place(&self, path: &Path) -> io::Result<Place> {
        let mut parts = parts(path)?;
        let name = parts.pop().ok_or(io::ErrorKind::InvalidInput)?;
        let dir = self.find(&parts.iter().collect::<PathBuf>())?;
        if !self.is_dir(dir) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Place {
            dir,
            name: name.to_owned(),
        })
    }

    pub(super) fn at(&self, place: &Place) -> Option<NodeId> {
        self.dirs[&place.dir].live.get(&place.name).copied()
    }

    pub(super) fn entries(&self, dir: NodeId) -> impl Iterator<Item = (&OsString, NodeId)> {
        let entries = self.dirs.get(&dir).map(|dir| &dir.live);
        entries
            .into_iter()
            .flatten()
            .map(|(name, node)| (name, *node))
    }

    pub(super) fn add(&mut self, place: Place, is_dir: bool) -> NodeId {
        let node = self.next;
        self.next.0 += 1;
        if is_dir {
            self.dirs.insert(node, Directory::default());
        }
        self.record(Change::Add(place, node));
        node
    }

    pub(super) fn remove(&mut self, place: Place) {
        self.record(Change::Remove(place));
    }

    pub(super) fn rename(&mut self, from: Place, to: Place, node: NodeId) {
        self.record(Change::Move(from, to, node));
    }

    fn record(&mut self, change: Change) {
        self.apply(&change, |dir| &mut dir.live);
        self.pending.push(change);
    }

    fn apply(&mut self, change: &Change, side: fn(&mut Directory) -> &mut Entries) {
        if let Change::Move(_, _, node) = change {
            // Wherever it is by now: changes before this one may not have survived, and one thing has one name.
            for dir in self.dirs.values_mut() {
                side(dir).retain(|_, held| held != node);
            }
        }
        let (Change::Add(place, _) | Change::Remove(place) | Change::Move(_, place, _)) = change;
        // The directory itself may not have survived.
        let Some(names) = self.dirs.get_mut(&place.dir).map(side) else {
            return;
        };
        match change {
            Change::Add(_, node) | Change::Move(_, _, node) => {
                names.insert(place.name.clone(), *node);
            }
            Change::Remove(_) => {
                names.remove(&place.name);
            }
        }
    }

    /// Makes the changes to a directory durable.
    pub(super) fn sync(&mut self, dir: NodeId) {
        let pending = std::mem::take(&mut self.pending);
        for change in pending {
            if change.touches(dir) {
                self.apply(&change, |dir| &mut dir.durable);
                if let Change::Move(_, _, node) = change {
                    self.supersede(node);
                }
            } else {
                self.pending.push(change);
            }
        }
    }

    /// A rename became durable before earlier changes to other directories did: those must not bring the node back to
    /// a name that it no longer has.
    fn supersede(&mut self, moved: NodeId) {
        let earlier = std::mem::take(&mut self.pending);
        let kept = earlier.into_iter().filter_map(|change| match change {
            Change::Add(_, node) if node == moved => None,
            // What it replaced there is still gone.
            Change::Move(_, to, node) if node == moved => Some(Change::Remove(to)),
            other => Some(other),
        });
        self.pending = kept.collect();
    }

    /// Leaves what a power cut leaves: all durable names, and any subset of the changes since.
    pub(super) fn crash(&mut self, chance: &mut SplitMix) {
        let pending = std::mem::take(&mut self.pending);
        let style = chance.below(4);
        let prefix = chance.below(pending.len() + 1);
        for (index, change) in pending.iter().enumerate() {
            let survives = match style {
                0 => false,
                1 => true,
                2 => index < prefix,
                _ => chance.below(2) == 0,
            };
            if survives {
                self.apply(change, |dir| &mut dir.durable);
            }
        }
        for dir in self.dirs.values_mut() {
            dir.live.clone_from(&dir.durable);
        }
        let reachable: BTreeMap<NodeId, PathBuf> = self.paths(|dir| &dir.live);
        self.dirs
            .retain(|id, _| *id == ROOT || reachable.contains_key(id));
    }

    pub(super) fn live_paths(&self) -> BTreeMap<NodeId, PathBuf> {
        self.paths(|dir| &dir.live)
    }

    pub(super) fn durable_paths(&self) -> BTreeMap<NodeId, PathBuf> {
        self.paths(|dir| &dir.durable)
    }

    /// Everything that can be reached from the root.
    fn paths(&self, side: fn(&Directory) -> &Entries) -> BTreeMap<NodeId, PathBuf> {
        let mut found = BTreeMap::new();
        let mut open = vec![(ROOT, PathBuf::new())];
        while let Some((id, path)) = open.pop() {
            let Some(dir) = self.dirs.get(&id) else {
                continue;
            };
            for (name, node) in side(dir) {
                // A subset of renames may leave directories that hold each other; each is walked once.
                if found.insert(*node, path.join(name)).is_none() {
                    open.push((*node, path.join(name)));
                }
            }
        }
        found
    }
}

fn parts(path: &Path) -> io::Result<Vec<&OsStr>> {
    let normal = |part| match part {
        Component::Normal(name) => Some(Ok(name)),
        Component::CurDir => None,
        _ => {
            let message = format!("{} leads out of the data directory", path.display());
            Some(Err(io::Error::new(io::ErrorKind::InvalidInput, message)))
        }
    };
    path.components().filter_map(normal).collect()
}
