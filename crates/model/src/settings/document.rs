//! `docs/settings.md`, from the declarations.

use super::declaration::{Effect, Setting, Update};
use super::{broker_settings, group_settings, queue_settings, topic_settings};
use std::fmt::Write;

const HEAD: &str = "# Settings

Printed from the declarations in `crates/model/src/settings/`; a test holds this page to them.

**Effect** says what a setting does here: *as Kafka* means what Kafka does with it; *none* means that any legal value is kept
and returned and changes nothing; *default only* means that any other value is refused (`INVALID_CONFIG`), so that nobody
relies on what isn't there. **Changes** says when a value may be given: *running* by `alter configs` for one broker or for all,
*running, one broker* for one broker only, *at start* in the start-up file or flags only. A setting of a topic, a group or a queue may
always be changed; where that of a topic or a group has no value, the broker settings named in its last column stand in.
";

/// The whole page.
pub fn settings_page() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n## Topic settings\n\n| name | type, values | default | effect | what it is | stands in |\n|---|---|---|---|---|---|\n");
    for setting in topic_settings().values() {
        row(&mut page, setting, &setting.synonyms.join(", "));
    }
    page.push_str("\n## Group settings\n\n| name | type, values | default | effect | what it is | stands in |\n|---|---|---|---|---|---|\n");
    for setting in group_settings().values() {
        row(&mut page, setting, &setting.synonyms.join(", "));
    }
    page.push_str(
        "\n## Queue settings\n\n| name | values | default | what it is |\n|---|---|---|---|\n",
    );
    for setting in queue_settings().values() {
        let Setting { name, doc, .. } = setting;
        let (expected, default) = (in_table(&setting.expected()), default_of(setting));
        writeln!(page, "| `{name}` | {expected} | {default} | {doc} |")
            .expect("a string takes all that is written");
    }
    page.push_str("\n## Broker settings\n\n| name | type, values | default | effect | what it is | changes |\n|---|---|---|---|---|---|\n");
    for setting in broker_settings().values() {
        row(&mut page, setting, changes(setting.update));
    }
    page
}

fn row(page: &mut String, setting: &Setting, last: &str) {
    let Setting { name, doc, .. } = setting;
    let expected = setting.expected();
    let default = default_of(setting);
    let effect = match setting.effect {
        Effect::Honoured => "as Kafka".to_owned(),
        Effect::WithoutEffect(reason) => format!("none: {reason}"),
        Effect::Refused(reason) => format!("default only: {reason}"),
    };
    writeln!(
        page,
        "| `{name}` | {expected} | {default} | {effect} | {doc} | {last} |"
    )
    .expect("a string takes all that is written");
}

fn default_of(setting: &Setting) -> String {
    match setting.default {
        None => "none".to_owned(),
        Some("") => "empty".to_owned(),
        Some(value) => format!("`{value}`"),
    }
}

/// Markdown takes `<text>` for a tag.
fn in_table(text: &str) -> String {
    text.replace('<', "\\<")
}

fn changes(update: Update) -> &'static str {
    match update {
        Update::ReadOnly => "at start",
        Update::PerBroker => "running, one broker",
        Update::ClusterWide | Update::PerTopic | Update::PerGroup | Update::PerQueue => "running",
    }
}
