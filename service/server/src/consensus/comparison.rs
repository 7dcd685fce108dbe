//! Replicas compare digests of their states, so that a flipped bit in one of them is noticed.
//!
//! Every replica keeps digests at the same log indexes and asks the others for theirs. A replica whose state differs
//! from that of a majority ends. When the digests differ and no majority agrees, no one can tell which state is right:
//! writes are refused until a majority agrees. Only replicas with the same log are compared: where the committed logs
//! themselves differ, all refuse writes and no replica ends.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_machine::Digest;
use tokio::time::Instant;

use super::facade::ConsensusParts;
use super::fatal::Fatal;
use super::timing::Timed;
use super::{Position, ReplicaAddress, ReplicaId};

/// The time between two comparisons.
const PERIOD: Duration = Duration::from_secs(5);

/// The longest wait for another replica's digest.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The result of comparing the digests of one log index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DigestComparison {
    /// That replica's log has another committed entry at this index. A majority could end a replica that is right.
    Parted(ReplicaId),
    /// No digest differs, and too few replicas answered to know that a majority agrees.
    Silence,
    /// A majority agrees, this replica included.
    AmongMajority,
    /// A majority agrees, and this replica differs.
    InMinority,
    /// Digests differ, and no majority is known to agree.
    NoMajority,
}

/// Compares this replica's state with the others' every [`PERIOD`]. Never ends.
pub(super) async fn repeat(shared: &ConsensusParts) {
    loop {
        tokio::time::sleep(PERIOD).await;
        look_aside(shared).await;
        for mine in own_digests(shared) {
            if compare(shared, mine).await != DigestComparison::Silence {
                break;
            }
        }
    }
}

/// Compares the digest after this position with the other voters', and acts on what follows. Without one, the others are asked all
/// the same: replicas answer even when asked for an index that no one has, and the time that takes is measured.
async fn compare(shared: &ConsensusParts, mine: Option<(Position, Digest)>) -> DigestComparison {
    let me = shared.me.replica;
    let index = mine.map_or(0, |(position, _)| position.index);
    let voters = voters(shared);
    let mut found = BTreeMap::new();
    for (replica, address) in voters.iter().filter(|(replica, _)| **replica != me) {
        if let Some(digest) = ask(shared, *replica, address, index).await {
            found.insert(*replica, digest);
        }
    }
    let Some((position, digest)) = mine else {
        return DigestComparison::Silence;
    };
    let is_voter = voters.contains_key(&me);
    let compared = judge(&found, (position, digest), is_voter, voters.len());
    match compared {
        // The replica that differed may just not have answered: only a majority that agrees clears the doubt.
        DigestComparison::Silence => {}
        DigestComparison::Parted(replica) => shared.doubt.histories_parted(replica),
        DigestComparison::AmongMajority => note(shared, false).await,
        DigestComparison::NoMajority => note(shared, true).await,
        DigestComparison::InMinority => shared.alarm.raise(Fatal::Diverged {
            index: position.index,
        }),
    }
    compared
}

/// The digests to compare, one after the other, until one of them says something: the last one that is kept, and that of the
/// present state.
///
/// The present one is compared where nobody else keeps the other: a replica keeps none from before its start, and one that is
/// in doubt refuses writes, so that all logs end alike and no further digest would ever be kept. For the same reason a replica
/// in doubt compares the present one alone.
fn own_digests(shared: &ConsensusParts) -> Vec<Option<(Position, Digest)>> {
    let kept = shared.digests.all().last().copied();
    let published = shared.publisher.latest();
    let present = published.applied.map(|at| (at, published.state.digest()));
    match (kept, present) {
        (Some(kept), Some(present)) if shared.doubt.reason().is_none() && kept.0 != present.0 => {
            vec![Some(kept), Some(present)]
        }
        (kept, present) => vec![present.or(kept)],
    }
}

/// Notes whether the states differ without a majority that agrees, on the disk, too. A replica that cannot ends.
async fn note(shared: &ConsensusParts, differ: bool) {
    let doubt = shared.doubt.clone();
    let noted = shared.seams.offload.run(move || doubt.set(differ)).await;
    if let Err(error) = noted {
        shared.alarm.raise(Fatal::Storage(error.to_string()));
    }
}

/// Looks whether an operator has removed the damaged checkpoint that was put aside, which ends its alarm.
async fn look_aside(shared: &ConsensusParts) {
    let checkpoints = shared.checkpoints.clone();
    let looked = shared
        .seams
        .offload
        .run(move || checkpoints.store.look_aside());
    if let Err(error) = looked.await {
        tracing::warn!(%error, "cannot look for damaged checkpoints");
    }
}

fn voters(shared: &ConsensusParts) -> BTreeMap<ReplicaId, ReplicaAddress> {
    let metrics = shared.raft.server_metrics();
    let membership = metrics.borrow().membership_config.clone();
    let membership = membership.membership();
    let address = |id| {
        membership
            .get_node(&id)
            .map(|address| (id, address.clone()))
    };
    membership.voter_ids().filter_map(address).collect()
}

async fn ask(
    shared: &ConsensusParts,
    replica: ReplicaId,
    address: &ReplicaAddress,
    index: u64,
) -> Option<(Position, Digest)> {
    let asked = Instant::now();
    let link = shared.peers.link(replica, address);
    let response = link.digest(index, TIMEOUT).await.ok()?;
    shared
        .timing
        .took(Timed::PeerAnswered(replica), asked.elapsed());
    shared
        .memory
        .told(shared.me.directory, &response.remembered);
    response.digest
}

/// What follows from the digests of the other voters and this replica's own, which counts for a majority if it is a voter.
fn judge(
    others: &BTreeMap<ReplicaId, (Position, Digest)>,
    (position, mine): (Position, Digest),
    is_voter: bool,
    voters: usize,
) -> DigestComparison {
    let parted = others.iter().find(|(_, (theirs, _))| *theirs != position);
    if let Some((replica, _)) = parted {
        return DigestComparison::Parted(*replica);
    }
    let digests = || {
        let own = is_voter.then_some(&mine);
        others.values().map(|(_, digest)| digest).chain(own)
    };
    let count = |digest: &Digest| digests().filter(|other| *other == digest).count();
    if count(&mine) > voters / 2 {
        DigestComparison::AmongMajority
    } else if digests().all(|digest| *digest == mine) {
        DigestComparison::Silence
    } else if digests().any(|digest| count(digest) > voters / 2) {
        DigestComparison::InMinority
    } else {
        DigestComparison::NoMajority
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::Term;

    fn verdict(digests: [Option<u8>; 3]) -> DigestComparison {
        verdict_of(digests.map(|digest| Some((1, digest?))))
    }

    /// The result for digests that were taken after entries of these terms.
    fn verdict_of(found: [Option<(u64, u8)>; 3]) -> DigestComparison {
        let ids = (1..).map(ReplicaId::new);
        let found = ids.zip(found).filter_map(|(id, found)| {
            let (term, digest) = found?;
            let position = Position {
                term: Term::new(term),
                leader: ReplicaId::new(1),
                index: 256,
            };
            Some((id, (position, Digest::from_bytes([digest; 16]))))
        });
        let mut found: BTreeMap<_, _> = found.collect();
        let mine = found.remove(&ReplicaId::new(1)).expect("it has its own");
        judge(&found, mine, true, 3)
    }

    /// The result for a learner, whose own digest is the first one.
    fn of_learner(digests: [Option<u8>; 4]) -> DigestComparison {
        let at = Position {
            term: Term::new(1),
            leader: ReplicaId::new(1),
            index: 256,
        };
        let [mine, others @ ..] =
            digests.map(|digest| Some((at, Digest::from_bytes([digest?; 16]))));
        let ids = (1..).map(ReplicaId::new);
        let others = ids.zip(others).filter_map(|(id, found)| Some((id, found?)));
        judge(&others.collect(), mine.expect("it has its own"), false, 3)
    }

    #[test]
    fn a_learner_does_not_count_for_the_majority_that_it_is_held_against() {
        let of = of_learner;
        assert_eq!(
            of([Some(1), Some(1), Some(1), None]),
            DigestComparison::AmongMajority
        );
        assert_eq!(
            of([Some(1), Some(1), None, None]),
            DigestComparison::Silence
        );
        assert_eq!(
            of([Some(1), Some(1), Some(2), Some(2)]),
            DigestComparison::InMinority
        );
        assert_eq!(
            of([Some(1), Some(1), Some(2), None]),
            DigestComparison::NoMajority
        );
    }

    // Guarantee: D-10
    #[test]
    fn nobody_is_voted_out_for_a_log_that_the_others_do_not_have() {
        let parted = |id| DigestComparison::Parted(ReplicaId::new(id));
        assert_eq!(
            verdict_of([Some((1, 1)), Some((2, 2)), Some((2, 2))]),
            parted(2)
        );
        assert_eq!(
            verdict_of([Some((2, 2)), Some((2, 2)), Some((1, 1))]),
            parted(3)
        );
        assert_eq!(verdict_of([Some((1, 1)), None, Some((2, 1))]), parted(3));
    }

    #[test]
    fn the_one_that_differs_from_a_majority_is_wrong() {
        assert_eq!(
            verdict([Some(1), Some(2), Some(2)]),
            DigestComparison::InMinority
        );
        assert_eq!(
            verdict([Some(1), Some(1), Some(2)]),
            DigestComparison::AmongMajority
        );
    }

    #[test]
    fn without_a_majority_nobody_is_known_to_be_right() {
        assert_eq!(
            verdict([Some(1), Some(2), Some(3)]),
            DigestComparison::NoMajority
        );
        assert_eq!(
            verdict([Some(1), Some(2), None]),
            DigestComparison::NoMajority
        );
    }

    #[test]
    fn a_majority_that_agrees_is_enough() {
        assert_eq!(
            verdict([Some(1), Some(1), None]),
            DigestComparison::AmongMajority
        );
        assert_eq!(
            verdict([Some(1), Some(1), Some(1)]),
            DigestComparison::AmongMajority
        );
    }

    #[test]
    fn silence_neither_raises_a_doubt_nor_ends_one() {
        assert_eq!(verdict([Some(1), None, None]), DigestComparison::Silence);
    }
}
