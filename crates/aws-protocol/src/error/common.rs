//! Errors that come from the layer below both services: routing, parameters, the form of a request.

use super::AwsError;

impl AwsError {
    /// No action of this name, asked for in JSON.
    pub fn unknown_operation() -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#UnknownOperationException",
            "InvalidAction",
            400,
            "",
        )
    }

    /// No action of this name in this version, asked for in a form.
    pub fn invalid_action(action: &str, version: &str) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#UnknownOperationException",
            "InvalidAction",
            400,
            format!(
                "There is no action {} in version {} of this service.",
                shortened(action),
                shortened(version)
            ),
        )
    }

    /// A form without an action.
    pub fn missing_action() -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#UnknownOperationException",
            "MissingAction",
            400,
            "The request must name an action in the parameter Action, or in the header X-Amz-Target.",
        )
    }

    /// A required parameter is not there.
    pub fn missing_parameter(name: &str) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#MissingRequiredParameterException",
            "MissingParameter",
            400,
            format!("The request must contain the parameter {name}."),
        )
    }

    /// A parameter's value is wrong, as SQS says it. SNS has `invalid_parameter`.
    pub fn invalid_parameter_value(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#InvalidParameterValueException",
            "InvalidParameterValue",
            400,
            message,
        )
    }

    /// A parameter's value is wrong, with the words that SQS has for the most cases.
    pub fn invalid_value_for(name: &str, value: &str, reason: &str) -> AwsError {
        AwsError::invalid_parameter_value(format!(
            "Value {} for parameter {name} is invalid. Reason: {reason}",
            shortened(value)
        ))
    }

    /// Two parameters exclude each other.
    pub fn invalid_parameter_combination(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#InvalidParameterCombinationException",
            "InvalidParameterCombination",
            400,
            message,
        )
    }

    /// The body is not the JSON that the action takes.
    pub fn serialization(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#SerializationException",
            "MalformedInput",
            400,
            message,
        )
    }

    /// The form can't be read.
    pub fn malformed_query_string(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#MalformedHttpRequestException",
            "MalformedQueryString",
            400,
            message,
        )
    }

    /// The request is larger than any that an action takes.
    pub fn request_entity_too_large(limit_bytes: usize) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#RequestEntityTooLargeException",
            "RequestEntityTooLarge",
            413,
            format!("The request is longer than {limit_bytes} bytes."),
        )
    }

    /// The caller may not do this.
    pub fn access_denied(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#AccessDeniedException",
            "AccessDenied",
            403,
            message,
        )
    }

    /// Something broke here.
    pub fn internal_failure(message: impl Into<String>) -> AwsError {
        AwsError::receiver(
            "com.amazon.coral.service#InternalFailure",
            "InternalFailure",
            500,
            message,
        )
    }

    /// Not now: the caller should come again.
    pub fn service_unavailable(message: impl Into<String>) -> AwsError {
        AwsError::receiver(
            "com.amazon.coral.service#ServiceUnavailableException",
            "ServiceUnavailable",
            503,
            message,
        )
    }
}

/// What a stranger sent, short enough to be sent back.
pub(crate) fn shortened(value: &str) -> String {
    const LENGTH_MAX: usize = 200;
    if value.len() <= LENGTH_MAX {
        return value.to_owned();
    }
    value
        .chars()
        .take(LENGTH_MAX)
        .chain("...".chars())
        .collect()
}
