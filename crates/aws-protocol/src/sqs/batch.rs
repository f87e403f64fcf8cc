//! What batches have in common.

use crate::action::Encode;
use crate::error::{AwsError, BatchFailure};
use crate::fields::{FieldError, Fields, ListName};
use crate::writer::{ListNames, Writer, optional_text};

/// The answer to a batch that deletes or changes: ids alone. XML names the entries after the action, which
/// `Response` knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchResponse {
    /// Which action's answer it is: XML calls its entries by it.
    pub kind: BatchKind,
    /// The ids of the entries that succeeded.
    pub successful: Vec<String>,
    /// The entries that did not.
    pub failed: Vec<BatchFailure>,
}

/// Which batch a `BatchResponse` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchKind {
    /// DeleteMessageBatch.
    #[default]
    Delete,
    /// ChangeMessageVisibilityBatch.
    ChangeVisibility,
}

impl Encode for BatchResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let element = match self.kind {
            BatchKind::Delete => "DeleteMessageBatchResultEntry",
            BatchKind::ChangeVisibility => "ChangeMessageVisibilityBatchResultEntry",
        };
        let names = ListNames {
            json: "Successful",
            around: None,
            element,
        };
        out.structures(names, self.successful.len(), &mut |index, out| {
            out.text("Id", &self.successful[index]);
        });
        failures(out, &self.failed);
    }
}

/// `Failed` of every batch.
pub(super) fn failures(out: &mut dyn Writer, failed: &[BatchFailure]) {
    let names = ListNames {
        json: "Failed",
        around: None,
        element: "BatchResultErrorEntry",
    };
    out.structures(names, failed.len(), &mut |index, out| {
        let failure = &failed[index];
        out.text("Id", &failure.id);
        out.boolean("SenderFault", failure.is_sender_fault);
        out.text("Code", &failure.code);
        optional_text(out, "Message", failure.message.as_deref());
    });
}

/// Reads the entries of a batch; `form` is what a form calls an entry.
pub(super) fn entries<T>(
    fields: &mut Fields,
    form: &'static [&'static str],
    mut decode: impl FnMut(&mut Fields) -> Result<T, FieldError>,
) -> Result<Vec<T>, FieldError> {
    let name = ListName {
        json: "Entries",
        form,
    };
    let entries = match (fields.structures(name)?, &*fields) {
        (Some(entries), _) => entries,
        (None, Fields::Json(_)) => return Err(FieldError::Missing("Entries")),
        // A form has no way to say "empty" that all SDKs share.
        (None, Fields::Form(_)) => Vec::new(),
    };
    entries
        .into_iter()
        .map(|mut entry| decode(&mut entry))
        .collect()
}

/// Checks what every batch must hold to: some entries, not too many, with ids that are fine and differ.
pub(super) fn check<'a>(
    entry: &str,
    ids: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> Result<(), AwsError> {
    if ids.len() == 0 {
        return Err(AwsError::empty_batch_request(entry));
    }
    if !ids.clone().all(crate::checks::is_batch_id) {
        return Err(AwsError::invalid_batch_entry_id());
    }
    // The order of the two checks below shows where a batch breaks both; the count comes first at Amazon.
    if ids.len() > crate::limits::BATCH_ENTRIES_MAX {
        return Err(AwsError::too_many_entries_in_batch_request(ids.len()));
    }
    match crate::checks::repeated_id(ids) {
        Some(id) => Err(AwsError::batch_entry_ids_not_distinct(id)),
        None => Ok(()),
    }
}
