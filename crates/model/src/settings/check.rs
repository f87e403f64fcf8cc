//! All values of one resource, checked before they are kept.

use super::declaration::{Setting, Update};
use super::layers::{BrokerLayers, group_bounds};
use super::parse::SettingError;
use super::{Overrides, broker_settings, group_settings, queue_settings, topic_settings};

/// The longest value kept, in bytes.
pub const VALUE_BYTES_MAX: usize = 32_767;
/// The most bytes that the names and values of one resource may have together.
pub const OVERRIDES_BYTES_MAX: usize = 128 * 1024;

/// The canonical form of a value for a topic setting.
///
/// # Errors
/// When there is no such setting, or it doesn't take the value.
pub fn check_topic_setting(name: &str, value: &str) -> Result<String, SettingError> {
    let setting = declared("topic", topic_settings().get(name), name)?;
    canonical(setting, value)
}

/// The rules between the settings of one topic, given as canonical values.
///
/// # Errors
/// Says which two settings contradict each other.
pub fn check_topic(overrides: &Overrides) -> Result<(), SettingError> {
    check_size(overrides)?;
    let number = |name: &str| overrides.get(name).and_then(|v| v.parse::<i64>().ok());
    let lags = (
        number("min.compaction.lag.ms"),
        number("max.compaction.lag.ms"),
    );
    if let (Some(min), Some(max)) = lags
        && min > max
    {
        return Err(SettingError::Above {
            name: "min.compaction.lag.ms",
            value: min.to_string(),
            above: "max.compaction.lag.ms",
            bound: max.to_string(),
        });
    }
    Ok(())
}

/// The canonical form of a value for a setting of a group.
///
/// # Errors
/// When there is no such setting, or it doesn't take the value.
pub fn check_group_setting(name: &str, value: &str) -> Result<String, SettingError> {
    let setting = declared("group", group_settings().get(name), name)?;
    canonical(setting, value)
}

/// The bounds that the broker sets for the settings of a group, given as canonical values.
///
/// # Errors
/// Says which setting is out of bounds.
pub fn check_group(overrides: &Overrides, layers: &BrokerLayers<'_>) -> Result<(), SettingError> {
    check_size(overrides)?;
    for (name, value) in overrides {
        let Some((setting, (least, most))) = group_settings()
            .get(name.as_str())
            .zip(group_bounds(name, layers))
        else {
            continue;
        };
        let number: Option<i64> = value.parse().ok();
        if number.is_some_and(|number| number < least || number > most) {
            return Err(SettingError::OutOfBounds {
                name: setting.name,
                value: value.clone(),
                least,
                most,
            });
        }
    }
    Ok(())
}

/// The canonical form of a value for a setting of a queue.
///
/// # Errors
/// When there is no such setting, or it doesn't take the value.
pub fn check_queue_setting(name: &str, value: &str) -> Result<String, SettingError> {
    let setting = declared("queue", queue_settings().get(name), name)?;
    canonical(setting, value)
}

/// The canonical form of a broker setting's value given while running, for one broker or for all.
///
/// # Errors
/// When there is no such setting, it can't change while running, or it doesn't take the value.
pub fn check_broker_dynamic(
    name: &str,
    value: &str,
    is_for_all: bool,
) -> Result<String, SettingError> {
    let setting = declared("broker", broker_settings().get(name), name)?;
    check_dynamic(setting, is_for_all)?;
    canonical(setting, value)
}

fn check_dynamic(setting: &Setting, is_for_all: bool) -> Result<(), SettingError> {
    let name = setting.name;
    match setting.update {
        Update::ReadOnly => Err(SettingError::NotDynamic { name }),
        Update::PerBroker if is_for_all => Err(SettingError::PerBrokerOnly { name }),
        Update::PerBroker
        | Update::ClusterWide
        | Update::PerTopic
        | Update::PerGroup
        | Update::PerQueue => Ok(()),
    }
}

/// The canonical form of what the start-up file and flags give.
///
/// # Errors
/// Every setting that is unknown or doesn't take its value, so that a file is put right in one go.
pub fn check_statics<'a>(
    given: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Overrides, Vec<SettingError>> {
    let mut statics = Overrides::new();
    let mut errors = Vec::new();
    for (name, value) in given {
        let checked = declared("broker", broker_settings().get(name), name)
            .and_then(|setting| canonical(setting, value));
        match checked {
            Ok(value) => {
                statics.insert(name.to_owned(), value);
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(statics)
    } else {
        Err(errors)
    }
}

fn declared(
    of: &'static str,
    setting: Option<&&'static Setting>,
    name: &str,
) -> Result<&'static Setting, SettingError> {
    setting.copied().ok_or_else(|| SettingError::Unknown {
        of,
        name: name.chars().take(VALUE_BYTES_MAX).collect(),
    })
}

fn canonical(setting: &Setting, value: &str) -> Result<String, SettingError> {
    if value.len() > VALUE_BYTES_MAX {
        return Err(SettingError::TooLong {
            name: setting.name,
            length: value.len(),
            max: VALUE_BYTES_MAX,
        });
    }
    setting.canonical(value)
}

/// The names and values of one resource must fit one record.
///
/// # Errors
/// When they are too long together.
pub fn check_size(overrides: &Overrides) -> Result<(), SettingError> {
    let length = overrides.iter().map(|(n, v)| n.len() + v.len()).sum();
    if length > OVERRIDES_BYTES_MAX {
        return Err(SettingError::TooLongTogether {
            length,
            max: OVERRIDES_BYTES_MAX,
        });
    }
    Ok(())
}
