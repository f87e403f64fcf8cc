//! What every action has, and the lists of them.
//!
//! Why it exists: the enum of requests, that of answers and the names on the wire are one list, so that none can lack an action.

use crate::error::AwsError;
use crate::fields::{FieldError, Fields};
use crate::writer::Writer;

/// A request that can be read.
pub(crate) trait Action: Sized {
    /// Takes the request out of its fields: what must be there is, and has the right kind.
    fn decode(fields: &mut Fields) -> Result<Self, FieldError>;

    /// Refuses what is wrong whatever queues and topics there are.
    fn check(&self) -> Result<(), AwsError> {
        Ok(())
    }
}

/// An answer that can be written.
pub(crate) trait Encode {
    /// Writes the fields.
    fn encode(&self, out: &mut dyn Writer);
}

/// What reading a request gives: it may not be that action's at all, or be wrong.
pub(crate) type Read<T> = Result<Result<T, AwsError>, FieldError>;

/// Lists a service's actions: `Name;` where nothing is answered, `Name -> Answer;` where something is.
macro_rules! actions {
    ($( $(#[$doc:meta])* $name:ident $(-> $answer:ident)?; )*) => {
        /// A request of this service.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Request {
            $( $(#[$doc])* $name($name), )*
        }

        /// An answer of this service.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Response {
            $( $(#[$doc])* $name $(($answer))?, )*
        }

        /// The name of every action.
        pub const ACTIONS: &[&str] = &[$( stringify!($name) ),*];

        impl Request {
            /// The action's name.
            pub fn action(&self) -> &'static str {
                match self {
                    $( Request::$name(_) => stringify!($name), )*
                }
            }

            /// Reads an action's request; nothing if there is no such action.
            pub(crate) fn decode(action: &str, fields: &mut Fields) -> Option<Read<Request>> {
                match action {
                    $( stringify!($name) => Some($name::decode(fields).map(|request| {
                        request.check().map(|()| Request::$name(request))
                    })), )*
                    _ => None,
                }
            }
        }

        impl Response {
            /// The action's name.
            pub fn action(&self) -> &'static str {
                match self {
                    $( Response::$name { .. } => stringify!($name), )*
                }
            }

            /// Writes the answer's fields.
            pub(crate) fn encode(&self, out: &mut dyn Writer) {
                match self {
                    $( $( Response::$name(answer) => <$answer as Encode>::encode(answer, out), )? )*
                    _ => {}
                }
            }

            /// True if the action answers anything.
            pub(crate) fn has_result(&self) -> bool {
                match self {
                    $( $( Response::$name(answer) => {
                        let _: &$answer = answer;
                        true
                    } )? )*
                    _ => false,
                }
            }
        }
    };
}

pub(crate) use actions;
