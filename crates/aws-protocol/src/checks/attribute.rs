//! Rules of message attributes, of both services.

use std::collections::BTreeMap;

use crate::attribute::{AttributeValue, MessageAttribute};
use crate::error::AwsError;
use crate::limits::{ATTRIBUTE_NAME_LENGTH_MAX, DATA_TYPE_LENGTH_MAX, MESSAGE_ATTRIBUTES_MAX};
use crate::wire::Service;

/// True if a message may have this text: what XML 1.0 can hold.
pub fn is_message_text(text: &str) -> bool {
    let is_fine = |character| {
        matches!(
            character,
            '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..
        )
    };
    text.chars().all(is_fine)
}

/// Checks the sender's attributes, in the order of their names.
pub fn attributes(
    service: Service,
    attributes: &BTreeMap<String, MessageAttribute>,
) -> Result<(), AwsError> {
    let refused = |message: String| AwsError::invalid_parameter_of(service, message);
    // SNS takes as many as the message's size allows; only raw delivery to SQS has the limit.
    if service == Service::Sqs && attributes.len() > MESSAGE_ATTRIBUTES_MAX {
        return Err(refused(format!(
            "Number of message attributes [{}] exceeds the allowed maximum [{MESSAGE_ATTRIBUTES_MAX}].",
            attributes.len()
        )));
    }
    for (name, attribute) in attributes {
        check_name(name).map_err(refused)?;
        check_type(service, name, attribute).map_err(refused)?;
        check_value(service, name, attribute).map_err(refused)?;
    }
    Ok(())
}

/// Checks the service's attributes: there is one, of text.
pub fn system_attributes(attributes: &BTreeMap<String, MessageAttribute>) -> Result<(), AwsError> {
    for (name, attribute) in attributes {
        if name != "AWSTraceHeader" {
            return Err(AwsError::invalid_parameter_value(format!(
                "Message system attribute name '{name}' is invalid: AWSTraceHeader is the only one."
            )));
        }
        if attribute.data_type != "String" {
            return Err(AwsError::invalid_parameter_value(format!(
                "The message system attribute '{name}' must be of type String."
            )));
        }
        check_value(Service::Sqs, name, attribute).map_err(AwsError::invalid_parameter_value)?;
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.is_empty() || !name.bytes().all(is_letter) {
        return Err(format!(
            "The message attribute name '{name}' is invalid. Attribute name can contain A-Z, a-z, 0-9, underscore (_), hyphen (-), and period (.) characters."
        ));
    }
    if name.len() > ATTRIBUTE_NAME_LENGTH_MAX {
        return Err(format!(
            "The message attribute name is longer than {ATTRIBUTE_NAME_LENGTH_MAX} characters."
        ));
    }
    let lower = name.to_ascii_lowercase();
    let is_reserved = lower.starts_with("aws.") || lower.starts_with("amazon.");
    if is_reserved || name.starts_with('.') || name.ends_with('.') || name.contains("..") {
        return Err(format!(
            "The message attribute name '{name}' is invalid: it may not begin with AWS. or Amazon., begin or end with a period, or have two in a row."
        ));
    }
    Ok(())
}

fn check_type(service: Service, name: &str, attribute: &MessageAttribute) -> Result<(), String> {
    let data_type = attribute.data_type.as_str();
    if data_type.is_empty() {
        return Err(format!(
            "The message attribute '{name}' must contain non-empty message attribute type."
        ));
    }
    let is_known = matches!(attribute.base_type(), "String" | "Number" | "Binary");
    let is_short = data_type.len() <= DATA_TYPE_LENGTH_MAX;
    if is_known && is_short && is_message_text(data_type) {
        return Ok(());
    }
    Err(match service {
        Service::Sqs => format!(
            "The message attribute '{name}' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String."
        ),
        Service::Sns => format!(
            "Invalid parameter: the type of message attribute '{name}' must begin with Binary, Number or String"
        ),
    })
}

fn check_value(service: Service, name: &str, attribute: &MessageAttribute) -> Result<(), String> {
    let base = attribute.base_type();
    let is_binary = matches!(attribute.value, AttributeValue::Binary(_));
    let is_of_type = is_binary == (base == "Binary");
    if attribute.value.bytes().is_empty() || !is_of_type {
        return Err(format!(
            "The message attribute '{name}' must contain non-empty message attribute value for message attribute type '{base}'."
        ));
    }
    let AttributeValue::String(text) = &attribute.value else {
        return Ok(());
    };
    if !is_message_text(text) {
        return Err(format!(
            "The message attribute '{name}' has a character that no message may have."
        ));
    }
    if base == "Number" && !is_number(text) {
        return Err(match service {
            Service::Sqs => {
                format!("The value of message attribute '{name}' can't be cast to a number.")
            }
            Service::Sns => format!(
                "An error occurred (ParameterValueInvalid) when calling the Publish operation: Could not cast message attribute '{name}' value to number."
            ),
        });
    }
    Ok(())
}

/// A decimal number, with sign, point and exponent if wanted.
fn is_number(text: &str) -> bool {
    let is_made_of =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    text.bytes().all(is_made_of) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{attributes, system_attributes};
    use crate::attribute::{AttributeValue, MessageAttribute};
    use crate::wire::Service;

    fn check(name: &str, data_type: &str, value: AttributeValue) -> Result<(), String> {
        let attribute = MessageAttribute {
            data_type: data_type.to_owned(),
            value,
        };
        let given = BTreeMap::from([(name.to_owned(), attribute)]);
        attributes(Service::Sqs, &given).map_err(|error| error.message)
    }

    fn text(value: &str) -> AttributeValue {
        AttributeValue::String(value.to_owned())
    }

    #[test]
    fn names_types_and_values_are_checked() {
        assert_eq!(check("a.b-c_9", "String.label", text("x")), Ok(()));
        assert_eq!(check("n", "Number.java.lang.Long", text("-1.5e3")), Ok(()));
        assert_eq!(
            check("b", "Binary", AttributeValue::Binary(vec![0])),
            Ok(())
        );
        for name in ["", "ö", "a b", "AWS.x", "amazon.x", ".a", "a.", "a..b"] {
            assert!(check(name, "String", text("x")).is_err(), "{name}");
        }
        for data_type in ["", "InvalidNumber", "string", ".String", "Stringy"] {
            assert!(check("a", data_type, text("1")).is_err(), "{data_type}");
        }
        assert!(check("a", "String", text("")).is_err());
        assert!(check("a", "String", AttributeValue::Missing).is_err());
        assert!(check("a", "String", AttributeValue::Binary(vec![1])).is_err());
        assert!(check("a", "Binary", text("x")).is_err());
        assert!(check("a", "Number", text("149314735990a")).is_err());
        assert!(check("a", "Number", text("inf")).is_err());
        assert!(check("a", "String", text("\u{1}")).is_err());
    }

    #[test]
    fn ten_attributes_and_one_system_attribute() {
        let many = |count: usize| -> BTreeMap<String, MessageAttribute> {
            let names = (0..count).map(|n| format!("a{n}"));
            names
                .map(|name| (name, MessageAttribute::string("x")))
                .collect()
        };
        assert!(attributes(Service::Sqs, &many(10)).is_ok());
        assert!(attributes(Service::Sqs, &many(11)).is_err());
        assert!(attributes(Service::Sns, &many(11)).is_ok());
        assert!(system_attributes(&many(1)).is_err());
        let trace = (
            "AWSTraceHeader".to_owned(),
            MessageAttribute::string("Root=1"),
        );
        assert!(system_attributes(&BTreeMap::from([trace])).is_ok());
    }
}
