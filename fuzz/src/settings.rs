//! Values of settings, as clients and files give them.

use fanlog_model::settings::{
    BrokerLayers, BrokerSettings, Overrides, Setting, TopicSettings, broker_settings,
    check_statics, check_topic, check_topic_setting, describe_topic, topic_settings,
};

/// Lines of `name=value`; a name that is a number stands for the setting with that number.
pub(crate) fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (mut topic, mut statics) = (Overrides::new(), Overrides::new());
    for line in text.lines() {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        for (setting, kept) in [
            (named(topic_settings().values().copied(), name), &mut topic),
            (
                named(broker_settings().values().copied(), name),
                &mut statics,
            ),
        ] {
            let Some(setting) = setting else { continue };
            if let Ok(canonical) = setting.canonical(value) {
                let again = setting.canonical(&canonical);
                assert_eq!(again.as_ref(), Ok(&canonical), "{} {value:?}", setting.name);
                kept.insert(setting.name.to_owned(), canonical);
            }
        }
        let _ = check_topic_setting(name, value);
        let _ = check_statics([(name, value)]);
    }
    let _ = check_topic(&topic);
    // Whatever passed each check by itself must give settings that a broker can run with.
    let none = Overrides::new();
    let layers = BrokerLayers {
        dynamic: &none,
        dynamic_default: &none,
        statics: &statics,
    };
    BrokerSettings::resolve(&layers);
    TopicSettings::resolve(&topic, &layers);
    assert!(!describe_topic(&topic, &layers, None).is_empty());
}

fn named<'s>(mut all: impl Iterator<Item = &'s Setting>, name: &str) -> Option<&'s Setting> {
    match name.parse::<usize>() {
        Ok(at) => all.nth(at),
        Err(_) => all.find(|setting| setting.name == name),
    }
}
