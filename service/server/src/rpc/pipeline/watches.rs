//! The watches of one pipeline. Those that want the same and have caught up with one another share a cursor: an event is
//! looked up, encoded and sent once for all of them.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::AbortHandle;
use synod_model::Revision;

use super::answers::Answers;
use crate::rpc::admission::AdmissionSlot;
use crate::watch::{Cursor, Slot, Step, Wanted};

/// The open watches.
#[derive(Default)]
pub(super) struct WatchGroups {
    last: u64,
    groups: HashMap<u64, Group>,
    /// The group that has caught up, of each kind of watch.
    caught_up: HashMap<Arc<Wanted>, u64>,
    /// The group that each watch is in, by the number of the watch.
    of_number: HashMap<u64, u64>,
}

/// The watches that share a cursor.
struct Group {
    wanted: Arc<Wanted>,
    /// Everything up to this revision was delivered, or has begun to be.
    at: Revision,
    members: Vec<Member>,
    stepping: Option<AbortHandle>,
}

/// One watch.
struct Member {
    number: u64,
    /// It has everything up to this revision. It may be ahead of the group that it has joined.
    has: Revision,
    _slot: Slot,
    _place: AdmissionSlot,
}

/// The cursor of a group, while its next step is waited for.
pub(super) struct Stepping {
    group: u64,
    pub(super) cursor: Cursor,
}

impl WatchGroups {
    /// Whether there is a watch of this number.
    pub(super) fn has(&self, number: u64) -> bool {
        self.of_number.contains_key(&number)
    }

    /// Adds a watch, in a group of its own.
    pub(super) fn open(
        &mut self,
        number: u64,
        mut cursor: Cursor,
        place: AdmissionSlot,
    ) -> Box<Stepping> {
        self.last += 1;
        let member = cursor.take_slot().map(|slot| Member {
            number,
            has: Revision::ZERO,
            _slot: slot,
            _place: place,
        });
        let group = Group {
            wanted: Arc::new(cursor.wanted().clone()),
            at: cursor.seen(),
            members: member.into_iter().collect(),
            stepping: None,
        };
        self.groups.insert(self.last, group);
        self.of_number.insert(number, self.last);
        Box::new(Stepping {
            group: self.last,
            cursor,
        })
    }

    /// Notes how to give up the step that is waited for now.
    pub(super) fn stepping(&mut self, stepping: &Stepping, abort: AbortHandle) {
        if let Some(group) = self.groups.get_mut(&stepping.group) {
            group.stepping = Some(abort);
        }
    }

    /// Delivers what a step has brought. Returns the cursor if it goes on.
    pub(super) fn stepped(
        &mut self,
        stepping: Box<Stepping>,
        step: Step,
        answers: &mut Answers,
    ) -> Option<Box<Stepping>> {
        let Stepping { group: id, cursor } = &*stepping;
        let group = self.groups.get_mut(id)?;
        match step {
            Step::Message(message) => {
                let wants = |member: &&Member| message.is_news_after(member.has);
                let wanting = group.members.iter().filter(wants);
                let numbers = wanting.map(|member| member.number);
                cursor.sent(&message, numbers.clone().count());
                answers.event(numbers, message.pieces());
                group.at = group.at.max(message.revision());
                Some(stepping)
            }
            Step::CaughtUp => {
                group.at = group.at.max(cursor.seen());
                (!self.joins(*id)).then_some(stepping)
            }
            Step::Ended => {
                self.remove(*id);
                None
            }
        }
    }

    /// Joins a group that has caught up with another one that has and wants the same. False: it goes on by itself.
    fn joins(&mut self, id: u64) -> bool {
        let Some(group) = self.groups.get(&id) else {
            return false;
        };
        let (wanted, at) = (Arc::clone(&group.wanted), group.at);
        let other = *self.caught_up.entry(wanted).or_insert(id);
        let is_behind = |other: &&mut Group| other.at <= at;
        if other == id || self.groups.get_mut(&other).filter(is_behind).is_none() {
            return false;
        }
        let Some(joining) = self.groups.remove(&id) else {
            return false;
        };
        if let Some(joined) = self.groups.get_mut(&other) {
            for mut member in joining.members {
                member.has = member.has.max(at);
                self.of_number.insert(member.number, other);
                joined.members.push(member);
            }
        }
        true
    }

    /// Ends a watch. False: there was none of this number.
    pub(super) fn cancel(&mut self, number: u64) -> bool {
        let Some(id) = self.of_number.remove(&number) else {
            return false;
        };
        if let Some(group) = self.groups.get_mut(&id) {
            group.members.retain(|member| member.number != number);
            if group.members.is_empty() {
                self.remove(id);
            }
        }
        true
    }

    fn remove(&mut self, id: u64) {
        let Some(group) = self.groups.remove(&id) else {
            return;
        };
        if self.caught_up.get(&group.wanted) == Some(&id) {
            self.caught_up.remove(&group.wanted);
        }
        if let Some(stepping) = group.stepping {
            stepping.abort();
        }
        for member in group.members {
            self.of_number.remove(&member.number);
        }
    }
}
