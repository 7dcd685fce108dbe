//! Decides whether `persisted` is known, or on trust.
//!
//! `persisted` holds what the reporting members may have written. A server that has not reported may have written
//! anything, and only a roster says that there is no such server. So `persisted` is on trust from when a resource
//! becomes known until a migration under a roster ends, which rewrites all that is stored while no writer is missing.
//! It is on trust again once no roster covers the resource, once the roster asks for a member that it did not ask for
//! before, or when a member joins that it asks for by labels and that has not reported under it. A migration created
//! earlier may have missed its writes.
//!
//! A member that has reported and goes does not put `persisted` on trust: what it may still write drains.

use std::time::Duration;

use synod_model::limits::HEARD_MAX;
use synod_model::{GroupResource, Revision, Roster};

use super::SuccessfulMigration;
use super::draft::Draft;
use crate::State;

impl Draft<'_> {
    /// Ends the trust after a migration that was created at this revision has ended under a roster.
    pub(super) fn settle_trust(&mut self, created: Revision) {
        let since = &mut self.after.on_trust;
        *since = since.filter(|since| *since > created);
    }

    /// Ends the assumptions that a migration makes true by its success: it has rewritten what was stored before it was claimed.
    pub(super) fn settle_doubts(&mut self, migrated: SuccessfulMigration, grace: Duration) {
        let after = &mut self.after;
        after.concluded_before = after
            .concluded_before
            .filter(|since| *since > migrated.created);
        if let Some(claimed) = migrated.claimed {
            after.said_stopped.retain(|_, until| *until > claimed);
            let absences = &mut after.short_absences;
            absences.retain(|_, absence| absence.returned.after(grace) > claimed);
        }
    }

    /// Updates `on_trust` and `heard` from the present entries and roster.
    pub(super) fn follow_trust(&mut self, state: &State, resource: &GroupResource) {
        let rosters = state.rosters_over(resource, self.after.ever_reported);
        let was_reported = self.before.is_some_and(|before| before.ever_reported);
        // A roster of one of its names may have left the store out that another one did not.
        let asked_before = state.rosters_over(resource, was_reported).len();
        let begins_to_ask = asked_before < rosters.len();
        self.remember_who_spoke(rosters.iter().any(|roster| roster.rule.asks_by_labels()));
        let mut all = rosters.iter();
        let comes_anew = match rosters.is_empty() {
            true => self.after.on_trust.is_none(),
            false => {
                self.occasion.asks_anew
                    || begins_to_ask
                    || (self.after.on_trust.is_none()
                        && all.any(|roster| self.misses_a_stranger(state, roster)))
            }
        };
        if comes_anew {
            self.after.on_trust = Some(self.occasion.revision);
        }
    }

    fn remember_who_spoke(&mut self, asks_by_labels: bool) {
        let heard = &mut self.after.heard;
        if !asks_by_labels || self.occasion.asks_anew {
            heard.clear();
        }
        if !asks_by_labels {
            return;
        }
        if self.is_renamed {
            let entries = &self.whole.entries;
            heard.retain(|member| !entries.contains_key(member));
        }
        for (member, before) in &self.touched {
            if self.whole.entries.contains_key(member) {
                heard.remove(member);
            } else if before.is_some() && heard.len() < HEARD_MAX {
                heard.insert(member.clone());
            }
        }
    }

    /// Whether a member is missing that the roster asks for by its labels alone, and that has never reported under it.
    /// A member that the roster names has reported: otherwise `persisted` would still be on trust.
    fn misses_a_stranger(&self, state: &State, roster: &Roster) -> bool {
        let rule = &roster.rule;
        if !rule.asks_by_labels() || self.after.absent.is_empty() {
            return false;
        }
        let mut members = state.members.values();
        members.any(|member| {
            let id = &member.id;
            let goes = self.occasion.gone.is_some_and(|gone| gone.contains(id));
            rule.labels.matches(&member.labels)
                && !goes
                && !self.whole.entries.contains_key(id)
                && !rule.members.contains(id)
                && !self.after.heard.contains(id)
        })
    }
}
