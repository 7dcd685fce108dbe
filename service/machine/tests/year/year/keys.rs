//! Keys: how servers get them, and what must hold of them beside what holds of all that is agreed on: no key is called free
//! that somebody may still need.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use synod_machine::Command;
use synod_model::{Epoch, Report, Revision};

use super::World;
use crate::cluster::{About, RESOURCES, VOTED, about, number_of};
use crate::process::Release;
use crate::store::Version;

/// The server that is given a new key with the release that writes with it, and keeps none that it does not need: the
/// others prefer the key while this one lacks it.
const LATE: usize = 3;

/// What has to be needed for a question about free keys to have another answer than the one before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    revision: Revision,
    needed: BTreeSet<Version>,
    draining: BTreeSet<Version>,
}

impl World {
    /// What a server reads of what is voted on when it starts as this release.
    pub(super) fn given(&mut self, server: usize, release: Release) -> RangeInclusive<Version> {
        let all = release.reads();
        if about() != About::Keys || server != LATE {
            return all;
        }
        let key = release.about;
        match self.late_key.replace(key) {
            Some(had) if all.contains(&had) => had.min(key)..=had.max(key),
            _ => all,
        }
    }

    /// A server that was refused is given all keys of the release that it starts as.
    pub(super) fn is_given_all(&mut self, server: usize) {
        if server == LATE {
            self.late_key = None;
        }
    }

    /// The operator has all servers that hold this key write with it, without a restart.
    pub(super) fn turn_all(&mut self, key: Version) {
        if about() != About::Keys {
            return;
        }
        for place in &self.living {
            let process = &mut self.processes[*place];
            if process.holds(key) && process.is_reported {
                process.turns_to = Some(key);
            }
        }
    }

    /// A process votes for another key that it holds.
    pub(super) fn turn(&mut self, place: usize, epoch: Epoch) {
        let process = &mut self.processes[place];
        let Some(key) = process.turns_to else {
            return;
        };
        process.prefers = key;
        let report = Report {
            member: process.id(),
            epoch,
            number: process.next_number(),
            entries: vec![process.entry(VOTED)],
            replace: false,
        };
        if self.say(Command::Report(report)).is_some() {
            self.processes[place].turns_to = None;
            self.tally.turned += 1;
        }
    }

    /// A key or level that may be dropped by what is said, while an object is stored with it, a write with it may land, somebody
    /// writes with it, or what is gone may still do so.
    pub(super) fn throws_away(&mut self) -> Option<String> {
        let kept = self.cluster.kept(VOTED)?;
        let now = self.cluster.state.log_time();
        let mut needed = self.store.versions(VOTED);
        let flights = self.flights.keys().filter(|(of, _)| *of == VOTED);
        needed.extend(flights.map(|(_, key)| *key));
        let pens = self.living();
        needed.extend(pens.filter_map(|process| process.writes(VOTED, self.now)));
        let drains = kept.row.status.drains.iter();
        let draining = drains.filter(|(_, until)| **until > now);
        let draining: BTreeSet<Version> = draining.map(|(key, _)| number_of(key)).collect();
        needed.extend(&draining);
        let asked = Asked {
            revision: self.cluster.state.revision(),
            needed,
            draining,
        };
        if self.asked.as_ref() == Some(&asked) {
            return None;
        }
        let free = |key: &Version| self.cluster.calls_safe(VOTED, *key);
        if self.tally.free_keys == 0 {
            let mut others = (1..=8).filter(|key| !asked.needed.contains(key));
            self.tally.free_keys += u64::from(others.any(|key| free(&key)));
        }
        let thrown = asked.needed.iter().copied().find(free);
        let told = thrown.map(|thrown| {
            format!(
                "{} may need v{thrown}, which is called free; stored are {:?}, under way {:?}, draining {:?}",
                RESOURCES[VOTED],
                self.store.versions(VOTED),
                self.flights,
                asked.draining,
            )
        });
        self.asked = Some(asked);
        told
    }
}
