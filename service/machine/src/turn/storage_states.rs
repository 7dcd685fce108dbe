//! How a command changes the storage state of a resource, which stays when no member reports it.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::Vector;
use synod_model::{AgreementChange, GroupResource};

use super::Turn;
use crate::hashes::agreement_hash;
use crate::state::StorageState;
use crate::{Holder, StateStatus, StorageStateRow};

/// What the rule of migrations does after a change of a storage state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It aborts migrations without their agreement, and creates one if needed.
    Migrate,
    /// It creates none: a migration has just ended, or the command creates it itself.
    AbortOnly,
}

impl Turn<'_> {
    /// Changes a storage state, and adds a line to its history of agreements. The rule of migrations follows.
    pub(crate) fn put_storage_state(
        &mut self,
        resource: &GroupResource,
        status: StateStatus,
        line: Option<AgreementChange>,
    ) {
        self.put_storage_state_and(resource, status, line, Then::Migrate);
    }

    pub(crate) fn put_storage_state_and(
        &mut self,
        resource: &GroupResource,
        mut status: StateStatus,
        line: Option<AgreementChange>,
        then: Then,
    ) {
        assert_eq!(
            *self.state.first_name(resource),
            *resource,
            "what is kept of a store is kept under its first name"
        );
        let now = self.state.log_time;
        status.drains.retain(|_, until| *until > now);
        status.hash_drains.retain(|_, until| *until > now);
        status.claim_drains.retain(|_, drain| drain.until > now);
        status.unknown_drain = status.unknown_drain.filter(|until| *until > now);
        if self.state.remembers_encodings(resource) {
            status.remember_encodings(self.revision);
        }
        let kept = self.state.state_of(resource);
        // Removing drains that are already over does not count as a change.
        if line.is_none() && kept.is_some_and(|kept| kept.row.status == status) {
            return;
        }
        let before = kept.map(|state| Arc::clone(&state.row));
        let heartbeat = kept.and_then(|state| state.heartbeat);
        let mut agreements = kept
            .map(|state| state.agreements.clone())
            .unwrap_or_default();
        let metadata = self.metadata(before.as_ref().map(|row| &row.metadata));
        self.end_deadlines_of_looks(resource, &status);
        self.follow_time(resource, &status);
        let after = Arc::new(StorageStateRow { metadata, status });
        let caller = line.as_ref().and_then(|_| self.kept_caller());
        let agreement = line.map(|line| Arc::new(AgreementChange { caller, ..line }));
        if let Some(line) = &agreement {
            self.state.sum.add(agreement_hash(resource, line));
            agreements.push_back(Arc::clone(line));
            self.trim_agreements(resource, &mut agreements);
        }
        let status_before = before.as_ref().map(|row| &row.status);
        self.state
            .index_names(resource, status_before, Some(&after.status));
        self.state.storage_states.insert(
            resource.clone(),
            StorageState {
                row: Arc::clone(&after),
                agreements,
                heartbeat,
            },
        );
        let change = self.record::<StorageStateRow>(resource.clone(), before.clone(), Some(after));
        change.agreement = agreement;
        self.follow_agreement(resource, before.as_deref().map(|row| &row.status), then);
    }

    /// Clears the deadlines of the looks that there are no more.
    fn end_deadlines_of_looks(&mut self, resource: &GroupResource, after: &StateStatus) {
        let kept = self.state.state_of(resource);
        let before = kept.map(|kept| Arc::clone(&kept.row));
        let before = before
            .iter()
            .flat_map(|row| row.status.look_holders(resource));
        let stays: BTreeSet<Holder> = after.look_holders(resource).collect();
        for holder in before.filter(|holder| !stays.contains(holder)) {
            self.clear_deadline(&holder);
        }
    }

    /// Removes the storage state of an unreported resource, with its history of agreements and its migrations.
    pub(crate) fn remove_storage_state(&mut self, resource: &GroupResource) {
        self.forget_migrations(resource);
        self.clear_deadline(&Holder::Topic(resource.clone()));
        let StorageState {
            row,
            agreements,
            heartbeat: _,
        } = self
            .state
            .storage_states
            .remove(resource)
            .expect("the command found the storage state");
        self.state.index_names(resource, Some(&row.status), None);
        for line in &agreements {
            self.state.sum.subtract(agreement_hash(resource, line));
        }
        self.record::<StorageStateRow>(resource.clone(), Some(row), None);
    }

    /// Removes the oldest lines beyond the setting. A lowered setting takes effect when the next line is added.
    fn trim_agreements(
        &mut self,
        resource: &GroupResource,
        agreements: &mut Vector<Arc<AgreementChange>>,
    ) {
        while agreements.len() as u64 > u64::from(self.state.settings.agreements_kept) {
            let Some(oldest) = agreements.pop_front() else {
                break;
            };
            self.state.sum.subtract(agreement_hash(resource, &oldest));
        }
    }
}
