//! The course of the sale: who starts when, who is killed, when it is over.

use super::consumer::{ConsumerArgs, PAYER};
use super::effects;
use super::processes::{ConsumerProcess, OwnBroker};
use super::publisher::Checkout;
use super::screen::{GroupLine, Moment, Screen};
use super::summary::Summary;
use anyhow::{Context, bail};
use clap::Args;
use fanlog_client::{Admin, ClientConfig, Cluster, NewTopic, OffsetSpec, Producer, ProducerConfig};
use fanlog_model::TopicName;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

const GROUPS: [&str; 4] = ["inventory", PAYER, "warehouse", "email"];
const SLOW: &str = "email";
const LATE: &str = "fraud";
const PARTITIONS: i32 = 6;
/// The victim is killed after this many records: in its third batch.
const KILLED_AFTER: usize = 250;
/// Beyond what the backlog needs at the slow group's rate.
const DRAIN_GRACE: Duration = Duration::from_secs(60);
const LINGER: Duration = Duration::from_millis(1);

/// Flags of `fanlog demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Use this broker; without it the demo runs one of its own, in a temporary folder
    #[arg(long, value_name = "HOST:PORT")]
    bootstrap: Option<String>,
    /// Orders a second; each makes two events
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    orders_per_second: u32,
    /// What the email group manages a second
    #[arg(long, default_value_t = 250, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    email_per_second: u32,
    /// How long the sale lasts, in seconds
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..=3600))]
    seconds: u64,
}

struct Sale<'a> {
    args: &'a DemoArgs,
    bootstrap: String,
    topic: TopicName,
    folder: &'a Path,
    admin: Admin,
    checkout: Checkout,
    groups: Vec<&'static str>,
    consumers: Vec<ConsumerProcess>,
    screen: Screen,
    begun: Instant,
    before: Before,
}

/// What the last moment counted, for rates.
#[derive(Default)]
struct Before {
    at: Duration,
    acknowledged: u64,
    committed: BTreeMap<&'static str, i64>,
}

/// Runs the sale and gives its verdict.
pub(crate) async fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("fanlog-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let outcome = run_in(args, &folder).await;
    let is_worth_reading = match &outcome {
        Ok(()) => false,
        Err(error) if error.is::<Interrupted>() => false,
        // A folder that is still empty tells nothing.
        Err(_) => std::fs::remove_dir(&folder).is_err(),
    };
    if is_worth_reading {
        eprintln!("what happened lies in {}", folder.display());
    } else if folder.exists() {
        std::fs::remove_dir_all(&folder).context("clearing the demo's folder")?;
    }
    outcome
}

/// Whoever watched has seen enough.
#[derive(Debug, Error)]
#[error("stopped before the end: there is no verdict, and nothing of it is left")]
struct Interrupted;

async fn run_in(args: &DemoArgs, folder: &Path) -> anyhow::Result<()> {
    let own = match &args.bootstrap {
        Some(_) => None,
        None => Some(OwnBroker::start(folder).await?),
    };
    let bootstrap = match (&args.bootstrap, &own) {
        (Some(given), _) => given.clone(),
        (None, Some(own)) => own.address.clone(),
        (None, None) => bail!("there is no broker to use"),
    };
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let sale = async { Sale::open(args, folder, bootstrap).await?.hold().await };
    // What is dropped with the sale are its consumers, which end with it.
    let verdict = tokio::select! {
        verdict = sale => verdict,
        _ = tokio::signal::ctrl_c() => Err(Interrupted.into()),
        _ = terminate.recv() => Err(Interrupted.into()),
    };
    if let Some(own) = own {
        own.stop().await?;
    }
    verdict
}

impl<'a> Sale<'a> {
    async fn open(args: &'a DemoArgs, folder: &'a Path, bootstrap: String) -> anyhow::Result<Self> {
        let cluster = Cluster::connect(ClientConfig {
            bootstrap: vec![bootstrap.clone()],
            client_id: "checkout".to_owned(),
            ..ClientConfig::default()
        })
        .await?;
        let topic = TopicName::new(&format!("flash-sale-{}", std::process::id()))?;
        let admin = Admin::new(cluster.clone());
        admin
            .create_topic(&NewTopic::new(topic.as_str(), PARTITIONS), false)
            .await?;
        let producer = Producer::new(
            &cluster,
            ProducerConfig {
                linger: LINGER,
                ..ProducerConfig::default()
            },
        )?;
        Ok(Self {
            args,
            bootstrap,
            checkout: Checkout::new(producer, topic.clone()),
            topic,
            folder,
            admin,
            groups: GROUPS.to_vec(),
            consumers: Vec::new(),
            screen: Screen::new(),
            begun: Instant::now(),
            before: Before::default(),
        })
    }

    async fn hold(mut self) -> anyhow::Result<()> {
        for group in GROUPS {
            self.join(
                group,
                1,
                (group == SLOW).then_some(self.args.email_per_second),
                None,
            )?;
        }
        let victim = ConsumerProcess::start(&self.consumer(PAYER, 2, None, Some(KILLED_AFTER)))?;
        let mut victim = Some(tokio::spawn(victim.kill_in_mid_batch()));
        let time = Duration::from_secs(self.args.seconds);
        let (checkout, rate) = (self.checkout.clone(), self.args.orders_per_second);
        self.begun = Instant::now();
        let selling = tokio::spawn(async move { checkout.sell(rate, time).await });
        self.watch_sale(&selling, time, &mut victim).await?;
        selling
            .await
            .context("checkout stopped at an internal error")??;
        if let Some(victim) = victim {
            // The sale was too short for it to get so far; it hangs no more than a moment longer.
            victim
                .await
                .context("the watcher of the victim stopped")??;
        }
        self.drain().await?;
        for consumer in std::mem::take(&mut self.consumers) {
            consumer.stop().await?;
        }
        self.verdict()
    }

    /// Shows the sale every second; halfway, the late group joins.
    async fn watch_sale(
        &mut self,
        selling: &JoinHandle<Result<(), fanlog_client::ClientError>>,
        time: Duration,
        victim: &mut Option<JoinHandle<anyhow::Result<()>>>,
    ) -> anyhow::Result<()> {
        let mut seconds = interval(Duration::from_secs(1));
        seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut phase = "selling";
        while !selling.is_finished() {
            seconds.tick().await;
            if let Some(killed) = victim.take_if(|victim| victim.is_finished()) {
                killed
                    .await
                    .context("the watcher of the victim stopped")??;
                phase = "selling; a payments consumer was killed in mid-batch";
            }
            if self.begun.elapsed() >= time / 2 && !self.groups.contains(&LATE) {
                self.groups.push(LATE);
                self.join(LATE, 1, None, None)?;
            }
            self.show(phase).await?;
        }
        Ok(())
    }

    /// Waits until every group has read everything.
    async fn drain(&mut self) -> anyhow::Result<()> {
        let events = self.checkout.with_tally(|tally| tally.acknowledged.len());
        let needed = Duration::from_secs_f64(events as f64 / f64::from(self.args.email_per_second));
        let deadline = Instant::now() + needed + DRAIN_GRACE;
        let mut seconds = interval(Duration::from_secs(1));
        loop {
            seconds.tick().await;
            let lag = self.show("sold out; the backlog drains").await?;
            if lag == 0 {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{lag} records are still unread after the time that the slowest group needs");
            }
        }
    }

    fn consumer(
        &self,
        group: &str,
        member: u32,
        per_second: Option<u32>,
        hang_after: Option<usize>,
    ) -> ConsumerArgs {
        ConsumerArgs {
            bootstrap: self.bootstrap.clone(),
            topic: self.topic.to_string(),
            group: group.to_owned(),
            member,
            folder: PathBuf::from(self.folder),
            per_second,
            hang_after,
        }
    }

    fn join(
        &mut self,
        group: &str,
        member: u32,
        per_second: Option<u32>,
        hang_after: Option<usize>,
    ) -> anyhow::Result<()> {
        let args = self.consumer(group, member, per_second, hang_after);
        self.consumers.push(ConsumerProcess::start(&args)?);
        Ok(())
    }

    /// Shows the sale as the broker tells it; the records that all groups together have not read yet.
    async fn show(&mut self, phase: &'static str) -> anyhow::Result<u64> {
        let elapsed = self.begun.elapsed();
        let since = (elapsed - self.before.at).as_secs_f64().max(0.001);
        let per_second = |count: i64| (count.max(0) as f64 / since) as u64;
        let partitions = self.admin.cluster().partitions(&self.topic).await?;
        let ends = self
            .admin
            .cluster()
            .list_offsets(&partitions, OffsetSpec::Latest)
            .await?;
        let mut groups = Vec::new();
        for group in &self.groups {
            let committed = self.admin.committed_offsets(group).await?;
            let done: i64 = partitions
                .iter()
                .filter_map(|p| committed.get(p))
                .map(|c| c.offset.0)
                .sum();
            let end: i64 = ends
                .values()
                .filter_map(|end| end.offset)
                .map(|offset| offset.0)
                .sum();
            let before = self.before.committed.insert(group, done).unwrap_or(0);
            groups.push(GroupLine {
                name: (*group).to_owned(),
                per_second: per_second(done - before),
                lag: u64::try_from(end - done).unwrap_or(0),
                remark: remark(group),
            });
        }
        let lag = groups.iter().map(|group| group.lag).sum();
        let percentile = |us: u64| Duration::from_micros(us);
        let moment = self.checkout.with_tally(|tally| {
            let acknowledged = tally.acknowledged.len() as u64;
            let new = acknowledged - self.before.acknowledged;
            self.before.acknowledged = acknowledged;
            let lately = &mut tally.latency_lately;
            let (p50, p99) = (
                lately.value_at_quantile(0.5),
                lately.value_at_quantile(0.99),
            );
            lately.reset();
            Moment {
                elapsed,
                acknowledged,
                acknowledged_per_second: per_second(i64::try_from(new).unwrap_or(0)),
                ack_p50: percentile(p50),
                ack_p99: percentile(p99),
                groups,
                phase,
            }
        });
        self.before.at = elapsed;
        self.screen.show(&moment)?;
        Ok(lag)
    }

    fn verdict(&self) -> anyhow::Result<()> {
        let mut delivered = BTreeMap::new();
        for group in &self.groups {
            delivered.insert((*group).to_owned(), effects::read(self.folder, group)?);
        }
        self.checkout.with_tally(|tally| {
            let summary = Summary::compute(&tally.acknowledged, &delivered, PAYER);
            let ms = |quantile| tally.latency.value_at_quantile(quantile) as f64 / 1000.0;
            println!("\n{summary}");
            println!(
                "acknowledgement at checkout: p50 {:.1} ms, p99 {:.1} ms",
                ms(0.5),
                ms(0.99)
            );
            let mut broken = summary.broken_promises();
            broken.extend(tally.failures.first().map(|error| {
                format!(
                    "{} events were not acknowledged, the first because {error}",
                    tally.failures.len()
                )
            }));
            if !broken.is_empty() {
                bail!("promises broken: {}", broken.join("; "));
            }
            println!("every promise was kept");
            Ok(())
        })
    }
}

fn remark(group: &str) -> &'static str {
    match group {
        SLOW => "held to its rate",
        LATE => "joined late, replays from the start",
        _ => "",
    }
}
