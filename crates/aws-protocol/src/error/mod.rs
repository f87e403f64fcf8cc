//! What SQS and SNS answer when they refuse.
//!
//! Why it exists: SDKs decide by codes (retry, raise which exception), and SQS has two codes for one mistake: the shape's name
//! in JSON, and the code of the query protocol, which SDKs of both generations read.
//! Owns: nothing.   Read next: `sqs.rs`, `sns.rs`, `common.rs`, where the constructors are.

mod common;
mod signature;
mod sns;
mod sqs;

use crate::wire::Service;

/// An error as it goes over the wire. The constructors know its codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{query_code}: {message}")]
pub struct AwsError {
    /// The `__type` of a JSON answer, with its namespace.
    pub json_type: &'static str,
    /// The `Code` of an XML answer, and of `x-amzn-query-error`.
    pub query_code: &'static str,
    /// The status of HTTP.
    pub status: u16,
    /// True if the sender made the mistake.
    pub is_sender: bool,
    /// What is wrong, for people; nothing where the service has no words for it.
    pub message: String,
}

impl AwsError {
    /// A mistake of the sender's.
    fn sender(
        json_type: &'static str,
        query_code: &'static str,
        status: u16,
        message: impl Into<String>,
    ) -> AwsError {
        AwsError {
            json_type,
            query_code,
            status,
            is_sender: true,
            message: message.into(),
        }
    }

    /// A fault of the server's.
    fn receiver(
        json_type: &'static str,
        query_code: &'static str,
        status: u16,
        message: impl Into<String>,
    ) -> AwsError {
        AwsError {
            is_sender: false,
            ..AwsError::sender(json_type, query_code, status, message)
        }
    }

    /// The shape's name: the `__type` without its namespace.
    pub fn shape(&self) -> &'static str {
        self.json_type.rsplit('#').next().unwrap_or(self.json_type)
    }

    /// This error as the fate of one entry of a batch.
    pub fn of_entry(self, id: &str) -> BatchFailure {
        BatchFailure {
            id: id.to_owned(),
            is_sender_fault: self.is_sender,
            code: self.query_code.to_owned(),
            message: Some(self.message).filter(|message| !message.is_empty()),
        }
    }

    /// A required parameter is not there: both services say it in their own way.
    pub fn missing_parameter_of(service: Service, name: &str) -> AwsError {
        match service {
            Service::Sqs => AwsError::missing_parameter(name),
            Service::Sns => AwsError::invalid_parameter(format!(
                "Invalid parameter: {name} Reason: no value for required parameter"
            )),
        }
    }

    /// A parameter is wrong: both services say it in their own way.
    pub fn invalid_parameter_of(service: Service, message: impl Into<String>) -> AwsError {
        match service {
            Service::Sqs => AwsError::invalid_parameter_value(message),
            Service::Sns => AwsError::invalid_parameter(message),
        }
    }
}

/// One entry of a batch that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchFailure {
    /// The entry's id.
    pub id: String,
    /// True if the sender made the mistake.
    pub is_sender_fault: bool,
    /// The query protocol's code.
    pub code: String,
    /// What is wrong.
    pub message: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::AwsError;

    #[test]
    fn an_error_knows_its_shape_and_becomes_the_fate_of_an_entry() {
        let error = AwsError::receipt_handle_is_invalid();
        assert_eq!(error.shape(), "ReceiptHandleIsInvalid");
        let failure = error.of_entry("a");
        assert_eq!(failure.code, "ReceiptHandleIsInvalid");
        assert!(failure.is_sender_fault && failure.message.is_some());
    }
}
