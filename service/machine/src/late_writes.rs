//! The rule of late writes of migration workers: what a worker may still write after its claim has ended.
//!
//! A rewrite is conditional on what the worker has listed, so one that is late still succeeds, and stores an encoding that
//! nobody agrees on any more. So the target of every claim that ends without success drains: other claims wait for it, and
//! questions name it. The drains are kept by claim, since a fence in the store can stop the one worker and not the other.

use std::collections::BTreeMap;

use synod_model::limits::CLAIM_DRAINS_MAX;
use synod_model::{
    ApiVersion, ClaimToken, EVIDENCE_SINCE, GroupResource, LogTime, Migration, MigrationTarget,
    StorageVersionHash, Walk, WorkerStop,
};

use crate::turn::{Then, Turn};
use crate::voting::raise_drains;
use crate::{ClaimDrain, Holder, State, StateStatus};

/// How a claim ends without the success of its migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimEnd {
    /// The worker says it.
    ByWorker(WorkerStop),
    /// The claim has run out, and no worker starts a rewrite after that.
    Expired,
    /// Somebody else ends it: the worker may go on until its claim would have run out.
    ByOthers,
}

impl ClaimEnd {
    /// The end of a claim in whose name this was said.
    pub(crate) fn said(stop: Option<WorkerStop>) -> Self {
        stop.map_or(Self::ByOthers, Self::ByWorker)
    }
}

impl Turn<'_> {
    /// Raises the drain of a migration's claim, which ends. The deadline of the claim must still be there.
    pub(crate) fn drain_claim(&mut self, migration: &Migration, end: ClaimEnd) {
        let Some(claim) = &migration.claim else {
            return;
        };
        let state = self.state();
        let now = state.log_time;
        let starts_until = match end {
            ClaimEnd::ByWorker(WorkerStop::AllAnswered) => return,
            ClaimEnd::ByWorker(WorkerStop::SomeUnanswered) | ClaimEnd::Expired => now,
            ClaimEnd::ByOthers => {
                let holder = Holder::Claim(migration.id.clone());
                // A worker's reports are all in the log, so no leader has promised it more.
                let deadline = state.deadlines.effective(&holder);
                deadline.expect("every claim has a deadline").max(now)
            }
        };
        let resource = migration.id.resource();
        if state.machine_version < EVIDENCE_SINCE || !state.topic_kind(resource).is_stored() {
            return;
        }
        let drain = ClaimDrain {
            worker: claim.worker.clone(),
            target: migration.target.clone(),
            until: starts_until.after(state.settings.write_grace),
            fenced: claim.fenced,
            walks: claim.walks,
        };
        let mut status = state.status(resource).clone();
        keep_drain(&mut status, now, claim.token, drain);
        self.put_storage_state_and(resource, status, None, Then::AbortOnly);
    }

    /// Removes the drain of a claim whose worker says that all its rewrites were answered. Returns whether there was one.
    pub(crate) fn lift_claim_drain(&mut self, resource: &GroupResource, token: ClaimToken) -> bool {
        let Some(kept) = self.state().state_of(resource) else {
            return false;
        };
        let mut status = kept.row.status.clone();
        let is_kept = status.claim_drains.remove(&token).is_some();
        if is_kept {
            self.put_storage_state_and(resource, status, None, Then::AbortOnly);
        }
        is_kept
    }
}

/// Adds the drain of a claim. Beyond the bound the one of the oldest claim counts as a write of a server: it holds back every
/// claim of another target, and no worker can lift it.
pub(crate) fn keep_drain(
    status: &mut StateStatus,
    now: LogTime,
    token: ClaimToken,
    drain: ClaimDrain,
) {
    status.claim_drains.retain(|_, kept| kept.until > now);
    status.claim_drains.insert(token, drain);
    if status.claim_drains.len() <= CLAIM_DRAINS_MAX {
        return;
    }
    let oldest = status.claim_drains.pop_first();
    let (_, ClaimDrain { target, until, .. }) = oldest.expect("there are more than the bound");
    match &target.version {
        Some(version) => raise_drains(status, [version], until),
        None => {
            let kept = status.hash_drains.entry(target.hash).or_insert(until);
            *kept = (*kept).max(until);
        }
    }
}

impl State {
    /// The log time until which a write in another encoding than the target may still reach the store and would be missed by a
    /// worker; `None` if none may. A fenced worker stops other fenced ones.
    pub(crate) fn drains_until(
        &self,
        resource: &GroupResource,
        target: &MigrationTarget,
        fenced: bool,
    ) -> Option<LogTime> {
        let status = &self.state_of(resource)?.row.status;
        let versions = status.drains.iter();
        let versions = versions.filter(|(version, _)| Some(*version) != target.version.as_ref());
        let hashes = status.hash_drains.iter();
        let hashes = hashes.filter(|(hash, _)| **hash != target.hash);
        let claims = status.claim_drains.values();
        let claims = claims.filter(|drain| drain.target.hash != target.hash);
        let claims = claims.filter(|drain| !(fenced && drain.fenced));
        // A collection counts what is rewritten in it.
        let claims = claims.filter(|drain| drain.walks != Some(Walk::Collection));
        versions
            .map(|(_, until)| *until)
            .chain(hashes.map(|(_, until)| *until))
            .chain(claims.map(|drain| drain.until))
            .chain(status.unknown_drain)
            .chain([self.strangers_write_until])
            .filter(|until| *until > self.log_time)
            .max()
    }
}

impl StateStatus {
    /// Takes over what claims have left that have ended since this status was decided. Nothing else changes their drains.
    pub(crate) fn keep_late_writes_of(&mut self, kept: &Self) {
        self.claim_drains = kept.claim_drains.clone();
        for (version, until) in &kept.drains {
            raise_drains(self, [version], *until);
        }
        for (hash, until) in &kept.hash_drains {
            let last = self.hash_drains.entry(*hash).or_insert(*until);
            *last = (*until).max(*last);
        }
    }

    /// The versions in which a write may still reach the store, by a server or a worker, and until when.
    pub(crate) fn late_versions(&self) -> BTreeMap<&ApiVersion, LogTime> {
        let mut all: BTreeMap<_, _> = self
            .drains
            .iter()
            .map(|(key, until)| (key, *until))
            .collect();
        for drain in self.claim_drains.values() {
            if let Some(version) = &drain.target.version {
                let kept = all.entry(version).or_insert(drain.until);
                *kept = drain.until.max(*kept);
            }
        }
        all
    }

    /// The same for encodings of which only the hash is known.
    pub(crate) fn late_hashes(&self) -> BTreeMap<StorageVersionHash, LogTime> {
        let mut all = self.hash_drains.clone();
        for drain in self.claim_drains.values() {
            if drain.target.version.is_none() {
                let kept = all.entry(drain.target.hash).or_insert(drain.until);
                *kept = drain.until.max(*kept);
            }
        }
        all
    }

    /// The late write that may come last: what it would write, in words, and until when.
    pub(crate) fn last_late_write(&self) -> Option<(String, LogTime)> {
        let versions = self.late_versions().into_iter();
        let versions = versions.map(|(version, until)| (version.to_string(), until));
        let hashes = self.late_hashes().into_iter();
        let hashes = hashes.map(|(hash, until)| (hash.to_string(), until));
        let unknown = self.unknown_drain.iter();
        let unknown = unknown.map(|until| ("versions that nobody can name".to_owned(), *until));
        let all = versions.chain(hashes).chain(unknown);
        all.max_by_key(|(_, until)| *until)
    }
}
