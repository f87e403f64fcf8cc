//! Documents: what services above the broker keep in the catalog, each answered once it is durable.
//!
//! Why it exists: what SQS and SNS know of their queues, topics and subscriptions must survive as the topics themselves do.
//! Never: looks into them.
//! In -> out: a space, a name and the version that was seen -> the document's next state.

use crate::broker::Broker;
use crate::catalog_runtime::CatalogUnavailable;
use bytes::Bytes;
use fanlog_coordinators::catalog::{self, Document, DocumentError, PutDocument};
use std::sync::Arc;
use thiserror::Error;

/// Why a document is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DocumentsError {
    /// It is not as it was seen, or there is no room for it.
    #[error(transparent)]
    Refused(#[from] DocumentError),
    /// The catalog cannot be changed.
    #[error(transparent)]
    Unavailable(#[from] CatalogUnavailable),
}

/// The documents of the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'a>(&'a Arc<Broker>);

impl Broker {
    /// The documents of the catalog.
    pub fn documents(self: &Arc<Self>) -> Documents<'_> {
        Documents(self)
    }
}

impl Documents<'_> {
    /// The document of that name, as far as it is durable.
    pub fn get(&self, space: &str, name: &str) -> Option<Arc<Document>> {
        self.0.catalog_view().document(space, name).cloned()
    }

    /// The documents of a space, by name, as far as they are durable.
    pub fn list(&self, space: &str) -> Vec<Arc<Document>> {
        self.0.catalog_view().documents(space).cloned().collect()
    }

    /// Makes a document, or changes one whose version is still the one expected.
    ///
    /// # Errors
    /// It is not as it was seen, there is no room for it, or the catalog cannot be changed.
    pub async fn put(
        &self,
        space: &str,
        name: &str,
        expected: Option<u64>,
        bytes: Bytes,
    ) -> Result<Arc<Document>, DocumentsError> {
        let put = PutDocument {
            space: space.to_owned(),
            name: name.to_owned(),
            expected,
            drawn: self.draw_version(),
            bytes,
        };
        let changed = self
            .0
            .change_catalog(move |ledger, _| catalog::put_document(ledger, &put));
        Ok(changed.await??)
    }

    /// Deletes a document whose version is still the one expected.
    ///
    /// # Errors
    /// It is not as it was seen, or the catalog cannot be changed.
    pub async fn delete(
        &self,
        space: &str,
        name: &str,
        expected: u64,
    ) -> Result<(), DocumentsError> {
        let (space, name) = (space.to_owned(), name.to_owned());
        let changed = self.0.change_catalog(move |ledger, _| {
            catalog::delete_document(ledger, (&space, &name), expected)
        });
        Ok(changed.await??)
    }

    /// Where the versions of a new document begin: far enough from where they end that none is met twice.
    fn draw_version(&self) -> u64 {
        let mut draw = [0; 8];
        self.0.environment().entropy.fill(&mut draw);
        u64::from_be_bytes(draw) >> 1
    }
}
