//! How a command changes rosters, and what follows for resources when a roster asks for other members.

use std::sync::Arc;

use synod_model::{GroupResource, Labels, ResourceScope, Roster};

use super::Turn;
use crate::voting::{Cause, Occasion, recount};

impl Turn<'_> {
    pub(crate) fn put_roster(&mut self, roster: Roster) {
        let scope = roster.scope.clone();
        let after = Arc::new(roster);
        let before = self.state.rosters.insert(scope.clone(), Arc::clone(&after));
        self.record::<Roster>(scope, before, Some(after));
    }

    pub(crate) fn remove_roster(&mut self, scope: &ResourceScope) {
        let before = self.state.rosters.remove(scope);
        let before = before.expect("the command found the roster");
        self.record::<Roster>(scope.clone(), Some(before), None);
    }

    /// Re-evaluates the resources that the scope covers after its roster changed from `before`.
    pub(crate) fn follow_roster(&mut self, scope: &ResourceScope, before: Option<&Roster>) {
        let resources = self.state.storage_states.keys();
        let is_covered = |of: &&GroupResource| {
            let names = self.state.names(of).into_iter();
            names.into_iter().any(|name| scope.covers(&name))
        };
        let covered: Vec<_> = resources.filter(is_covered).cloned().collect();
        for resource in covered {
            let mut names = self.state.names(&resource).into_iter();
            let ever_reported = self.state.status(&resource).ever_reported;
            let asks_anew = names.any(|name| {
                let now = self.state.roster_over(&name, ever_reported);
                let mut then = ResourceScope::covering(&name).into_iter();
                let then = then.find_map(|one| match &one == scope {
                    true => before,
                    false => self.state.rosters.get(&one).map(|roster| &**roster),
                });
                now.is_some_and(|now| then.is_none_or(|then| now.rule.asks_more_than(&then.rule)))
            });
            self.follow(&resource, Some(Cause::Roster), asks_anew);
        }
    }

    /// Re-evaluates which members are missing for a resource.
    fn follow(&mut self, resource: &GroupResource, cause: Option<Cause<'_>>, asks_anew: bool) {
        let occasion = Occasion {
            cause,
            asks_anew,
            ..self.occasion()
        };
        if let Some(decided) = recount(self.state, occasion, resource) {
            self.carry_out(decided);
        }
    }

    /// Re-evaluates resources whose roster asks by labels, after members with these labels came, went or changed.
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
        let meant: Vec<_> = scopes
            .filter(|of| {
                let rosters = self.state.rosters_of(of);
                rosters.into_iter().any(|one| touched.contains(one))
            })
            .cloned()
            .collect();
        for resource in meant {
            self.follow(&resource, cause, false);
        }
    }

    /// The facts of this command for a decision without a particular cause.
    pub(crate) fn occasion(&self) -> Occasion<'static> {
        Occasion {
            revision: self.revision,
            wall: self.wall,
            cause: None,
            gone: None,
            lapses: None,
            asks_anew: false,
            passes: false,
            renamed: None,
        }
    }
}
