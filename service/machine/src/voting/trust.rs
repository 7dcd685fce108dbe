//! Whether what is persisted is known, or on trust.
//!
//! `persisted` holds what those may have written who spoke. Who did not speak may have written anything before, and only
//! a roster says that there is nobody else. So what is persisted is on trust from when a resource becomes known until a
//! migration under a roster ends, which rewrites all that is stored while nobody who writes is missing. It is on trust
//! again once nobody is asked for, somebody is asked for who was not, or a member comes that a roster asks for by its
//! labels and that has not spoken under it. A migration that was created before then may have passed by what they wrote.
//!
//! Who has spoken and goes sets nothing: what it may still write drains.

use synod_model::limits::HEARD_MAX;
use synod_model::{GroupResource, Revision, Roster};

use super::draft::Draft;
use crate::State;

impl Draft<'_> {
    /// A migration that was created at this revision has come to its end under a roster.
    pub(super) fn settle_trust(&mut self, created: Revision) {
        let since = &mut self.after.on_trust;
        *since = since.filter(|since| *since > created);
    }

    /// Follows what the entries and the roster are now.
    pub(super) fn follow_trust(&mut self, state: &State, resource: &GroupResource) {
        let roster = state.roster_of(resource);
        self.remember_who_spoke(roster.is_some_and(|roster| roster.rule.asks_by_labels()));
        let comes_anew = match roster {
            None => self.after.on_trust.is_none(),
            Some(roster) => {
                self.occasion.asks_anew
                    || (self.after.on_trust.is_none() && self.misses_a_stranger(state, roster))
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
        for (member, before) in &self.touched {
            if self.entries.contains_key(member) {
                heard.remove(member);
            } else if before.is_some() && heard.len() < HEARD_MAX {
                heard.insert(member.clone());
            }
        }
    }

    /// Whether somebody is missing whom the roster asks for by its labels alone, and who has never spoken under it. Whom
    /// it names has: else nothing would be known yet.
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
                && !self.entries.contains_key(id)
                && !rule.members.contains(id)
                && !self.after.heard.contains(id)
        })
    }
}
