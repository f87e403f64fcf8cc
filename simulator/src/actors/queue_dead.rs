//! Who sees to dead letters: lists them, has them delivered again, gives them up.

use super::queue_worker::spot_of;
use crate::world::World;
use fanlog_broker::{DeadDone, DeadSelection, MessageId, QueueError, Redrive};
use fanlog_model::GroupId;

/// So often is a dead letter redriven at most.
const REDRIVES_MAX: u32 = 3;

impl World {
    pub(crate) fn see_to_dead_letters(&mut self) {
        let lives = self.queues.books.there();
        if lives.is_empty() {
            return;
        }
        let life = self.chance.pick(&lives);
        match self.chance.weighted(&[(3, 0), (4, 1), (2, 2)]) {
            0 => self.list_dead(life),
            1 => self.redrive(life),
            _ => self.discard(life),
        }
    }

    fn queue_name(&self, life: usize) -> GroupId {
        GroupId::from(self.queues.books.lives[life].name.as_str())
    }

    pub(super) fn list_dead(&mut self, life: usize) {
        let name = self.queue_name(life);
        let queues = self.broker().queues().clone();
        let what = format!("list dead letters of {name}");
        let list = async move { queues.dead_list(&name, None, 1_000).await };
        self.call(what, list, move |world, answer| {
            if let Some(Ok(list)) = answer {
                let ids = list.letters.into_iter().map(|letter| letter.id);
                world.queues.letters.insert(life, ids.collect());
            }
            Ok(())
        });
    }

    fn some_letters(&mut self, life: usize) -> Vec<MessageId> {
        let letters = self.queues.letters.get(&life).cloned().unwrap_or_default();
        letters
            .into_iter()
            .filter(|_| self.chance.percent(40))
            .collect()
    }

    fn redrive(&mut self, life: usize) {
        let ids = self.some_letters(life);
        let which = match ids.is_empty() || self.chance.percent(50) {
            true => DeadSelection::All,
            false => DeadSelection::Ids(ids),
        };
        let redrive = Redrive {
            which,
            rate: self.chance.pick(&[None, None, Some(500)]),
            is_dry_run: self.chance.percent(5),
            redrives_max: REDRIVES_MAX,
        };
        let name = self.queue_name(life);
        let queues = self.broker().queues().clone();
        let what = format!("{name}: {redrive:?}");
        let redrive = async move { queues.redrive(&name, redrive).await };
        self.call(what, redrive, |world, answer| {
            world.note_done(answer);
            Ok(())
        });
    }

    fn discard(&mut self, life: usize) {
        let ids = self.some_letters(life);
        if ids.is_empty() {
            return;
        }
        let spots = ids.iter().map(spot_of);
        self.queues.discarded.extend(spots);
        let name = self.queue_name(life);
        let queues = self.broker().queues().clone();
        let what = format!("{name}: discard {ids:?}");
        let discard = async move { queues.discard(&name, DeadSelection::Ids(ids)).await };
        self.call(what, discard, |world, answer| {
            if let Some(Ok(done)) = &answer {
                world.reached.discarded += done.done;
            }
            world.note_done(answer);
            Ok(())
        });
    }

    fn note_done(&mut self, answer: Option<Result<DeadDone, QueueError>>) {
        match answer {
            Some(Ok(done)) => self.trace.line(&format!("{done:?}")),
            Some(Err(error)) => self.trace.line(&error.to_string()),
            None => {}
        }
    }
}
