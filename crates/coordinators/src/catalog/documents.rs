//! Documents: what services above the broker keep of their own, each a text of bytes under a space and a name, with a version.
//!
//! Why it exists: a service (SQS, SNS) has things of its own that must be as durable as topics are; the catalog keeps them without knowing
//! what they say.
//! Who changes one says which version it has seen, so that no change is lost between two who read the same.
//! Never: looks into the bytes.

use super::record::Record;
use super::{CatalogView, Decision, Ledger};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// The most bytes of one document.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
/// The most bytes of a document's name, and of its space's.
pub const DOCUMENT_NAME_BYTES_MAX: usize = 1024;
/// The most documents that there may be.
pub const DOCUMENTS_MAX: usize = 100_000;
/// The most bytes of all documents together, names included.
pub const DOCUMENTS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A document as the catalog keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What kind of thing it is about.
    pub space: String,
    /// Which one; unique in its space.
    pub name: String,
    /// Which state of it this is: no two states of one name share it, whatever lies between them.
    pub version: u64,
    /// What it says.
    pub bytes: Bytes,
}

impl Document {
    /// How much it counts for in [`DOCUMENTS_BYTES_MAX`].
    pub(super) fn size(&self) -> usize {
        self.space.len() + self.name.len() + self.bytes.len()
    }
}

/// The documents of one space, by name.
pub type DocumentsOfSpace = Arc<BTreeMap<String, Arc<Document>>>;

/// A document asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutDocument {
    /// Its space.
    pub space: String,
    /// Its name.
    pub name: String,
    /// The version that it replaces; none if there is to be no such document yet.
    pub expected: Option<u64>,
    /// The version of a new document, drawn by the caller: a document that was deleted and made anew is another one.
    pub drawn: u64,
    /// What it says.
    pub bytes: Bytes,
}

/// Why a document is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DocumentError {
    /// Somebody else has changed it since, or made it, or deleted it.
    #[error(
        "document '{name}' in {space} is not as it was ({}); read it again",
        shown_versions(*expected, *found)
    )]
    Changed {
        /// The space.
        space: String,
        /// The name.
        name: String,
        /// The version expected.
        expected: Option<u64>,
        /// The version found; none if there is no such document.
        found: Option<u64>,
    },
    /// A name is empty or too long.
    #[error("a document's {what} has {length} bytes; it must have 1 to {DOCUMENT_NAME_BYTES_MAX}")]
    BadName {
        /// `name` or `space`.
        what: &'static str,
        /// Its length.
        length: usize,
    },
    /// It is too large.
    #[error(
        "document '{name}' in {space} has {length} bytes; at most {DOCUMENT_BYTES_MAX} are kept"
    )]
    TooLarge {
        /// The space.
        space: String,
        /// The name.
        name: String,
        /// How large it is.
        length: usize,
    },
    /// There is no room for it.
    #[error("there are {given} {what}, and at most {max} are kept; delete some first")]
    Full {
        /// What is counted.
        what: &'static str,
        /// How many there would be.
        given: usize,
        /// How many may be.
        max: usize,
    },
}

/// Decides on a document: a new one, or the next state of one that is there.
pub fn put_document(
    ledger: &Ledger,
    put: &PutDocument,
) -> Decision<Result<Arc<Document>, DocumentError>> {
    let reply = check_put(ledger.view(), put).map(Arc::new);
    let records = reply
        .iter()
        .map(|document| Record::Document(Document::clone(document)));
    Decision {
        records: records.collect(),
        reply,
    }
}

/// Decides on the end of a document.
pub fn delete_document(
    ledger: &Ledger,
    (space, name): (&str, &str),
    expected: u64,
) -> Decision<Result<(), DocumentError>> {
    let reply = check_version(ledger.view(), (space, name), Some(expected));
    let record = Record::DocumentDeleted {
        space: space.to_owned(),
        name: name.to_owned(),
    };
    Decision {
        records: reply.iter().map(|_| record.clone()).collect(),
        reply: reply.map(|_| ()),
    }
}

fn check_put(view: &CatalogView, put: &PutDocument) -> Result<Document, DocumentError> {
    for (what, text) in [("space", &put.space), ("name", &put.name)] {
        let length = text.len();
        if !(1..=DOCUMENT_NAME_BYTES_MAX).contains(&length) {
            return Err(DocumentError::BadName { what, length });
        }
    }
    let (space, name) = (put.space.clone(), put.name.clone());
    let length = put.bytes.len();
    if length > DOCUMENT_BYTES_MAX {
        return Err(DocumentError::TooLarge {
            space,
            name,
            length,
        });
    }
    let before = check_version(view, (&space, &name), put.expected)?;
    let document = Document {
        space,
        name,
        version: before.map_or(put.drawn, |before| before.version.wrapping_add(1)),
        bytes: put.bytes.clone(),
    };
    check_room(view, before, &document)?;
    Ok(document)
}

fn check_version<'a>(
    view: &'a CatalogView,
    (space, name): (&str, &str),
    expected: Option<u64>,
) -> Result<Option<&'a Arc<Document>>, DocumentError> {
    let document = view.document(space, name);
    let found = document.map(|document| document.version);
    match found == expected {
        true => Ok(document),
        false => Err(DocumentError::Changed {
            space: space.to_owned(),
            name: name.to_owned(),
            expected,
            found,
        }),
    }
}

/// A change that takes no more room than before is always taken: who is at the limit may still make things smaller.
fn check_room(
    view: &CatalogView,
    before: Option<&Arc<Document>>,
    document: &Document,
) -> Result<(), DocumentError> {
    let count = view.document_count() + usize::from(before.is_none());
    if before.is_none() && count > DOCUMENTS_MAX {
        return Err(DocumentError::Full {
            what: "documents",
            given: count,
            max: DOCUMENTS_MAX,
        });
    }
    let freed = before.map_or(0, |before| before.size());
    let bytes = view.document_bytes() - freed + document.size();
    if document.size() > freed && bytes > DOCUMENTS_BYTES_MAX {
        return Err(DocumentError::Full {
            what: "bytes of documents",
            given: bytes,
            max: DOCUMENTS_BYTES_MAX,
        });
    }
    Ok(())
}

fn shown_versions(expected: Option<u64>, found: Option<u64>) -> String {
    let shown = |version: Option<u64>| {
        version.map_or_else(
            || "none".to_owned(),
            |version| format!("version {version:x}"),
        )
    };
    format!("expected {}, found {}", shown(expected), shown(found))
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
