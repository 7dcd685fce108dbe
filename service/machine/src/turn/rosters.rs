//! The rows of rosters, and what follows when whom they ask for changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_model::{GroupResource, Labels, ResourceScope, Roster};

use super::Turn;
use crate::Change;
use crate::digest::roster_hash;
use crate::voting::{Cause, Occasion, recount};

impl Turn<'_> {
    pub(crate) fn put_roster(&mut self, roster: Roster) {
        self.moved = true;
        let scope = roster.scope.clone();
        let after = Arc::new(roster);
        self.state.sum.add(roster_hash(&after));
        let before = self.state.rosters.insert(scope.clone(), Arc::clone(&after));
        if let Some(before) = &before {
            self.state.sum.subtract(roster_hash(before));
        }
        self.changes.push(Change::Roster {
            scope,
            before,
            after: Some(after),
        });
    }

    pub(crate) fn remove_roster(&mut self, scope: &ResourceScope) {
        self.moved = true;
        let before = self
            .state
            .rosters
            .remove(scope)
            .expect("the command found the roster");
        self.state.sum.subtract(roster_hash(&before));
        self.changes.push(Change::Roster {
            scope: scope.clone(),
            before: Some(before),
            after: None,
        });
    }

    /// Follows for the resources that are meant who is missing of them now.
    pub(crate) fn follow_rosters(
        &mut self,
        cause: Option<Cause<'_>>,
        is_meant: impl Fn(&GroupResource) -> bool,
    ) {
        let resources = self.state.storage_states.keys();
        let meant: Vec<_> = resources.filter(|of| is_meant(of)).cloned().collect();
        for resource in meant {
            let occasion = Occasion {
                cause,
                ..self.occasion()
            };
            if let Some(decided) = recount(self.state, occasion, &resource) {
                self.carry_out(decided);
            }
        }
    }

    /// Follows the rosters that ask for members by labels, after members with such labels came, went or changed them.
    pub(crate) fn follow_labels(&mut self, cause: Option<Cause<'_>>, labels: &[&Labels]) {
        let asks = |roster: &Roster| {
            let rule = &roster.rule;
            rule.asks_by_labels() && labels.iter().any(|labels| rule.labels.matches(labels))
        };
        let rosters = self.state.rosters.values();
        let touched: Vec<_> = rosters.filter(|roster| asks(roster)).cloned().collect();
        if touched.is_empty() {
            return;
        }
        let scopes = self.state.storage_states.keys();
        let meant: BTreeSet<_> = scopes
            .filter(|of| {
                self.state
                    .roster_of(of)
                    .is_some_and(|one| touched.contains(one))
            })
            .cloned()
            .collect();
        self.follow_rosters(cause, |resource| meant.contains(resource));
    }

    /// The facts of this command for a decision that nothing in particular is the cause of.
    pub(crate) fn occasion(&self) -> Occasion<'static> {
        Occasion {
            revision: self.revision,
            wall: self.wall,
            cause: None,
            gone: None,
            lapses: false,
        }
    }
}
