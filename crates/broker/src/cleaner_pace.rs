//! How fast a cleaning goes: to its bytes per second, and out of the way of commits.
//!
//! Why it exists: commits wait for the same disk and the same processors.
//! In -> out: a piece of work that is done, and how long commits take -> a pause.
//! Invariants: OPS-1: it never stands still for ever, or a disk that has become slow would fill up.

use crate::commit_latency::CommitLatency;
use fanlog_storage::Work;
use std::time::Duration;

/// How long a pause lasts before it is looked whether it may end.
const LOOK: Duration = Duration::from_millis(10);
/// While commits are slow the cleaner works for a tenth of the time at least.
const PAUSES_PER_WORK: u32 = 10;
/// Commits that come while the cleaner syncs may wait for it. So that these are few, it leaves so many times as long without a sync:
/// half a percent of commits may be held up, and their 99th percentile stays where it was.
const PAUSES_PER_SYNC: u32 = 200;
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Syncs are spaced no further than lets a cleaning move so many bytes a second: producers write no more to most compacted topics.
const SPACED_BYTES_PER_SECOND_MIN: f64 = 16e6;
/// Without a commit for so long there is nobody to make way for.
const QUIET: Duration = Duration::from_millis(200);

/// Slows a cleaning down.
pub(crate) struct Pacer<'a> {
    bytes_per_second: f64,
    now: &'a dyn Fn() -> Duration,
    commits: &'a CommitLatency,
    may_go_on: &'a dyn Fn() -> bool,
    /// Waits for so long, or shorter where the cleaning shall end.
    wait: &'a dyn Fn(Duration),
    started: Duration,
    bytes: f64,
    /// How long it paused behind syncs.
    spaced: Duration,
    /// When the last piece of work began, and how many commits there had been.
    work_began: Duration,
    commits_before: u64,
}

impl<'a> Pacer<'a> {
    pub(crate) fn new(
        bytes_per_second: f64,
        now: &'a dyn Fn() -> Duration,
        commits: &'a CommitLatency,
        may_go_on: &'a dyn Fn() -> bool,
        wait: &'a dyn Fn(Duration),
    ) -> Self {
        Self {
            bytes_per_second: bytes_per_second.max(1.0),
            started: now(),
            bytes: 0.0,
            spaced: Duration::ZERO,
            work_began: now(),
            commits_before: commits.count(),
            now,
            commits,
            may_go_on,
            wait,
        }
    }

    /// Waits as long as is due behind a piece of work; whether to go on.
    pub(crate) fn go_on(&mut self, work: Work) -> bool {
        let took = (self.now)().saturating_sub(self.work_began);
        match work {
            Work::Moved(bytes) => {
                self.bytes += bytes as f64;
                self.keep_rate();
                let until = (self.now)() + (took * PAUSES_PER_WORK).clamp(LOOK, PAUSE_MAX);
                self.make_way(until, CommitLatency::is_high);
            }
            Work::Synced => self.space_syncs(took),
        }
        self.work_began = (self.now)();
        self.commits_before = self.commits.count();
        (self.may_go_on)()
    }

    fn keep_rate(&self) {
        let seconds = (self.bytes / self.bytes_per_second).min(1e9);
        let due = self.started + Duration::from_secs_f64(seconds);
        while let left = due.saturating_sub((self.now)())
            && !left.is_zero()
            && (self.may_go_on)()
        {
            (self.wait)(left.min(PAUSE_MAX));
        }
    }

    /// Where a sync took longer than a commit usually does, and there were commits meanwhile, none follows it soon.
    fn space_syncs(&mut self, took: Duration) {
        if self.commits.count() == self.commits_before {
            return;
        }
        let longer = took.saturating_sub(self.commits.usual());
        let most = Duration::from_secs_f64(self.bytes / SPACED_BYTES_PER_SECOND_MIN);
        let pause = (longer * PAUSES_PER_SYNC)
            .min(PAUSE_MAX)
            .min(most.saturating_sub(self.spaced));
        let began = (self.now)();
        self.make_way(began + pause, |_| true);
        self.spaced += (self.now)().saturating_sub(began);
    }

    /// Waits until then, for as long as commits have need of it.
    fn make_way(&self, until: Duration, need: impl Fn(&CommitLatency) -> bool) {
        let (mut count, mut last) = (self.commits.count(), (self.now)());
        while need(self.commits) && (self.may_go_on)() {
            let now = (self.now)();
            let left = until.saturating_sub(now);
            if left.is_zero() {
                return;
            }
            (self.wait)(left.min(LOOK));
            if self.commits.count() != count {
                (count, last) = (self.commits.count(), (self.now)());
            } else if (self.now)().saturating_sub(last) > QUIET {
                // Nobody commits any more: what was high stays so.
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A clock that moves while a pacer waits; commits come in meanwhile where `commit` says how long each takes.
    struct World {
        now: Cell<Duration>,
        commits: CommitLatency,
        commit: Cell<Option<Duration>>,
        /// Bytes that were moved before.
        moved: Cell<f64>,
    }

    impl World {
        fn new() -> Self {
            let world = Self {
                now: Cell::new(Duration::ZERO),
                commits: CommitLatency::default(),
                commit: Cell::new(Some(ms(1))),
                moved: Cell::new(0.0),
            };
            (0..100).for_each(|_| world.note(ms(1)));
            world.commits.hold(true);
            world
        }

        fn note(&self, took: Duration) {
            self.commits.note(self.now.get(), took);
        }

        fn pass(&self, span: Duration) {
            self.now.set(self.now.get() + span);
            if let Some(commit) = self.commit.get() {
                self.note(commit);
            }
        }

        /// How long a pacer waits behind work that takes `took`.
        fn waits(&self, bytes_per_second: f64, took: Duration, work: Work) -> Duration {
            let now = || self.now.get();
            let wait = |span| self.pass(span);
            let mut pacer = Pacer::new(bytes_per_second, &now, &self.commits, &|| true, &wait);
            pacer.bytes = self.moved.get();
            self.pass(took);
            let before = self.now.get();
            assert!(pacer.go_on(work));
            self.now.get() - before
        }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn it_moves_no_more_bytes_a_second_than_it_may() {
        let world = World::new();
        assert_eq!(world.waits(1e6, ms(100), Work::Moved(500_000)), ms(400));
        assert_eq!(world.waits(1e9, ms(100), Work::Moved(500_000)), ms(0));
    }

    #[test]
    fn it_makes_way_for_commits_that_are_slow_and_not_for_ever() {
        let world = World::new();
        world.commit.set(Some(ms(50)));
        (0..20).for_each(|_| world.note(ms(50)));
        assert_eq!(world.waits(1e9, ms(20), Work::Moved(1)), ms(200));
        world.commit.set(Some(ms(1)));
        let waited = world.waits(1e9, ms(50), Work::Moved(1));
        assert!(waited < ms(500), "they are fast again after {waited:?}");
    }

    #[test]
    fn syncs_that_commits_may_wait_for_are_rare() {
        let world = World::new();
        world.moved.set(1e9);
        assert_eq!(world.waits(1e9, ms(4), Work::Synced), ms(600));
        assert_eq!(world.waits(1e9, ms(1), Work::Synced), ms(0));
        assert_eq!(world.waits(1e9, ms(500), Work::Synced), PAUSE_MAX);
    }

    #[test]
    fn small_segments_on_a_slow_disk_are_cleaned_at_some_pace() {
        let world = World::new();
        assert_eq!(world.waits(1e9, ms(500), Work::Synced), ms(0));
        world.moved.set(1.6e6);
        assert_eq!(world.waits(1e9, ms(500), Work::Synced), ms(100));
    }

    #[test]
    fn where_nobody_commits_it_does_not_wait() {
        let world = World::new();
        (0..20).for_each(|_| world.note(ms(50)));
        world.commit.set(None);
        assert_eq!(world.waits(1e9, ms(500), Work::Synced), ms(0));
        let waited = world.waits(1e9, ms(100), Work::Moved(1));
        assert!(waited <= QUIET + 2 * LOOK, "{waited:?}");
    }
}
