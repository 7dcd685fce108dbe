//! The leader finds what is past its deadline and proposes its removal, and continues what deletions and switches have left
//! to do.
//!
//! The proposal alone ends nothing: apply decides by the log time of the entry. So a leader that was deposed without
//! noticing expires nobody, and a look at a slightly old state does no harm. Whoever has renewed with the leader since is
//! not named, the command stands behind every renewal in the log's lane, and a renewal that is earlier in the log wins.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{
    CollectGarbage, Command, Due, Envelope, Expire, FollowSwitches, Holder, Outcome, State,
};
use synod_model::{ErrorKind, MemberId, Refusal};
use tokio::time::Instant;

use crate::consensus::Consensus;
use crate::limits::{
    DEADLINE_DEFAULT, EXPIRED_AT_ONCE_MAX, EXPIRED_ENTRIES_MAX, LOG_TIME_UNWRITTEN_MAX,
};
use crate::metrics::ProposerMetrics;
use crate::proposer::{Named, Proposer, Sequencer};
use crate::stop::Stop;
use crate::traces::Span;

/// Bytes of ControllerRevision snapshots that cost an expiry as much as one entry of a member.
const BYTES_PER_ENTRY: usize = 1 << 10;
/// How often a leader looks.
const PERIOD: Duration = Duration::from_millis(200);

/// The task that proposes expiries and garbage collection.
pub(crate) struct Expiry {
    pub(crate) consensus: Consensus,
    pub(crate) proposer: Proposer,
    pub(crate) sequencer: Sequencer,
    pub(crate) metrics: Arc<ProposerMetrics>,
}

impl Expiry {
    /// Looks repeatedly for as long as this replica leads, until `stop`.
    pub(crate) async fn run(self, stop: Stop) {
        tokio::select! {
            biased;
            () = stop.requested() => {}
            () = self.repeat() => {}
        }
    }

    async fn repeat(&self) {
        let mut leadership = self.consensus.leadership();
        loop {
            if !leadership.borrow_and_update().is_me {
                if leadership.changed().await.is_err() {
                    return;
                }
                continue;
            }
            let more = self.look().await;
            if !more {
                tokio::time::sleep(PERIOD).await;
            }
        }
    }

    /// Proposes to remove what is due, up to a bound. Returns whether there is more.
    async fn look(&self) -> bool {
        let Some(now) = self.sequencer.now() else {
            return false;
        };
        let bound = |state: &State, due| bounded(state, due, EXPIRED_ENTRIES_MAX);
        let Some(named) = self.sequencer.name_due(EXPIRED_AT_ONCE_MAX, bound) else {
            return false;
        };
        let published = self.consensus.published();
        let mut more = false;
        if !named.due.holders.is_empty() {
            // It comes first: members and holders wait for what is due, and nobody for what is left.
            more = self.expire(&published.state, named).await;
        } else if now.since(published.state.log_time()) >= LOG_TIME_UNWRITTEN_MAX {
            self.write_log_time().await;
        }
        self.go_on().await || more
    }

    /// Proposes to remove these holders. Returns whether there are more to remove.
    async fn expire(&self, state: &State, named: Named) -> bool {
        let holders = named.due.holders.len() as u64;
        let expire = name(state, &named.due);
        match self.propose(Command::Expire(expire)).await {
            Ok(outcome) => {
                tracing::info!(holders, revision = %outcome.revision, changed = outcome.changed, "expired");
                self.sequencer.expired(&named);
                self.metrics.expired(holders);
                named.due.more
            }
            Err(refusal) => {
                tracing::debug!(%refusal, "the expiry has no outcome");
                // It may still be applied if its outcome is unknown: then the holders stay named.
                if refusal.kind != ErrorKind::UnknownOutcome {
                    self.sequencer.expired(&named);
                }
                false
            }
        }
    }

    /// Proposes an expiry of nobody, so that the log holds the log time: drains end by it, and the next leader counts on
    /// from it. Renewals that are kept write nothing.
    async fn write_log_time(&self) {
        let nobody = Command::Expire(Expire::default());
        if let Err(refusal) = self.propose(nobody).await {
            tracing::debug!(%refusal, "the log time was not written");
        }
    }

    /// Proposes one command for what deletions have left, and one for what switches have. Returns whether one was executed:
    /// then there may be more.
    async fn go_on(&self) -> bool {
        let state = self.consensus.published().state.clone();
        let mut more = false;
        if state.has_garbage() {
            let collect = Command::CollectGarbage(CollectGarbage {});
            more |= self.leaves_less(collect).await;
        }
        if state.aftermaths().next().is_some() {
            let follow = Command::FollowSwitches(FollowSwitches {});
            more |= self.leaves_less(follow).await;
        }
        more
    }

    /// Proposes one command that does a part of what is left. Returns whether it was executed.
    async fn leaves_less(&self, command: Command) -> bool {
        let name = command.name();
        match self.propose(command).await {
            Ok(outcome) => {
                tracing::debug!(command = ?name, revision = %outcome.revision, "did a part of what was left");
                true
            }
            Err(refusal) => {
                tracing::debug!(command = ?name, %refusal, "what is left was not done, and is tried again");
                false
            }
        }
    }

    async fn propose(&self, command: Command) -> Result<Outcome, Refusal> {
        let envelope = Envelope {
            actor: None,
            request: None,
            command: Arc::new(command),
        };
        let deadline = Instant::now() + DEADLINE_DEFAULT;
        self.proposer
            .execute(&envelope, deadline, Arc::from("expiry"), &Span::default())
            .await
    }
}

/// Keeps only the first holders that together have at most `entries_max` entries: a log entry that takes longer than an
/// election timeout to apply would depose the leader. The first holder is always kept.
fn bounded(state: &State, due: Due, entries_max: usize) -> Due {
    let mut entries = 0;
    let fitting = due.holders.iter().take_while(|holder| {
        let first = entries == 0;
        entries += match holder {
            Holder::Member(id) => state.entry_count(id) + marks_of(state, id),
            Holder::Unreported(id) => state.entry_count(id),
            Holder::Object(_)
            | Holder::Claim(_)
            | Holder::Retry(_)
            | Holder::Observation(_)
            | Holder::Look(..)
            | Holder::Mark(..)
            | Holder::Topic(_) => 1,
            Holder::Session(_)
            | Holder::Lease(_)
            | Holder::LeaseWaiter(..)
            | Holder::LeaseCandidate(..) => 0,
        };
        first || entries <= entries_max
    });
    let fitting = fitting.count();
    Due {
        more: due.more || fitting < due.holders.len(),
        holders: due.holders.into_iter().take(fitting).collect(),
    }
}

/// The cost, in entries, of removing the member's marks from ControllerRevisions: each snapshot costs by its length.
fn marks_of(state: &State, id: &MemberId) -> usize {
    let (count, bytes) = state.marked_by_member(id);
    count + bytes / BYTES_PER_ENTRY
}

/// Names the holders together with the epochs seen, so that a member that has joined again since is not expired.
fn name(state: &State, due: &Due) -> Expire {
    let present = state.present();
    let mut expire = Expire::default();
    for holder in &due.holders {
        match holder {
            Holder::Member(id) => {
                expire
                    .members
                    .extend(present.member(id).map(|member| (id.clone(), member.epoch)));
            }
            Holder::Unreported(id) => {
                expire
                    .unreported
                    .extend(present.member(id).map(|member| (id.clone(), member.epoch)));
            }
            Holder::Lease(key) => {
                let lease = present.lease(key);
                expire
                    .leases
                    .extend(lease.map(|lease| (key.clone(), lease.metadata.resource_version)));
            }
            Holder::LeaseWaiter(key, ticket) => {
                expire.lease_waiters.insert((key.clone(), *ticket));
            }
            Holder::LeaseCandidate(key, identity) => {
                expire
                    .lease_candidates
                    .insert((key.clone(), identity.clone()));
            }
            Holder::Claim(id) => {
                let claim = present.migration(id).and_then(|kept| kept.claim.clone());
                expire
                    .claims
                    .extend(claim.map(|claim| (id.clone(), claim.token)));
            }
            Holder::Retry(id) => {
                expire.retries.insert(id.clone());
            }
            Holder::Session(id) => {
                expire.sessions.insert(*id);
            }
            Holder::Observation(resource) => {
                expire.observations.insert(resource.clone());
            }
            Holder::Look(resource, observer) => {
                expire.looks.insert((resource.clone(), observer.clone()));
            }
            Holder::Object(key) => {
                expire.objects.insert(key.clone());
            }
            Holder::Mark(key, mark) => {
                expire.marks.insert((key.clone(), mark.clone()));
            }
            Holder::Topic(resource) => {
                expire.topics.insert(resource.clone());
            }
        }
    }
    expire
}

#[cfg(test)]
mod tests {
    use synod_model::LogTime;

    use super::*;
    use crate::samples;

    #[test]
    fn an_expiry_is_bounded_by_what_it_takes_away_and_never_empty() {
        let mut state = samples::state();
        for id in ["a", "b", "c"] {
            samples::reports(&mut state, id, &["pods", "nodes", "jobs"]);
        }
        let far = LogTime::from_millis(1_000_000);
        let due = || state.due(far, EXPIRED_AT_ONCE_MAX);
        assert_eq!(due().holders.len(), 3);
        for (entries_max, holders) in [(1, 1), (5, 1), (6, 2), (8, 2), (9, 3)] {
            let bounded = bounded(&state, due(), entries_max);
            assert_eq!(bounded.holders, due().holders[..holders]);
            assert_eq!(bounded.more, holders < 3, "{entries_max} entries");
        }
    }
}
