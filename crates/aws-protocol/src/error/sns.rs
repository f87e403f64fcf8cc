//! The errors of SNS's actions, one constructor each. SNS speaks XML alone; the JSON type is there for one shape of all errors.

use super::AwsError;

macro_rules! sender_errors {
    ($( $(#[$doc:meta])* $name:ident: $shape:literal, $code:literal, $status:literal; )*) => {
        impl AwsError {
            $(
                $(#[$doc])*
                pub fn $name(message: impl Into<String>) -> AwsError {
                    AwsError::sender(concat!("com.amazonaws.sns#", $shape), $code, $status, message)
                }
            )*
        }
    };
}

sender_errors! {
    /// A parameter is wrong.
    invalid_parameter: "InvalidParameterException", "InvalidParameter", 400;
    /// A message attribute's value is wrong.
    parameter_value_invalid: "InvalidParameterValueException", "ParameterValueInvalid", 400;
    /// What the request names is not there.
    not_found: "NotFoundException", "NotFound", 404;
    /// What is to be tagged is not there.
    resource_not_found: "ResourceNotFoundException", "ResourceNotFound", 404;
    /// The caller may not do this.
    authorization_error: "AuthorizationErrorException", "AuthorizationError", 403;
    /// There are as many topics as there may be.
    topic_limit_exceeded: "TopicLimitExceededException", "TopicLimitExceeded", 403;
    /// There are as many subscriptions as there may be.
    subscription_limit_exceeded: "SubscriptionLimitExceededException", "SubscriptionLimitExceeded", 403;
    /// There are as many filter policies as there may be.
    filter_policy_limit_exceeded: "FilterPolicyLimitExceededException", "FilterPolicyLimitExceeded", 403;
    /// There are as many tags as there may be.
    tag_limit_exceeded: "TagLimitExceededException", "TagLimitExceeded", 400;
    /// Two requests change one thing at once.
    concurrent_access: "ConcurrentAccessException", "ConcurrentAccess", 400;
    /// Too many requests at once.
    throttled: "ThrottledException", "Throttled", 429;
}

impl AwsError {
    /// There is no such topic.
    pub fn topic_does_not_exist() -> AwsError {
        AwsError::not_found("Topic does not exist")
    }

    /// There is no such subscription.
    pub fn subscription_does_not_exist() -> AwsError {
        AwsError::not_found("Subscription does not exist")
    }

    /// Something broke here.
    pub fn internal_error(message: impl Into<String>) -> AwsError {
        AwsError::receiver(
            "com.amazonaws.sns#InternalErrorException",
            "InternalError",
            500,
            message,
        )
    }

    /// A batch without entries.
    pub fn sns_empty_batch_request() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sns#EmptyBatchRequestException",
            "EmptyBatchRequest",
            400,
            "The batch has no entries.",
        )
    }

    /// A batch with more entries than a batch may have.
    pub fn sns_too_many_entries_in_batch_request() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sns#TooManyEntriesInBatchRequestException",
            "TooManyEntriesInBatchRequest",
            400,
            "The batch request contains more entries than permissible.",
        )
    }

    /// Two entries of a batch have one id.
    pub fn sns_batch_entry_ids_not_distinct() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sns#BatchEntryIdsNotDistinctException",
            "BatchEntryIdsNotDistinct",
            400,
            "Two or more batch entries in the request have the same Id.",
        )
    }

    /// An entry's id has characters or a length that no id may have.
    pub fn sns_invalid_batch_entry_id() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sns#InvalidBatchEntryIdException",
            "InvalidBatchEntryId",
            400,
            "The Id of an entry has 1 to 80 characters, and no control characters.",
        )
    }

    /// The messages of a batch are too large together.
    pub fn sns_batch_request_too_long() -> AwsError {
        AwsError::sender(
            "com.amazonaws.sns#BatchRequestTooLongException",
            "BatchRequestTooLong",
            400,
            "The messages of the batch are too long together.",
        )
    }
}
