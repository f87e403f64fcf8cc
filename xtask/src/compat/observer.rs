//! A neutral eye on the broker: small requests over a plain socket (`compat/raw/observe.py`), no client library in between.

use std::path::PathBuf;

use crate::{shell, toolchains};

/// Looks at groups and at stored batches.
#[derive(Debug)]
pub(crate) struct Observer {
    python: PathBuf,
}

impl Observer {
    /// Needs Python only.
    pub(crate) fn prepare() -> anyhow::Result<Observer> {
        Ok(Observer {
            python: toolchains::python()?,
        })
    }

    fn ask(&self, args: &[&str]) -> anyhow::Result<String> {
        let script = shell::repository().join("compat/raw/observe.py");
        let mut command = shell::command(&self.python);
        shell::output(
            command
                .arg(script)
                .args(args)
                .env("PYTHONDONTWRITEBYTECODE", "1"),
        )
    }

    /// The codecs of the batches that the topic holds.
    pub(crate) fn codecs(&self, bootstrap: &str, topic: &str) -> anyhow::Result<Vec<String>> {
        let answer = self.ask(&["codecs", bootstrap, topic])?;
        Ok(answer.split_whitespace().map(str::to_owned).collect())
    }

    /// Waits until every partition of the topic serves.
    pub(crate) fn wait_for_topic(
        &self,
        bootstrap: &str,
        topic: &str,
        partitions: i32,
    ) -> anyhow::Result<()> {
        self.ask(&["ready", bootstrap, topic, &partitions.to_string()])?;
        Ok(())
    }

    /// Waits until the group is stable with so many members (none: empty).
    pub(crate) fn wait_for_members(
        &self,
        bootstrap: &str,
        group: &str,
        members: usize,
    ) -> anyhow::Result<()> {
        self.ask(&["members", bootstrap, group, &members.to_string()])?;
        Ok(())
    }
}
