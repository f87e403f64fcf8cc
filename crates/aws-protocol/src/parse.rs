//! From an HTTP request to a call: which service, which protocol, which action, and its fields.
//!
//! JSON is told by `X-Amz-Target`; all else is a form, in the body, in the query part of the address, or in both. A form at
//! the path of a queue's address is about that queue. Two actions have one name in both services: the version tells, then the
//! scope of the signature, then what the form names.

use crate::action::Read;
use crate::error::AwsError;
use crate::fields::{FieldError, Fields, Form, object_of};
use crate::head::RequestHead;
use crate::limits::{QUERY_BYTES_MAX, REQUEST_BYTES_MAX};
use crate::sigv4::{self, Authentication};
use crate::wire::{Protocol, Service, Wire};
use crate::{sns, sqs};

/// A request of either service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// For SQS.
    Sqs(sqs::Request),
    /// For SNS.
    Sns(sns::Request),
}

impl Call {
    /// The action's name.
    pub fn action(&self) -> &'static str {
        match self {
            Call::Sqs(request) => request.action(),
            Call::Sns(request) => request.action(),
        }
    }
}

/// A request that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// What is asked for.
    pub call: Call,
    /// How to answer it.
    pub wire: Wire,
    /// Who says to have sent it, if it is signed; `sigv4::verify` tells if that is true.
    pub authentication: Option<Authentication>,
}

/// A request that was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong.
    pub error: AwsError,
    /// How to say so.
    pub wire: Wire,
}

/// Reads a request.
pub fn parse(head: &RequestHead<'_>, body: &[u8]) -> Result<Parsed, Refused> {
    let authentication = sigv4::authentication(head);
    let claimed = match &authentication {
        Ok(Some(authentication)) => Some(authentication.scope.service.as_str()),
        Ok(None) | Err(_) => None,
    };
    let (call, wire) = match head.header("x-amz-target") {
        Some(target) => from_json(target, body)?,
        None => from_form(head, body, claimed)?,
    };
    let authentication = authentication.map_err(|error| Refused { error, wire })?;
    Ok(Parsed {
        call,
        wire,
        authentication,
    })
}

/// How a request that was not read is to be answered, for those who must refuse it before.
pub fn wire_of(head: &RequestHead<'_>) -> Wire {
    let is_json = head.header("x-amz-target").is_some();
    let authentication = sigv4::authentication(head);
    let scope = authentication.ok().flatten().map(|found| found.scope);
    let is_sns = !is_json && scope.is_some_and(|scope| scope.service == "sns");
    Wire {
        service: if is_sns { Service::Sns } else { Service::Sqs },
        protocol: if is_json {
            Protocol::Json
        } else {
            Protocol::Query
        },
    }
}

fn from_json(target: &str, body: &[u8]) -> Result<(Call, Wire), Refused> {
    let wire = Wire {
        service: Service::Sqs,
        protocol: Protocol::Json,
    };
    let refused = |error| Refused { error, wire };
    check_size(body.len(), REQUEST_BYTES_MAX).map_err(refused)?;
    let action = target
        .split_once('.')
        .filter(|(prefix, _)| *prefix == sqs::TARGET)
        .map(|(_, action)| action)
        .filter(|action| sqs::ACTIONS.contains(action))
        .ok_or_else(|| refused(AwsError::unknown_operation()))?;
    let object = object_of(body).map_err(|said| refused(AwsError::serialization(said)))?;
    let read = sqs::Request::decode(action, &mut Fields::Json(object));
    let read = read.ok_or_else(|| refused(AwsError::unknown_operation()))?;
    let request = settled(read, wire).map_err(refused)?;
    Ok((Call::Sqs(request), wire))
}

fn from_form(
    head: &RequestHead<'_>,
    body: &[u8],
    claimed: Option<&str>,
) -> Result<(Call, Wire), Refused> {
    let query = Protocol::Query;
    let of = |service| Wire {
        service,
        protocol: query,
    };
    let unknown = wire_of(head);
    let form = form_of(head, body).map_err(|error| Refused {
        error,
        wire: unknown,
    })?;
    let Some(action) = form.get("Action").map(str::to_owned) else {
        return Err(Refused {
            error: AwsError::missing_action(),
            wire: unknown,
        });
    };
    let version = form.get("Version").unwrap_or_default().to_owned();
    let service = service_of(&form, &action, &version, claimed);
    let wire = of(service);
    let refused = |error| Refused { error, wire };
    let mut fields = Fields::Form(form);
    let call = match service {
        Service::Sqs => sqs::Request::decode(&action, &mut fields)
            .map(|read| settled(read, wire).map(Call::Sqs)),
        Service::Sns => sns::Request::decode(&action, &mut fields)
            .map(|read| settled(read, wire).map(Call::Sns)),
    };
    let call = call.ok_or_else(|| refused(AwsError::invalid_action(&action, &version)))?;
    Ok((call.map_err(refused)?, wire))
}

fn check_size(bytes: usize, limit: usize) -> Result<(), AwsError> {
    if bytes > limit {
        return Err(AwsError::request_entity_too_large(limit));
    }
    Ok(())
}

/// The fields of the address, of its path and of the body.
fn form_of(head: &RequestHead<'_>, body: &[u8]) -> Result<Form, AwsError> {
    check_size(body.len(), REQUEST_BYTES_MAX)?;
    check_size(head.query.len(), QUERY_BYTES_MAX)?;
    let mut form = Form::default();
    for part in [head.query.as_bytes(), body] {
        form.add(part).map_err(AwsError::malformed_query_string)?;
    }
    if head.path.len() > 1 {
        form.set_default("QueueUrl", head.path);
    }
    Ok(form)
}

fn service_of(form: &Form, action: &str, version: &str, claimed: Option<&str>) -> Service {
    match (version, claimed) {
        (sns::VERSION, _) => return Service::Sns,
        (sqs::VERSION, _) => return Service::Sqs,
        (_, Some("sns")) => return Service::Sns,
        (_, Some("sqs")) => return Service::Sqs,
        _ => {}
    }
    let is_of_both = sqs::ACTIONS.contains(&action) && sns::ACTIONS.contains(&action);
    let is_sns = if is_of_both {
        form.get("TopicArn").is_some()
    } else {
        sns::ACTIONS.contains(&action)
    };
    if is_sns { Service::Sns } else { Service::Sqs }
}

/// What is wrong with a field, in the words of service and protocol.
fn settled<T>(read: Read<T>, wire: Wire) -> Result<T, AwsError> {
    read.map_err(|error| match (&error, wire.protocol) {
        (FieldError::Missing(name), _) => AwsError::missing_parameter_of(wire.service, name),
        (_, Protocol::Json) => AwsError::serialization(error.to_string()),
        (_, Protocol::Query) => AwsError::invalid_parameter_of(wire.service, error.to_string()),
    })?
}
