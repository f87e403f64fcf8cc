//! What a consumer did, a line a delivery, in a file that outlives it.
//!
//! Why it exists: the summary is computed from these files and from nothing that the broker says of itself.
//! A line is written when the work is done and before the offset is committed, as any consumer should that must
//! not lose work: after a crash the work is done again, and the dedup table keeps it from counting twice.
//!
//! Line: `<ms since 1970> <partition> <offset> <order> <placed|paid|cancelled> <charged|->`.

use super::order::Kind;
use anyhow::{Context, bail};
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

/// One delivery as a consumer saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) at_ms: i64,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) order: u64,
    pub(crate) kind: Kind,
    /// Whether this delivery charged the customer.
    pub(crate) is_charge: bool,
}

/// The file of one consumer.
pub(crate) struct EffectsWriter {
    file: BufWriter<File>,
}

impl EffectsWriter {
    pub(crate) fn create(folder: &Path, group: &str, member: u32) -> anyhow::Result<Self> {
        let path = folder.join(format!("{group}-{member}.effects"));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("opening {}", path.display()))?;
        Ok(Self {
            file: BufWriter::new(file),
        })
    }

    pub(crate) fn write(&mut self, effect: &Effect) -> anyhow::Result<()> {
        let Effect {
            at_ms,
            partition,
            offset,
            order,
            kind,
            is_charge,
        } = effect;
        let charge = if *is_charge { "charged" } else { "-" };
        writeln!(
            self.file,
            "{at_ms} {partition} {offset} {order} {kind} {charge}"
        )
        .context("writing an effect")
    }

    /// After this the lines survive the death of this process.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        self.file.flush().context("writing effects")
    }
}

/// Everything that the consumers of a group wrote, file by file, each in the order written.
pub(crate) fn read(folder: &Path, group: &str) -> anyhow::Result<Vec<Effect>> {
    let mut effects = Vec::new();
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let member = name
            .strip_prefix(group)
            .and_then(|rest| rest.strip_prefix('-'));
        if member.is_some_and(|member| member.ends_with(".effects")) {
            paths.push(folder.join(name));
        }
    }
    paths.sort();
    for path in paths {
        for line in fs::read_to_string(&path)?.lines() {
            effects.push(parse(line).with_context(|| format!("in {}", path.display()))?);
        }
    }
    Ok(effects)
}

/// The dedup table of the payments consumers: orders that some consumer of the group has charged already.
pub(crate) fn charged_orders(folder: &Path, group: &str) -> anyhow::Result<HashSet<u64>> {
    let charges = read(folder, group)?
        .into_iter()
        .filter(|effect| effect.is_charge);
    Ok(charges.map(|effect| effect.order).collect())
}

fn parse(line: &str) -> anyhow::Result<Effect> {
    let words: Vec<&str> = line.split(' ').collect();
    let [at_ms, partition, offset, order, kind, charge] = words[..] else {
        bail!("'{line}' has {} words instead of 6", words.len());
    };
    Ok(Effect {
        at_ms: at_ms.parse()?,
        partition: partition.parse()?,
        offset: offset.parse()?,
        order: order.parse()?,
        kind: match kind {
            "placed" => Kind::Placed,
            "paid" => Kind::Paid,
            "cancelled" => Kind::Cancelled,
            other => bail!("'{other}' is no event"),
        },
        is_charge: charge == "charged",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_read_back_as_written_by_group() {
        let folder = tempfile::tempdir().unwrap();
        let effect = |order, is_charge| Effect {
            at_ms: 5,
            partition: 1,
            offset: 7,
            order,
            kind: Kind::Paid,
            is_charge,
        };
        for (group, member, order, is_charge) in [
            ("pay", 1, 1, true),
            ("pay", 2, 2, false),
            ("payments", 1, 3, true),
        ] {
            let mut writer = EffectsWriter::create(folder.path(), group, member).unwrap();
            writer.write(&effect(order, is_charge)).unwrap();
            writer.flush().unwrap();
        }
        let read = read(folder.path(), "pay").unwrap();
        assert_eq!(read, [effect(1, true), effect(2, false)]);
        assert_eq!(
            charged_orders(folder.path(), "pay").unwrap(),
            HashSet::from([1])
        );
    }
}
