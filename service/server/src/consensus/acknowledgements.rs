//! The appends of this replica, as a leader, that other replicas have acknowledged, each credited to its own request.
//!
//! They prove that this replica leads: a replica that acknowledges an append had granted no higher vote when it received it.
//! openraft keeps such a record as well, which proves less: it credits an acknowledgement to every request that ends at the
//! acknowledged index, and some of them may have been sent after the one that was answered (`docs/internals/openraft.md`). Replicas answer
//! the appends of a stream in order, so here the n-th answer belongs to the n-th request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use synod_store::Vote;
use tokio::time::Instant;

use super::ReplicaId;
use super::types::{CommittedLeaderId, vote_of_store};
use crate::peer::messages::AppendResponse;
use crate::seams::watch;

/// The latest acknowledged append of each replica.
#[derive(Debug)]
pub(super) struct Acknowledgements {
    /// The order of the next stamp.
    next: AtomicU64,
    latest: watch::Sender<AcknowledgedAppends>,
}

/// The latest acknowledged append of each replica, at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct AcknowledgedAppends(BTreeMap<ReplicaId, AcknowledgedAppend>);

/// An acknowledged append.
#[derive(Clone, Copy, Debug)]
struct AcknowledgedAppend {
    /// The leader that sent it: this replica, in one of its terms.
    leader: CommittedLeaderId,
    sent: SendStamp,
}

/// A moment at this replica. Of two stamps, the one that was taken later is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SendStamp {
    /// Orders stamps that were taken within one tick of the clock.
    order: u64,
    at: Instant,
}

impl Acknowledgements {
    pub(super) fn new() -> Self {
        let (latest, _) = watch::channel(AcknowledgedAppends::default());
        Self {
            next: AtomicU64::new(0),
            latest,
        }
    }

    /// Stamps the present moment.
    pub(super) fn stamp(&self) -> SendStamp {
        SendStamp {
            order: self.next.fetch_add(1, Ordering::SeqCst),
            at: Instant::now(),
        }
    }

    /// Records the answer of a replica to an append by `vote` that was sent after `stamp` was taken.
    pub(super) fn record(
        &self,
        from: ReplicaId,
        vote: &Vote,
        stamp: SendStamp,
        response: &AppendResponse,
    ) {
        match response {
            // A replica looks at its log only after it has accepted the leader's vote.
            AppendResponse::Matched(_) | AppendResponse::Conflict(_) => {}
            AppendResponse::HigherVote(_) => return,
        }
        let leader = vote_of_store(vote).leader_id;
        self.latest.send_if_modified(|latest| {
            let is_newer = latest.0.get(&from).is_none_or(|known| known.sent < stamp);
            if is_newer {
                latest.0.insert(
                    from,
                    AcknowledgedAppend {
                        leader,
                        sent: stamp,
                    },
                );
            }
            is_newer
        });
    }

    /// Records that this replica begins to lead.
    pub(super) fn begin(&self, leader: CommittedLeaderId) {
        let begun = AcknowledgedAppend {
            leader,
            sent: self.stamp(),
        };
        self.latest.send_if_modified(|latest| {
            latest.0.insert(leader.node_id, begun);
            true
        });
    }

    /// The latest acknowledged append of each replica.
    pub(super) fn latest(&self) -> watch::Ref<'_, AcknowledgedAppends> {
        self.latest.borrow()
    }

    /// Follows the acknowledgements. The present ones count as seen.
    pub(super) fn subscribe(&self) -> watch::Receiver<AcknowledgedAppends> {
        self.latest.subscribe()
    }
}

impl SendStamp {
    /// The time since the stamp was taken.
    pub(super) fn elapsed(self) -> Duration {
        self.at.elapsed()
    }
}

impl AcknowledgedAppends {
    /// Returns when the last append was sent that `replica` acknowledged to this leader; of this leader itself, when it began to lead.
    /// `None` if there is none.
    pub(super) fn last_sent(
        &self,
        leader: CommittedLeaderId,
        replica: ReplicaId,
    ) -> Option<SendStamp> {
        let known = self.0.get(&replica)?;
        (known.leader == leader).then_some(known.sent)
    }

    /// The moment at which this leader was still followed by a quorum of each set of voters: each member of the quorum
    /// acknowledged an append that was sent then or later. The leader follows itself `now`. `None` if a quorum has acknowledged
    /// nothing.
    pub(super) fn quorum(
        &self,
        leader: CommittedLeaderId,
        voters: &[BTreeSet<ReplicaId>],
        now: SendStamp,
    ) -> Option<SendStamp> {
        let sent_to = |voter: &ReplicaId| {
            if *voter == leader.node_id {
                Some(now)
            } else {
                self.last_sent(leader, *voter)
            }
        };
        let quorum_of = |voters: &BTreeSet<ReplicaId>| {
            let mut sent: Vec<Option<SendStamp>> = voters.iter().map(sent_to).collect();
            sent.sort_unstable();
            // With this voter, a majority has acknowledged this append or a later one.
            let last = sent.len().checked_sub(voters.len() / 2 + 1)?;
            sent[last]
        };
        voters.iter().map(quorum_of).min()?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::Term;
    use crate::consensus::types::leader_id;

    const ME: ReplicaId = ReplicaId::new(1);
    const MATCHED: AppendResponse = AppendResponse::Matched(None);

    fn set<const N: usize>(ids: [u64; N]) -> BTreeSet<ReplicaId> {
        ids.map(ReplicaId::new).into()
    }

    fn vote(term: u64) -> Vote {
        Vote {
            term,
            leader: ME.get(),
            committed: true,
        }
    }

    /// Whether a quorum has acknowledged an append that was sent after `asked`.
    fn confirms(
        acknowledgements: &Acknowledgements,
        voters: &[BTreeSet<ReplicaId>],
        asked: SendStamp,
    ) -> bool {
        let leader = leader_id(Term::new(3), ME);
        let now = acknowledgements.stamp();
        let quorum = acknowledgements.latest().quorum(leader, voters, now);
        quorum.is_some_and(|quorum| quorum > asked)
    }

    fn acknowledges(acknowledgements: &Acknowledgements, replica: u64, term: u64) {
        let stamp = acknowledgements.stamp();
        acknowledgements.record(ReplicaId::new(replica), &vote(term), stamp, &MATCHED);
    }

    #[tokio::test]
    async fn an_answer_to_an_append_from_before_the_question_confirms_nothing() {
        let acknowledgements = Acknowledgements::new();
        let (sent, asked) = (acknowledgements.stamp(), acknowledgements.stamp());
        let two = ReplicaId::new(2);
        acknowledgements.record(two, &vote(3), sent, &MATCHED);
        assert!(!confirms(&acknowledgements, &[set([1, 2, 3])], asked));
        acknowledges(&acknowledgements, 2, 3);
        assert!(confirms(&acknowledgements, &[set([1, 2, 3])], asked));
        // An answer that comes late takes nothing back.
        acknowledgements.record(two, &vote(3), sent, &MATCHED);
        assert!(confirms(&acknowledgements, &[set([1, 2, 3])], asked));
    }

    #[tokio::test]
    async fn a_majority_of_each_set_of_voters_must_acknowledge() {
        let acknowledgements = Acknowledgements::new();
        let asked = acknowledgements.stamp();
        acknowledges(&acknowledgements, 2, 3);
        let confirmed = |voters: &[BTreeSet<ReplicaId>]| confirms(&acknowledgements, voters, asked);
        assert!(confirmed(&[set([1, 2])]));
        assert!(confirmed(&[set([1])]));
        assert!(!confirmed(&[set([1, 2, 3, 4])]));
        assert!(!confirmed(&[set([1, 2, 3]), set([1, 4, 5])]));
        // A leader that is no voter any more does not count itself.
        assert!(!confirmed(&[set([2, 3, 4])]));
        assert!(!confirmed(&[]));
        assert!(!confirmed(&[set([])]));
        acknowledges(&acknowledgements, 4, 3);
        assert!(confirmed(&[set([1, 2, 3]), set([1, 4, 5])]));
        assert!(confirmed(&[set([2, 3, 4])]));
    }

    #[tokio::test]
    async fn an_answer_to_another_term_or_another_answer_confirms_nothing() {
        let acknowledgements = Acknowledgements::new();
        let asked = acknowledgements.stamp();
        acknowledges(&acknowledgements, 2, 2);
        let higher = AppendResponse::HigherVote(vote(9));
        let stamp = acknowledgements.stamp();
        acknowledgements.record(ReplicaId::new(3), &vote(3), stamp, &higher);
        assert!(!confirms(&acknowledgements, &[set([1, 2, 3])], asked));
    }
}
