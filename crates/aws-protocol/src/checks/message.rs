//! Rules of whole messages.

use super::{attributes, group_like_id, is_message_text, system_attributes};
use crate::error::AwsError;
use crate::limits::{DELAY_SECONDS_MAX, NOTIFICATION_BYTES_MAX, SUBJECT_LENGTH_MAX};
use crate::sns::Notification;
use crate::sqs::OutgoingMessage;
use crate::wire::Service;

/// Checks a message for any queue; `limit_bytes` is the queue's `MaximumMessageSize`.
pub fn message(message: &OutgoingMessage, limit_bytes: usize) -> Result<(), AwsError> {
    if message.body.is_empty() {
        return Err(AwsError::missing_parameter("MessageBody"));
    }
    if let Some(delay) = message.delay_seconds
        && !(0..=DELAY_SECONDS_MAX).contains(&delay)
    {
        let reason = format!("DelaySeconds must be >= 0 and <= {DELAY_SECONDS_MAX}.");
        return Err(AwsError::invalid_value_for(
            "DelaySeconds",
            &delay.to_string(),
            &reason,
        ));
    }
    attributes(Service::Sqs, &message.attributes)?;
    system_attributes(&message.system_attributes)?;
    if message.size_bytes() > limit_bytes {
        return Err(AwsError::message_too_long(limit_bytes));
    }
    if !is_message_text(&message.body) {
        return Err(AwsError::invalid_message_contents());
    }
    if let Some(id) = &message.group_id {
        group_like_id("MessageGroupId", id)?;
    }
    match &message.deduplication_id {
        Some(id) => group_like_id("MessageDeduplicationId", id),
        None => Ok(()),
    }
}

/// Checks what FIFO queues ask of a message besides.
pub fn fifo_message(
    message: &OutgoingMessage,
    has_content_based_deduplication: bool,
) -> Result<(), AwsError> {
    if message.group_id.is_none() {
        return Err(AwsError::missing_parameter("MessageGroupId"));
    }
    if message.deduplication_id.is_none() && !has_content_based_deduplication {
        return Err(AwsError::invalid_parameter_value(
            "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
        ));
    }
    match message.delay_seconds {
        // The queue's own delay is the only one; zero says nothing.
        Some(delay) if delay != 0 => Err(AwsError::invalid_value_for(
            "DelaySeconds",
            &delay.to_string(),
            "The request include parameter that is not valid for this queue type.",
        )),
        _ => Ok(()),
    }
}

/// Checks a notification for any topic.
pub fn notification(notification: &Notification) -> Result<(), AwsError> {
    if notification.message.is_empty() {
        return Err(AwsError::invalid_parameter(
            "Invalid parameter: Empty message",
        ));
    }
    if let Some(subject) = &notification.subject {
        check_subject(subject)?;
    }
    attributes(Service::Sns, &notification.attributes)?;
    if notification.size_bytes() > NOTIFICATION_BYTES_MAX {
        return Err(AwsError::invalid_parameter(
            "Invalid parameter: Message too long",
        ));
    }
    let ids = [
        ("MessageGroupId", &notification.group_id),
        ("MessageDeduplicationId", &notification.deduplication_id),
    ];
    for (name, id) in ids {
        if let Some(id) = id {
            group_like_id(name, id)
                .map_err(|_| AwsError::invalid_parameter(format!("Invalid parameter: {name}")))?;
        }
    }
    Ok(())
}

fn check_subject(subject: &str) -> Result<(), AwsError> {
    if subject.chars().count() > SUBJECT_LENGTH_MAX {
        return Err(AwsError::invalid_parameter(
            "Subject must be less than 100 characters",
        ));
    }
    let is_fine = !subject.is_empty() && !subject.chars().any(char::is_control);
    if !is_fine {
        return Err(AwsError::invalid_parameter("Invalid parameter: Subject"));
    }
    Ok(())
}

/// Checks what FIFO topics ask of a notification besides; alone and in a batch it is said in other words.
pub fn fifo_notification(
    notification: &Notification,
    has_content_based_deduplication: bool,
    is_in_batch: bool,
) -> Result<(), AwsError> {
    if notification.group_id.is_none() {
        return Err(AwsError::invalid_parameter(if is_in_batch {
            "Invalid parameter: The MessageGroupId parameter is required for FIFO topics"
        } else {
            "Invalid parameter: The request must contain the parameter MessageGroupId"
        }));
    }
    if notification.deduplication_id.is_none() && !has_content_based_deduplication {
        return Err(AwsError::invalid_parameter(
            "Invalid parameter: The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{fifo_message, message};
    use crate::limits::MESSAGE_BYTES_MAX;
    use crate::sqs::OutgoingMessage;

    fn of_body(body: &str) -> OutgoingMessage {
        OutgoingMessage {
            body: body.to_owned(),
            ..OutgoingMessage::default()
        }
    }

    #[test]
    fn bodies_are_checked() {
        assert!(message(&of_body("a\t\n\r ä\u{1f980}"), MESSAGE_BYTES_MAX).is_ok());
        let code =
            |body: &str, limit| message(&of_body(body), limit).map_err(|error| error.query_code);
        assert_eq!(code("", 10), Err("MissingParameter"));
        assert_eq!(code("\0", 10), Err("InvalidMessageContents"));
        assert_eq!(code("\u{ffff}", 10), Err("InvalidMessageContents"));
        assert_eq!(code("12345678901", 10), Err("InvalidParameterValue"));
    }

    #[test]
    fn a_fifo_queue_wants_a_group_and_a_way_to_tell_messages_apart() {
        let mut given = of_body("a");
        let code = |given: &OutgoingMessage, by_content| {
            fifo_message(given, by_content).map_err(|error| error.query_code)
        };
        assert_eq!(code(&given, true), Err("MissingParameter"));
        given.group_id = Some("g".to_owned());
        assert_eq!(code(&given, true), Ok(()));
        assert_eq!(code(&given, false), Err("InvalidParameterValue"));
        given.deduplication_id = Some("d".to_owned());
        given.delay_seconds = Some(5);
        assert_eq!(code(&given, false), Err("InvalidParameterValue"));
        given.delay_seconds = Some(0);
        assert_eq!(code(&given, false), Ok(()));
    }
}
