//! One run: processes of the broker come and go on one machine, and clients go on meanwhile.

use crate::promises::catalog::Shown;
use crate::promises::records::Place;
use crate::promises::{Verdict, broken, holds};
use crate::world::{GROUPS, World};
use crate::{Options, Outcome};
use fanlog_broker::Partition;
use fanlog_environment::simulated::FailedSync;
use fanlog_model::invariants::{CAT_1, GRP_3, LOG_1, LOG_3};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// What may happen next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Produce,
    Burst,
    Poll,
    TakePart,
    Consume,
    Sync,
    SyncSegments,
    SlowSync,
    Time,
    Maintain,
    Compact,
    Administer,
    DeleteGroup,
    ReadCommitted,
    Fault,
    Receive,
    Settle,
    Keep,
    Dead,
}

const STEPS: &[(u64, Step)] = &[
    (32, Step::Produce),
    (3, Step::Burst),
    (10, Step::Poll),
    (28, Step::TakePart),
    (20, Step::Consume),
    (16, Step::Sync),
    (5, Step::SyncSegments),
    (4, Step::SlowSync),
    (8, Step::Time),
    (2, Step::Maintain),
    (3, Step::Compact),
    (4, Step::Administer),
    (1, Step::DeleteGroup),
    (3, Step::ReadCommitted),
    (1, Step::Fault),
];

/// In runs with queues: their own promises cost enough.
const QUEUE_STEPS: &[(u64, Step)] = &[
    (18, Step::Produce),
    (2, Step::Burst),
    (26, Step::Receive),
    (30, Step::Settle),
    (10, Step::Keep),
    (5, Step::Dead),
    (16, Step::Sync),
    (4, Step::SyncSegments),
    (4, Step::SlowSync),
    (9, Step::Time),
    (2, Step::Maintain),
    (1, Step::Compact),
    (1, Step::Fault),
];

/// How a process of the broker ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Everything that was not synced may be lost.
    PowerCut,
    /// The page cache survives.
    Kill,
    Shutdown,
    /// The power goes right after the broker has stopped.
    ShutdownThenPowerCut,
}

/// Runs a seed.
pub(crate) fn run(seed: u64, options: &Options) -> Outcome {
    #[cfg(feature = "planted-faults")]
    crate::planted::plant(options.planted);
    crate::panics::watch();
    let mut world = World::new(seed, options.planted, options.is_traced);
    world.queues.is_on = options.has_queues;
    let result = catch_unwind(AssertUnwindSafe(|| world.run(options))).unwrap_or_else(|_| {
        Err(broken(
            "no panic",
            crate::panics::first().unwrap_or_default(),
        ))
    });
    crate::panics::unwatch();
    world.hash_disk();
    Outcome {
        seed,
        result: result.map(|()| world.reached),
        hash: world.trace.hash(),
        events: world.trace.lines(),
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing that could be missing")
}

impl World {
    fn run(&mut self, options: &Options) -> Verdict {
        for life in 0..options.lives {
            let is_last = life + 1 == options.lives;
            // Whatever tasks a process leaves behind go with its runtime.
            let runtime = runtime();
            runtime.block_on(self.live(life == 0, is_last, options.steps))?;
            drop(runtime);
        }
        Ok(())
    }

    /// One process of the broker, from its start to its end.
    async fn live(&mut self, is_first: bool, is_last: bool, steps: u64) -> Verdict {
        if !is_first && self.chance.percent(15) {
            self.die_at_start();
        }
        self.start_well().await?;
        if is_first {
            self.prepare().await?;
        } else if !is_last && self.chance.percent(50) {
            // Somewhere on the way, in the middle of whatever it is, the disk stops.
            let operations = 1 + self.chance.below(250);
            self.disk.crash_at(operations);
        }
        for _ in 0..steps {
            self.step().await?;
            if self.is_crashed() {
                break;
            }
            self.look()?;
        }
        if is_last {
            return self.finish().await;
        }
        self.end().await
    }

    /// A start that the power cuts short.
    fn die_at_start(&mut self) {
        let operations = self.chance.below(60);
        self.disk.crash_at(operations);
        let started = self.start();
        self.trace.line(&format!(
            "a start that ends early: {:?}",
            started.map_err(|e| e.to_string())
        ));
        // Nobody was served yet, so that nobody waits.
        if let Some(process) = self.process.take() {
            process.disk.end();
        }
        self.stop_disk();
    }

    fn stop_disk(&mut self) {
        match self.chance.percent(60) {
            true => {
                self.power_failed();
                self.disk.crash(self.chance.next());
            }
            false => self.disk.restart(),
        }
    }

    /// A start on a disk without faults: it must succeed, and everything must be there.
    pub(crate) async fn start_well(&mut self) -> Verdict {
        self.disk.restart();
        if let Err(error) = self.start() {
            return Err(broken(LOG_1, format!("the broker does not start: {error}")));
        }
        let epoch = self.broker().leader_epoch().0;
        self.trace.line(&format!("started, epoch {epoch}"));
        let is_higher = epoch > std::mem::replace(&mut self.epoch, epoch);
        holds(is_higher, LOG_3, || {
            format!("leader epoch {epoch} was there before")
        })?;
        self.settle().await?;
        self.look()?;
        self.check_all().await
    }

    /// The first topics, and a place for groups.
    async fn prepare(&mut self) -> Verdict {
        if self.queues.is_on {
            return self.prepare_queues().await;
        }
        let groups = self.broker().groups().clone();
        let find = async move { groups.find(&"group-0".into()).await };
        self.call("find a coordinator".to_owned(), find, |_, _| Ok(()));
        self.create_topic();
        self.create_topic();
        self.finish_calls().await
    }

    pub(crate) async fn finish_calls(&mut self) -> Verdict {
        for _ in 0..200 {
            self.settle().await?;
            if self.calls() == 0 {
                return Ok(());
            }
            self.broker().sync_all();
        }
        Ok(())
    }

    async fn step(&mut self) -> Verdict {
        let step = match self.queues.is_on {
            true => self.chance.weighted(QUEUE_STEPS),
            false => self.chance.weighted(STEPS),
        };
        match step {
            Step::Produce => self.produce()?,
            Step::Burst => self.produce_in_a_burst()?,
            Step::Poll => self.poll()?,
            Step::TakePart => self.take_part()?,
            Step::Consume => self.consume()?,
            Step::Sync => {
                self.trace.line("sync");
                self.broker().sync_all();
            }
            Step::SyncSegments => {
                let synced = self.broker().sync_next();
                self.trace.line(&format!("sync of segments: {synced}"));
            }
            Step::SlowSync => self.sync_slowly()?,
            Step::Time => self.let_time_pass(),
            Step::Maintain => {
                self.trace.line("maintain");
                self.broker().maintain();
            }
            Step::Compact => {
                let has_compacted = self.broker().clean_dirtiest();
                self.trace.line(&format!("compact: {has_compacted}"));
                self.reached.compactions += u64::from(has_compacted);
            }
            Step::Administer => self.administer()?,
            Step::DeleteGroup => self.delete_group()?,
            Step::ReadCommitted => {
                let group = self.chance.index(GROUPS + 1);
                self.fetch_committed(group);
            }
            Step::Fault => self.make_fault(),
            Step::Receive => self.receive(),
            Step::Settle => self.settle_some(),
            Step::Keep => self.keep_queues()?,
            Step::Dead => self.see_to_dead_letters(),
        }
        self.settle().await
    }

    fn let_time_pass(&mut self) {
        let ms = self.chance.pick(&[1, 50, 500, 1_000, 3_000]);
        self.trace.line(&format!("{ms} ms pass"));
        self.clock.advance(Duration::from_millis(ms));
        self.broker().groups().tick();
        if self.queues.is_on {
            self.broker().queues().tick();
        }
    }

    fn make_fault(&mut self) {
        match self.chance.below(4) {
            0 => {
                let syncs = self.chance.below(6);
                self.trace.line(&format!("sync {syncs} from now will fail"));
                self.disk.fail_sync(syncs, FailedSync::Either);
                self.sync_may_fail();
            }
            1 | 2 => {
                let room = self.chance.below(1_500);
                self.trace
                    .line(&format!("the disk has room for {room} bytes"));
                self.disk.set_free_bytes(Some(room));
                self.queues.is_disk_short = true;
            }
            _ => {
                self.trace.line("the disk has room again");
                self.queues.is_disk_short = false;
                self.disk.set_free_bytes(None);
            }
        }
    }

    /// What anyone can see at any time.
    fn look(&mut self) -> Verdict {
        let topics = self.broker().topics();
        let shown: Vec<Shown> = topics
            .iter()
            .filter(|topic| !topic.is_internal && !self.is_of_queues(&topic.name))
            .map(|topic| Shown {
                id: topic.id,
                name: topic.name.to_string(),
                partitions: i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX),
                overrides: topic.overrides.clone().into_iter().collect(),
            })
            .collect();
        self.catalog.observe(&shown)?;
        self.look_at_queues(false)?;
        for place in self.places() {
            let Some(partition) = self.partition(place) else {
                let what = format!("{place:?} is in the catalog, and unknown");
                return Err(broken(CAT_1, what));
            };
            if partition.check_serving().is_ok() {
                self.stands(place, partition.high_watermark().0, None)?;
            }
        }
        Ok(())
    }

    /// Everything that was promised, read back. The disk has no faults now.
    async fn check_all(&mut self) -> Verdict {
        for place in self.places() {
            self.check_serves(place)?;
            self.read_whole(place).await?;
        }
        let groups = self.broker().groups().clone();
        let list = async move { groups.list(vec![], vec![]).await };
        self.call("list groups".to_owned(), list, |_, listed| {
            holds(matches!(listed, Some(Ok(_))), GRP_3, || {
                format!("groups do not serve after a start: {listed:?}")
            })
        });
        self.finish_calls().await?;
        match self.queues.is_on {
            true => self.queues_started().await,
            false => Ok(()),
        }
    }

    fn check_serves(&mut self, place: Place) -> Verdict {
        let serving = self.partition(place).map(|partition: Arc<Partition>| {
            partition.check_serving().map_err(|error| error.to_string())
        });
        holds(matches!(serving, Some(Ok(()))), LOG_1, || {
            format!("{place:?} does not serve after a start: {serving:?}")
        })
    }

    async fn end(&mut self) -> Verdict {
        let end = match self.is_crashed() {
            true => self.chance.weighted(&[(3, End::PowerCut), (2, End::Kill)]),
            false => self.chance.weighted(&[
                (4, End::PowerCut),
                (3, End::Kill),
                (2, End::Shutdown),
                (1, End::ShutdownThenPowerCut),
            ]),
        };
        self.trace.line(&format!("{end:?}"));
        if matches!(end, End::Shutdown | End::ShutdownThenPowerCut) {
            self.reached.shutdowns += 1;
            if self.chance.percent(70) {
                self.disk.set_free_bytes(None);
            }
            self.broker().clone().shutdown().await;
            self.settle().await?;
        }
        self.end_process()?;
        self.hash_disk();
        match end {
            End::PowerCut | End::ShutdownThenPowerCut => {
                self.reached.power_cuts += 1;
                let seed = self.chance.next();
                self.power_failed();
                self.disk.crash(seed);
            }
            End::Kill => {
                self.reached.kills += 1;
                self.disk.restart();
            }
            End::Shutdown => self.disk.restart(),
        }
        self.hash_disk();
        Ok(())
    }

    /// The faults end; what was sent comes through, and all is read once more.
    async fn finish(&mut self) -> Verdict {
        self.disk.lift_faults();
        self.finish_calls().await?;
        self.end_process()?;
        self.power_failed();
        self.disk.crash(self.chance.next());
        self.start_well().await?;
        if self.queues.is_on {
            return self.finish_queues().await;
        }
        self.churn().await?;
        self.consumers_come_to_rest().await?;
        self.end_process()
    }
}
