//! The names by which a group knows its members. Both are cheap to clone.

use std::fmt;
use std::sync::Arc;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self(name.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

name!(
    /// The name that the coordinator gave to one life of a member (`member.id`); empty means "none yet".
    MemberId
);
name!(
    /// The name that an operator gave to a static member (`group.instance.id`): it outlives the process.
    InstanceId
);

impl MemberId {
    /// A client that has no member id sends an empty one.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}
