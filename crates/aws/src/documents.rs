//! What SQS and SNS remember of a thing, as JSON in a document of the catalog.
//!
//! Why it exists: a request needs a queue's attributes as numbers, and reading JSON for each would cost more than the message.
//! Owns: nothing that is not in the catalog: what was read once is used as long as the catalog has the very same document.

use bytes::Bytes;
use fanlog_aws_protocol::AwsError;
use fanlog_broker::{Broker, Document, DocumentError, DocumentsError};
use parking_lot::RwLock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::Arc;

/// A value as the catalog has it.
#[derive(Debug)]
pub(crate) struct Stored<T> {
    document: Arc<Document>,
    /// What it says.
    pub(crate) value: T,
}

impl<T> Stored<T> {
    /// The name of its document.
    pub(crate) fn name(&self) -> &str {
        &self.document.name
    }
}

/// The documents of one space, which all say a `T`.
#[derive(Debug)]
pub(crate) struct Documents<T> {
    space: &'static str,
    broker: Arc<Broker>,
    read: RwLock<HashMap<String, Arc<Stored<T>>>>,
}

impl<T: Serialize + DeserializeOwned> Documents<T> {
    /// The documents of a space.
    pub(crate) fn new(broker: Arc<Broker>, space: &'static str) -> Self {
        Self {
            space,
            broker,
            read: RwLock::default(),
        }
    }

    /// The value of that name.
    ///
    /// # Errors
    /// The document can't be read: a newer program wrote it.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Arc<Stored<T>>>, AwsError> {
        let document = self.broker.documents().get(self.space, name);
        document.map(|document| self.stored(document)).transpose()
    }

    /// All values, by name.
    ///
    /// # Errors
    /// As of `get`.
    pub(crate) fn list(&self) -> Result<Vec<Arc<Stored<T>>>, AwsError> {
        let documents = self.broker.documents().list(self.space);
        documents
            .into_iter()
            .map(|document| self.stored(document))
            .collect()
    }

    /// Makes a value; durable when this answers.
    ///
    /// # Errors
    /// There is one of that name, there is no room, or the catalog cannot be changed.
    pub(crate) async fn create(&self, name: &str, value: &T) -> Result<Arc<Stored<T>>, AwsError> {
        self.write(name, None, value).await
    }

    /// Puts another value where one is; durable when this answers.
    ///
    /// # Errors
    /// The value is not the one that was seen, there is no room, or the catalog cannot be changed.
    pub(crate) async fn replace(
        &self,
        seen: &Stored<T>,
        value: &T,
    ) -> Result<Arc<Stored<T>>, AwsError> {
        self.write(seen.name(), Some(seen.document.version), value)
            .await
    }

    /// Deletes a value; durable when this answers.
    ///
    /// # Errors
    /// As of `replace`.
    pub(crate) async fn delete(&self, seen: &Stored<T>) -> Result<(), AwsError> {
        let version = seen.document.version;
        let documents = self.broker.documents();
        let deleted = documents.delete(self.space, seen.name(), version).await;
        self.read.write().remove(seen.name());
        deleted.map_err(refused)
    }

    async fn write(
        &self,
        name: &str,
        expected: Option<u64>,
        value: &T,
    ) -> Result<Arc<Stored<T>>, AwsError> {
        let text = serde_json::to_vec(value);
        let text = text.map_err(|error| AwsError::internal_failure(error.to_string()))?;
        let documents = self.broker.documents();
        let written = documents.put(self.space, name, expected, Bytes::from(text));
        self.stored(written.await.map_err(refused)?)
    }

    fn stored(&self, document: Arc<Document>) -> Result<Arc<Stored<T>>, AwsError> {
        if let Some(read) = self.read.read().get(&document.name)
            && Arc::ptr_eq(&read.document, &document)
        {
            return Ok(read.clone());
        }
        let value = serde_json::from_slice(&document.bytes).map_err(|error| {
            let Document { space, name, .. } = &*document;
            let message = format!(
                "{space} '{name}' can't be read: {error}; a newer version of fanlog wrote it"
            );
            AwsError::internal_failure(message)
        })?;
        let name = document.name.clone();
        let stored = Arc::new(Stored { document, value });
        self.read.write().insert(name, stored.clone());
        Ok(stored)
    }
}

fn refused(error: DocumentsError) -> AwsError {
    match error {
        DocumentsError::Refused(DocumentError::Full { .. }) => {
            AwsError::over_limit(error.to_string())
        }
        DocumentsError::Refused(DocumentError::TooLarge { .. }) => {
            AwsError::invalid_parameter_value(error.to_string())
        }
        // Somebody else came first, or the disk does not answer: who tries again finds out.
        DocumentsError::Refused(_) | DocumentsError::Unavailable(_) => {
            AwsError::service_unavailable(error.to_string())
        }
    }
}
