//! `FollowSwitches`: does more of what follows from switches that moved, up to the bound of one command.
//!
//! The command that moves a switch takes the first steps itself, so that of little nothing is left.

use std::ops::Bound;

use imbl::OrdMap;
use synod_model::limits::AFTERMATH_STEPS_MAX;
use synod_model::{Feature, GroupResource, LeaseKey, Refusal, Revision, Settings};

use super::succession::{Present, settle};
use crate::turn::Turn;
use crate::voting::decide;
use crate::{Aftermath, Answer, FollowSwitches, State};

pub(crate) fn apply(turn: &mut Turn<'_>, _: &FollowSwitches) -> Result<Answer, Refusal> {
    go_on(turn);
    Ok(Answer::Done)
}

/// Notes what follows from each switch that has moved, and begins with it.
pub(super) fn begin(turn: &mut Turn<'_>, before: &Settings) {
    for feature in Feature::ALL {
        let now = turn.state().settings().switch(feature);
        if before.switch(feature) == now {
            continue;
        }
        match turn.state().follows(feature, now, turn.revision()) {
            Some(aftermath) => turn.put_aftermath(aftermath),
            None => turn.remove_aftermath(feature),
        }
    }
    go_on(turn);
}

/// Takes steps until nothing is left, or the bound is reached.
fn go_on(turn: &mut Turn<'_>) {
    let mut steps = Steps(AFTERMATH_STEPS_MAX);
    let aftermaths: Vec<_> = turn.state().aftermaths().cloned().collect();
    for aftermath in aftermaths {
        let feature = aftermath.feature();
        let left = match aftermath {
            Aftermath::Votes { next } => {
                let next = count_votes(turn, &mut steps, next);
                next.map(|next| Aftermath::Votes { next: Some(next) })
            }
            Aftermath::Leases { next, ended } => {
                let next = go_through_leases(turn, &mut steps, next, ended);
                let left = |next| Aftermath::Leases {
                    next: Some(next),
                    ended,
                };
                next.map(left)
            }
            Aftermath::Migrations { next } => {
                let next = start_migrations(turn, &mut steps, next);
                next.map(|next| Aftermath::Migrations { next: Some(next) })
            }
        };
        match left {
            Some(left) => turn.put_aftermath(left),
            None => turn.remove_aftermath(feature),
        }
    }
}

/// The steps that the command may still take.
struct Steps(usize);

impl Steps {
    fn take(&mut self, steps: usize) {
        self.0 = self.0.saturating_sub(steps);
    }

    fn are_over(&self) -> bool {
        self.0 == 0
    }
}

/// Selects what the votes that were cast meanwhile call for. Returns the first resource that is left.
fn count_votes(
    turn: &mut Turn<'_>,
    steps: &mut Steps,
    mut next: Option<GroupResource>,
) -> Option<GroupResource> {
    while let Some(resource) = first_from(&turn.state().storage_versions, next.as_ref()) {
        if steps.are_over() {
            return Some(resource);
        }
        steps.take(1 + turn.state().storage_versions[&resource].entries.len());
        let decided = decide(turn.state(), turn.occasion(), &resource, &[]);
        let decided = decided.expect("only a report can be refused, and nothing is reported here");
        if let Some(decided) = decided {
            turn.carry_out(decided);
        }
        next = after(&turn.state().storage_versions, &resource);
        next.as_ref()?;
    }
    None
}

/// Ends the places in queues that a switch has ended, and lets each lease show who is preferred to its holder, or have one
/// of the candidates for it, as the switch now says. Holds and candidates stay until their deadlines. Returns the first
/// lease that is left.
fn go_through_leases(
    turn: &mut Turn<'_>,
    steps: &mut Steps,
    mut next: Option<LeaseKey>,
    ended: Revision,
) -> Option<LeaseKey> {
    while let Some(key) = first_contended(turn.state(), next.as_ref()) {
        loop {
            if steps.are_over() {
                return Some(key);
            }
            let queue = turn.state().leases.queues.get(&key);
            let first = queue.and_then(|queue| queue.by_ticket.keys().next().copied());
            let Some(ticket) = first.filter(|ticket| ticket.revision() <= ended) else {
                break;
            };
            steps.take(1);
            turn.remove_waiter(&key, ticket);
        }
        steps.take(1 + turn.state().leases.standing(&key));
        if turn.state().leases.standing(&key) > 0 {
            settle(turn, &key, Present::Stays);
        }
        let leases = &turn.state().leases;
        let queued = after(&leases.queues, &key);
        next = earlier(queued, after(&leases.candidates, &key));
        next.as_ref()?;
    }
    None
}

/// Creates the migrations that agreements called for meanwhile. One that somebody has called off is not had back. Returns
/// the first resource that is left.
fn start_migrations(
    turn: &mut Turn<'_>,
    steps: &mut Steps,
    mut next: Option<GroupResource>,
) -> Option<GroupResource> {
    while let Some(resource) = first_from(&turn.state().storage_states, next.as_ref()) {
        if steps.are_over() {
            return Some(resource);
        }
        steps.take(1 + turn.state().migrations_of(&resource).count());
        turn.migrate_unless_called_off(&resource);
        next = after(&turn.state().storage_states, &resource);
        next.as_ref()?;
    }
    None
}

/// The first lease, from this one on, that somebody waits or stands for.
fn first_contended(state: &State, from: Option<&LeaseKey>) -> Option<LeaseKey> {
    let queued = first_from(&state.leases.queues, from);
    earlier(queued, first_from(&state.leases.candidates, from))
}

fn earlier<K: Ord>(one: Option<K>, other: Option<K>) -> Option<K> {
    one.into_iter().chain(other).min()
}

fn first_from<K: Ord + Clone, V: Clone>(map: &OrdMap<K, V>, from: Option<&K>) -> Option<K> {
    let from = from.map_or(Bound::Unbounded, Bound::Included);
    first_in(map, from)
}

fn after<K: Ord + Clone, V: Clone>(map: &OrdMap<K, V>, key: &K) -> Option<K> {
    first_in(map, Bound::Excluded(key))
}

fn first_in<K: Ord + Clone, V: Clone>(map: &OrdMap<K, V>, from: Bound<&K>) -> Option<K> {
    let mut rest = map.range::<_, K>((from, Bound::Unbounded));
    rest.next().map(|(key, _)| key.clone())
}
