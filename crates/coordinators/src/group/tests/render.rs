//! Answers and records in the words of the transcripts.

use crate::group::*;
use uuid::Uuid;

pub(super) struct Names;

impl Names {
    /// `a#1` stands for the member id of client `a` that was drawn first.
    pub(super) fn read(word: &str) -> MemberId {
        match word.split_once('#') {
            Some((prefix, number)) => {
                let id = Uuid::from_u128(number.parse().unwrap());
                MemberId(format!("{prefix}-{id}").into())
            }
            None => MemberId::from(word),
        }
    }

    fn id(id: &MemberId) -> String {
        let parts = id
            .as_str()
            .split_at_checked(id.as_str().len().wrapping_sub(37));
        match parts.map(|(prefix, uuid)| (prefix, Uuid::parse_str(&uuid[1..]))) {
            Some((prefix, Ok(uuid))) => format!("{prefix}#{}", uuid.as_u128()),
            _ => format!("'{id}'"),
        }
    }

    pub(super) fn answer(answer: &Answer) -> String {
        let or_error = |result: Result<String, &GroupError>| result.unwrap_or_else(Self::error);
        match answer {
            Answer::Join(result) => or_error(result.as_ref().map(Self::joined)),
            Answer::Sync(result) => or_error(result.as_ref().map(|synced| {
                format!("assigned [{}]", String::from_utf8_lossy(&synced.assignment))
            })),
            Answer::Heartbeat(result) => or_error(result.as_ref().map(|()| "alive".to_owned())),
            Answer::Leave(result) => or_error(result.as_ref().map(|left| {
                let left = left.iter().map(|left| {
                    let result = left
                        .result
                        .as_ref()
                        .map_or_else(Self::error, |()| "gone".into());
                    format!("{} {result}", Self::id(&left.member_id))
                });
                left.collect::<Vec<_>>().join(", ")
            })),
            Answer::CommitOffsets(result) | Answer::DeleteOffsets(result) => {
                or_error(result.as_ref().map(|outcomes| Self::outcomes(outcomes)))
            }
            Answer::FetchOffsets(Err(error)) => Self::error(error),
            Answer::FetchOffsets(Ok(fetched)) => {
                let fetched = fetched.iter().map(|f| match &f.committed {
                    Some(c) if c.metadata.is_empty() => format!("{}={}", f.partition, c.offset),
                    Some(c) => format!("{}={} '{}'", f.partition, c.offset, c.metadata),
                    None => format!("{} none", f.partition),
                });
                format!("[{}]", fetched.collect::<Vec<_>>().join(", "))
            }
            Answer::OffsetsEnded => "ended".to_owned(),
            Answer::DeleteGroup(result) => or_error(result.as_ref().map(|()| "deleted".to_owned())),
            Answer::Describe(result) => or_error(result.as_ref().map(Self::described)),
            Answer::ConsumerHeartbeat(_)
            | Answer::DescribeConsumer(_)
            | Answer::ShareHeartbeat(_)
            | Answer::DescribeShare(_)
            | Answer::ShareStatesChanged(_) => format!("{answer:?}"),
            Answer::List(groups) => {
                let groups = groups.iter().map(|g| {
                    format!(
                        "{} {} '{}' {}",
                        g.group, g.state, g.protocol_type, g.group_type
                    )
                });
                format!("[{}]", groups.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn joined(joined: &Joined) -> String {
        let mut text = format!(
            "joined as {}, generation {}, {}, led by {}",
            Self::id(&joined.member_id),
            joined.generation,
            joined.protocol.as_deref().unwrap_or("-"),
            Self::id(&joined.leader)
        );
        if !joined.members.is_empty() {
            let members = joined.members.iter().map(|m| Self::id(&m.member_id));
            text += &format!(", members {}", members.collect::<Vec<_>>().join(" "));
        }
        if joined.skip_assignment {
            text += ", skip assignment";
        }
        text
    }

    fn outcomes(outcomes: &[OffsetOutcome]) -> String {
        let outcomes = outcomes.iter().map(|o| {
            let result = match &o.result {
                Ok(()) => "done",
                Err(OffsetError::MetadataTooLarge { .. }) => "metadata too large",
                Err(OffsetError::MemoryFull { .. }) => "no memory",
                Err(OffsetError::SubscribedTopic { .. }) => "subscribed",
            };
            format!("{}-{} {result}", o.topic, o.partition)
        });
        outcomes.collect::<Vec<_>>().join(", ")
    }

    fn described(group: &DescribedGroup) -> String {
        let members = group.members.iter().map(|m| {
            let instance = m
                .instance_id
                .as_ref()
                .map_or(String::new(), |i| format!("@{i}"));
            let assignment = String::from_utf8_lossy(&m.assignment);
            let metadata = if m.metadata.is_empty() {
                ""
            } else {
                " with metadata"
            };
            format!(
                "{}{instance}=[{assignment}]{metadata}",
                Self::id(&m.member_id)
            )
        });
        let members = members.collect::<Vec<_>>().join(" ");
        format!(
            "{} '{}' '{}' {members}",
            group.state, group.protocol_type, group.protocol
        )
        .trim_end()
        .to_owned()
    }

    fn error(error: &GroupError) -> String {
        match error {
            GroupError::InvalidGroupId => "invalid group id".into(),
            GroupError::GroupNotFound { .. } => "group not found".into(),
            GroupError::UnknownMember { .. } => "unknown member".into(),
            GroupError::FencedInstance { .. } => "fenced".into(),
            GroupError::IllegalGeneration { current, .. } => {
                format!("illegal generation, it is {current}")
            }
            GroupError::RebalanceInProgress { .. } => "rebalancing".into(),
            GroupError::InconsistentProtocol { .. } => "inconsistent protocol".into(),
            GroupError::MemberIdRequired { member } => format!("take id {}", Self::id(member)),
            GroupError::InvalidSessionTimeout { .. } => "invalid session timeout".into(),
            GroupError::GroupFull { max, .. } => format!("full at {max}"),
            GroupError::MemoryFull { .. } => "no memory".into(),
            GroupError::GroupNotEmpty { state, .. } => format!("not empty but {state}"),
            GroupError::NameTooLong { what, .. } => format!("{what} too long"),
            GroupError::ProtocolsTooLarge { .. } => "protocols too large".into(),
            GroupError::GroupTooLarge { .. } => "group too large".into(),
            other => format!("{other:?}"),
        }
    }

    pub(super) fn record(record: &GroupRecord) -> String {
        match record {
            GroupRecord::Group { metadata, .. } => {
                let members = metadata.members.iter().map(|m| {
                    let assignment = String::from_utf8_lossy(&m.assignment);
                    format!("{}=[{assignment}]", Self::id(&m.member_id))
                });
                let members = members.collect::<Vec<_>>().join(" ");
                let protocol = metadata.protocol.as_deref().unwrap_or("-");
                format!(
                    "group: generation {}, {protocol}, {members}",
                    metadata.generation
                )
                .trim_end_matches(", ")
                .to_owned()
            }
            GroupRecord::GroupDeleted { .. } => "group deleted".into(),
            GroupRecord::Offset {
                partition,
                committed,
                ..
            } => {
                format!("offset: {partition}={}", committed.offset)
            }
            GroupRecord::OffsetDeleted { partition, .. } => format!("offset: {partition} deleted"),
            GroupRecord::Consumer { record, .. } => format!("{record:?}"),
            GroupRecord::Share { record, .. } => format!("{record:?}"),
        }
    }
}
