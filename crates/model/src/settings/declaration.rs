//! The shape of a setting's declaration.

/// A setting's type, as DescribeConfigs reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingType {
    /// `true` or `false`.
    Boolean,
    /// A text.
    String,
    /// A 32-bit number.
    Int,
    /// A 16-bit number.
    Short,
    /// A 64-bit number.
    Long,
    /// A number with a fraction.
    Double,
    /// Texts separated by commas.
    List,
    /// The name of a Java class; nothing here can load one.
    Class,
    /// A secret: never shown.
    Password,
}

impl SettingType {
    /// Its number in DescribeConfigs responses.
    pub const fn code(self) -> i8 {
        match self {
            Self::Boolean => 1,
            Self::String => 2,
            Self::Int => 3,
            Self::Short => 4,
            Self::Long => 5,
            Self::Double => 6,
            Self::List => 7,
            Self::Class => 8,
            Self::Password => 9,
        }
    }

    /// Its name after the article that it takes.
    pub(super) fn with_article(self) -> String {
        let article = if self == Self::Int { "an" } else { "a" };
        format!("{article} {}", self.name())
    }

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::Int => "int",
            Self::Short => "short",
            Self::Long => "long",
            Self::Double => "double",
            Self::List => "list",
            Self::Class => "class",
            Self::Password => "password",
        }
    }
}

/// Which values of its type a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Valid {
    /// All.
    Any,
    /// Numbers from this up.
    AtLeast(i64),
    /// Numbers from the first to the second, both included.
    Between(i64, i64),
    /// -1 or a number from the first to the second.
    MinusOneOr(i64, i64),
    /// Fractions from the first to the second, both included.
    Fraction(f64, f64),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// Any of these texts, in any order.
    AnyOf(&'static [&'static str]),
    /// `*`, nothing, or pairs `partition:broker`.
    ThrottledReplicas,
    /// `sync`, `os`, or `interval:` and a number of milliseconds.
    Durability,
    /// -1 for no limit, or a positive number.
    UnlimitedOrPositive,
    /// `latest`, `earliest`, or `by_duration:` and an ISO 8601 duration.
    OffsetReset,
    /// A duration as people write it (`30s`), from the first to the second number of milliseconds.
    Duration(u64, u64),
    /// `none`, `fixed:<duration>[:<jitter>]` or `exponential:<first>:<max>[:<jitter>]`.
    Backoff,
    /// Nothing, `none`, or a topic's name.
    DeadLetter,
    /// Nothing, or pairs `partition:offset`.
    Until,
    /// Twelve digits.
    AwsAccount,
    /// Nothing, or pairs `id:secret`.
    AwsCredentials,
    /// Small letters, digits and dashes.
    AwsRegion,
}

/// How a setting may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Only in the start-up file or flags.
    ReadOnly,
    /// While running, for one broker by its number.
    PerBroker,
    /// While running, for one broker or for all.
    ClusterWide,
    /// While running, per topic.
    PerTopic,
    /// While running, per group.
    PerGroup,
    /// While running, per queue.
    PerQueue,
}

/// What a setting does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// What Kafka does with it.
    Honoured,
    /// Any legal value is kept and returned, and changes nothing, for this reason.
    WithoutEffect(&'static str),
    /// Only the default is taken, for this reason.
    Refused(&'static str),
}

/// The declaration of one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Kafka's name, or ours: a broker's begins with `fanlog.` or `aws.`.
    pub name: &'static str,
    /// Its type.
    pub kind: SettingType,
    /// The value in force when none is given; some settings have none.
    pub default: Option<&'static str>,
    /// Which values it takes.
    pub valid: Valid,
    /// How it may be changed.
    pub update: Update,
    /// What it does here.
    pub effect: Effect,
    /// One line for people.
    pub doc: &'static str,
    /// Broker settings that stand in when a topic has no value, the first given one winning.
    pub synonyms: &'static [&'static str],
}

impl Setting {
    /// Whether its value is never shown.
    pub fn is_sensitive(&self) -> bool {
        self.kind == SettingType::Password
    }

    /// Whether it can't be changed while the broker runs.
    pub fn is_read_only(&self) -> bool {
        self.update == Update::ReadOnly
    }
}

/// A table of declarations, a row each:
/// `"name", Type, default, valid, update, effect, [synonyms], "doc";`
macro_rules! settings {
    ($($name:literal, $kind:ident, $default:expr, $valid:expr, $update:ident, $effect:expr, [$($synonym:literal),*], $doc:literal;)*) => {
        &[$(Setting {
            name: $name,
            kind: SettingType::$kind,
            default: $default,
            valid: $valid,
            update: Update::$update,
            effect: $effect,
            synonyms: &[$($synonym),*],
            doc: $doc,
        },)*]
    };
}
pub(super) use settings;
