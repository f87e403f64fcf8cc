//! What may become of a record.

/// Where a record stands, with Kafka's numbers. Records that somebody holds are not logged: they are `Available` to the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryState {
    /// Nobody holds it.
    #[default]
    Available,
    /// Somebody did what it asked for.
    Acknowledged,
    /// Nobody will get it any more: rejected, delivered too often, or never a record.
    Archived,
}

impl DeliveryState {
    /// Kafka's number for it.
    pub fn code(self) -> i8 {
        match self {
            Self::Available => 0,
            Self::Acknowledged => 2,
            Self::Archived => 4,
        }
    }

    /// The state with a number of Kafka's. Whatever was on its way counts as where it came from: a holder (1) holds nothing
    /// after a restart, and a dead letter that was being written (3) is written again.
    pub fn from_code(code: i8) -> Option<Self> {
        match code {
            0 | 1 | 3 => Some(Self::Available),
            2 => Some(Self::Acknowledged),
            4 => Some(Self::Archived),
            _ => None,
        }
    }

    /// Whether the queue has done with it.
    pub fn is_terminal(self) -> bool {
        self != Self::Available
    }
}

/// A record's state and how often it was delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordState {
    /// Its state.
    pub state: DeliveryState,
    /// How often it was handed out, as far as the log knows.
    pub delivery_count: i16,
}

impl RecordState {
    /// Never handed out: what every record is of which nothing else is known.
    pub const FRESH: Self = Self {
        state: DeliveryState::Available,
        delivery_count: 0,
    };
}
