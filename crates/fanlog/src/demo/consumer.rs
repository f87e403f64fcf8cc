//! One consumer of the sale, a process of its own so that it can be killed.
//!
//! Why it exists: a consumer that is killed for real, in the middle of a batch, shows what at-least-once means.
//! It does the work, writes the effect, and only then commits; the payments consumers keep a dedup table.
//! It ends when its standard input is closed, so that it never outlives the demo.
//! Read next: `effects.rs`.

use super::effects::{Effect, EffectsWriter, charged_orders};
use super::order::{Kind, OrderEvent};
use anyhow::Context;
use clap::Args;
use fanlog_client::{
    ClientConfig, Cluster, ConsumedRecord, FetchConfig, GroupConfig, GroupConsumer, GroupEvent,
    OffsetReset,
};
use fanlog_environment::{Clock, SystemClock};
use fanlog_model::{Offset, TopicPartition};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The group that charges customers.
pub(crate) const PAYER: &str = "payments";
/// What the consumer that will be killed says when it is in the middle of a batch.
pub(crate) const IN_MID_BATCH: &str = "in mid-batch";
/// Records done between two commits.
const BATCH: usize = 100;
const POLL: Duration = Duration::from_millis(200);
/// Kafka's shortest: the partitions of a killed consumer are given to others after this.
const SESSION: Duration = Duration::from_secs(6);

/// Flags of the hidden command `fanlog demo-consumer`.
#[derive(Args, Debug)]
pub(crate) struct ConsumerArgs {
    #[arg(long)]
    pub(crate) bootstrap: String,
    #[arg(long)]
    pub(crate) topic: String,
    #[arg(long)]
    pub(crate) group: String,
    #[arg(long)]
    pub(crate) member: u32,
    #[arg(long)]
    pub(crate) folder: PathBuf,
    /// Records a second at most
    #[arg(long)]
    pub(crate) per_second: Option<u32>,
    /// After so many records, stop in the middle of a batch and wait to be killed
    #[arg(long)]
    pub(crate) hang_after: Option<usize>,
}

struct Worker<'a> {
    args: &'a ConsumerArgs,
    effects: EffectsWriter,
    charged: HashSet<u64>,
    clock: SystemClock,
    done: usize,
    next_at: Instant,
}

/// Consumes until standard input is closed.
pub(crate) async fn run(args: &ConsumerArgs) -> anyhow::Result<()> {
    let cluster = Cluster::connect(ClientConfig {
        bootstrap: vec![args.bootstrap.clone()],
        client_id: format!("{}-{}", args.group, args.member),
        ..ClientConfig::default()
    });
    let config = GroupConfig {
        session_timeout: SESSION,
        heartbeat_interval: SESSION / 6,
        fetch: FetchConfig {
            reset: OffsetReset::Earliest,
            ..FetchConfig::default()
        },
        ..GroupConfig::new(&args.group, vec![args.topic.clone()])
    };
    let mut consumer = GroupConsumer::new(&cluster.await?, config);
    let mut worker = Worker {
        args,
        effects: EffectsWriter::create(&args.folder, &args.group, args.member)?,
        charged: HashSet::new(),
        clock: SystemClock::new(),
        done: 0,
        next_at: Instant::now(),
    };
    let mut stop = stop_at_end_of_input();
    loop {
        let event = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            event = consumer.poll(POLL) => event,
        };
        match event {
            Ok(Some(GroupEvent::Assigned(_))) => worker.load_dedup_table()?,
            Ok(Some(GroupEvent::Records(records))) => {
                worker.work(&consumer, records, &mut stop).await?
            }
            Ok(Some(GroupEvent::Revoked(_) | GroupEvent::Lost(..)) | None) => {}
            Err(error) => eprintln!("{}-{}: {error}; going on", args.group, args.member),
        }
    }
    worker.effects.flush()?;
    consumer.close().await.context("leaving the group")
}

fn stop_at_end_of_input() -> watch::Receiver<bool> {
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        let mut input = tokio::io::stdin();
        let mut ignored = [0; 64];
        while matches!(input.read(&mut ignored).await, Ok(n) if n > 0) {}
        stop.send_replace(true);
    });
    stopped
}

impl Worker<'_> {
    /// What other payments consumers charged before the partitions came to this one.
    fn load_dedup_table(&mut self) -> anyhow::Result<()> {
        if self.args.group == PAYER {
            self.effects.flush()?;
            self.charged = charged_orders(&self.args.folder, PAYER)?;
        }
        Ok(())
    }

    /// Does records batch by batch. A commit that is refused leaves the rest to the partitions' next owner.
    async fn work(
        &mut self,
        consumer: &GroupConsumer,
        records: Vec<ConsumedRecord>,
        stop: &mut watch::Receiver<bool>,
    ) -> anyhow::Result<()> {
        for batch in records.chunks(BATCH) {
            let mut ends: BTreeMap<TopicPartition, Offset> = BTreeMap::new();
            for record in batch {
                self.keep_rate().await;
                self.process(record)?;
                ends.insert(record.partition.clone(), record.offset.plus(1));
                self.hang_in_mid_batch().await?;
            }
            self.effects.flush()?;
            if let Err(error) = consumer.commit_offsets(&ends).await {
                eprintln!("{}-{}: {error}", self.args.group, self.args.member);
                return Ok(());
            }
            if *stop.borrow_and_update() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn keep_rate(&mut self) {
        if let Some(per_second) = self.args.per_second {
            sleep_until(self.next_at).await;
            self.next_at =
                self.next_at.max(Instant::now() - POLL) + Duration::from_secs(1) / per_second;
        }
    }

    fn process(&mut self, record: &ConsumedRecord) -> anyhow::Result<()> {
        let value = record.value.as_deref().unwrap_or_default();
        let event: OrderEvent =
            serde_json::from_slice(value).context("reading an event of the sale")?;
        let is_payment = self.args.group == PAYER && event.event == Kind::Paid;
        self.done += 1;
        self.effects.write(&Effect {
            at_ms: self.clock.wall_ms().0,
            partition: record.partition.partition.0,
            offset: record.offset.0,
            order: event.order,
            kind: event.event,
            is_charge: is_payment && self.charged.insert(event.order),
        })
    }

    /// The work is done and its effect written; the commit will never come.
    async fn hang_in_mid_batch(&mut self) -> anyhow::Result<()> {
        if self.args.hang_after == Some(self.done) {
            self.effects.flush()?;
            println!("{IN_MID_BATCH}");
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}
