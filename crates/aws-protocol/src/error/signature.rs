//! Errors of Signature Version 4, the same for both services.

use super::AwsError;

impl AwsError {
    /// There is no signature, but one is wanted.
    pub fn missing_authentication_token() -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#MissingAuthenticationTokenException",
            "MissingAuthenticationToken",
            403,
            "The request is not signed, and this broker asks for a signature.",
        )
    }

    /// The signature lacks a part, or a part has the wrong form.
    pub fn incomplete_signature(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#IncompleteSignatureException",
            "IncompleteSignature",
            400,
            message,
        )
    }

    /// Nobody has this access key.
    pub fn invalid_client_token_id() -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#UnrecognizedClientException",
            "InvalidClientTokenId",
            403,
            "This broker knows no such access key id.",
        )
    }

    /// The signature is another than the one that the secret key makes.
    pub fn signature_does_not_match(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#InvalidSignatureException",
            "SignatureDoesNotMatch",
            403,
            message,
        )
    }

    /// The signature's time is too far from ours, or a presigned address is no longer valid.
    pub fn request_expired(message: impl Into<String>) -> AwsError {
        AwsError::sender(
            "com.amazon.coral.service#RequestExpiredException",
            "RequestExpired",
            400,
            message,
        )
    }
}
