//! What has to follow from a switch that moved, and how far that has come.
//!
//! A command takes a bounded number of steps, and leaves the rest as a row; the leader sends the next one. Meanwhile the
//! switch is in force for everything that is new. What it does to rows of before it does lease by lease, or resource by
//! resource, in the order of their keys:
//!
//! - Places in queues are gone in the command that switches leases off, whether their rows are still there or not. No
//!   lease is given to one of them, also if leases are on again before the last is removed.
//! - A lease shows the preferred candidate of before, or is not given to the candidates for it yet.
//! - What the votes for a resource call for is selected, and the migration that its agreement calls for is created, with
//!   its next report, or when its turn comes.

use synod_model::{Feature, Revision, Switch, Ticket};

use crate::hashes::aftermath_hash;
use crate::turn::Turn;
use crate::{Aftermath, State};

impl State {
    /// The features whose switches moved, with more to follow from it: [`Command::FollowSwitches`](crate::Command)
    /// continues.
    pub fn aftermaths(&self) -> impl Iterator<Item = &Aftermath> {
        self.aftermaths.values()
    }

    /// What has to follow when the switch of a feature has moved, if anything has to.
    pub(crate) fn follows(&self, feature: Feature, now: Switch, at: Revision) -> Option<Aftermath> {
        match (feature, now) {
            (Feature::Votes, Switch::On) => Some(Aftermath::Votes { next: None }),
            (Feature::Leases, Switch::Off) => Some(Aftermath::Leases {
                next: None,
                ended: at,
            }),
            (Feature::Leases, Switch::On) => Some(Aftermath::Leases {
                next: None,
                ended: self.places_ended(),
            }),
            (Feature::Migrations, Switch::On) => Some(Aftermath::Migrations { next: None }),
            (Feature::Votes | Feature::Migrations, Switch::Off)
            | (Feature::Objects | Feature::Histories, _) => None,
        }
    }

    /// Whether a place in a queue is gone because leases were switched off, though its row is still there.
    pub(crate) fn is_place_ended(&self, ticket: Ticket) -> bool {
        ticket.revision() <= self.places_ended()
    }

    /// Places in queues with tickets up to this revision are gone; zero if none is.
    pub(crate) fn places_ended(&self) -> Revision {
        match self.aftermaths.get(&Feature::Leases) {
            Some(Aftermath::Leases { ended, .. }) => *ended,
            Some(Aftermath::Votes { .. } | Aftermath::Migrations { .. }) | None => Revision::ZERO,
        }
    }
}

impl Turn<'_> {
    /// Notes what still has to follow from a switch.
    pub(crate) fn put_aftermath(&mut self, after: Aftermath) {
        self.add(aftermath_hash(&after));
        let before = self.aftermaths().insert(after.feature(), after);
        if let Some(before) = before {
            self.subtract(aftermath_hash(&before));
        }
    }

    /// Forgets what had to follow from the switch of a feature: it is done, or the switch has moved back.
    pub(crate) fn remove_aftermath(&mut self, feature: Feature) {
        if let Some(before) = self.aftermaths().remove(&feature) {
            self.subtract(aftermath_hash(&before));
        }
    }
}
