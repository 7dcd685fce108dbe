//! The leader looks for what is past its deadline, and for what deletions have left to do, and has it removed.
//!
//! Nothing ends by this: apply decides, by the log time of the entry. So a leader that was deposed without noticing
//! expires nobody, and neither does a look at a state that is a little old. The command takes the lane of the renewals
//! and stands behind every one that the leader has received; a renewal that is earlier in the log wins.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{CollectGarbage, Command, Due, Envelope, Expire, Holder, Outcome, State};
use synod_model::Refusal;
use tokio::time::Instant;

use crate::consensus::Consensus;
use crate::limits::{DEADLINE_DEFAULT, EXPIRED_AT_ONCE_MAX};
use crate::metrics::ProposerMetrics;
use crate::proposer::{Proposer, Sequencer};
use crate::stop::Stop;

/// How often a leader looks.
const PERIOD: Duration = Duration::from_millis(200);

/// See the module.
pub(crate) struct Expiry {
    pub(crate) consensus: Consensus,
    pub(crate) proposer: Proposer,
    pub(crate) sequencer: Sequencer,
    pub(crate) metrics: Arc<ProposerMetrics>,
}

impl Expiry {
    /// Looks again and again, for as long as this replica leads, until `stop`.
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

    /// Has removed what is due, up to a bound. Answers whether there is more.
    async fn look(&self) -> bool {
        let Some((_, now)) = self.sequencer.now() else {
            return false;
        };
        let published = self.consensus.published();
        let garbage = published.state.has_garbage() && self.collect().await;
        let due = published.state.due(now, EXPIRED_AT_ONCE_MAX);
        if due.holders.is_empty() {
            return garbage;
        }
        let holders = due.holders.len() as u64;
        let expire = name(&published.state, &due);
        match self.propose(Command::Expire(expire)).await {
            Ok(outcome) => {
                tracing::info!(holders, revision = %outcome.revision, changed = outcome.changed, "expired");
                self.metrics.expired(holders);
                due.more || garbage
            }
            Err(refusal) => {
                tracing::debug!(%refusal, "the expiry has no outcome");
                false
            }
        }
    }

    /// Goes on with the dependents that deletions have left, by one command. Answers whether that was done.
    async fn collect(&self) -> bool {
        match self
            .propose(Command::CollectGarbage(CollectGarbage {}))
            .await
        {
            Ok(outcome) => {
                tracing::debug!(revision = %outcome.revision, "collected dependents of deleted objects");
                true
            }
            Err(refusal) => {
                tracing::debug!(%refusal, "the collection of garbage has no outcome");
                false
            }
        }
    }

    async fn propose(&self, command: Command) -> Result<Outcome, Refusal> {
        let envelope = Envelope {
            request: None,
            command: Arc::new(command),
        };
        let deadline = Instant::now() + DEADLINE_DEFAULT;
        self.proposer
            .execute(&envelope, deadline, Arc::from("expiry"))
            .await
    }
}

/// Names the holders together with the epochs that were seen: whoever has joined again since is not meant.
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
            Holder::Session(id) => {
                expire.sessions.insert(*id);
            }
            Holder::Object(key) => {
                expire.objects.insert(key.clone());
            }
        }
    }
    expire
}
