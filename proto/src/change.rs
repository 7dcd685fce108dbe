//! A changing request, and what it says of who asks.

mod acquire_lease;
mod adopt;
mod collections;
mod controller_revisions;
mod forget_resource;
mod join;
mod lease_candidates;
mod leave;
mod migrations;
mod objects;
mod ready;
mod release_lease;
mod renew;
mod renew_lease;
mod report;
mod rosters;
mod sessions;
mod transact;
mod update_settings;

pub(crate) use acquire_lease::lease_key;
pub(crate) use controller_revisions::{history_from_wire, named as named_revision};
pub use renew_lease::LeaseRenewal;
use synod_model::{
    ClusterId, Epoch, ErrorKind, MemberId, Refusal, RequestId, Revision, Sequence, SessionId,
    StatementNumber, Violations,
};

use crate::fields::{cluster, required, sound};
use crate::v1;

/// A changing request: what is asked, what makes it exactly-once, and which cluster gave the numbers in it.
///
/// Each changing request of the protocol converts to the `Change` of its typed request and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<T> {
    /// The exactly-once key; `None` for a caller without a session.
    pub key: Option<RequestId>,
    /// The cluster that gave the session. `None`: the caller does not say, so it is not checked.
    pub session_cluster: Option<ClusterId>,
    /// The cluster that gave the epoch under which the member speaks. `None`: the caller does not say.
    pub epoch_cluster: Option<ClusterId>,
    /// The cluster that gave the fencing token under which is written, or the claim under which a worker speaks. `None`:
    /// the caller does not say.
    pub token_cluster: Option<ClusterId>,
    /// What is asked.
    pub body: T,
}

impl<T> Change<T> {
    /// The request of a caller without a session, who does not say which cluster it means.
    pub fn new(body: T) -> Self {
        Self {
            key: None,
            session_cluster: None,
            epoch_cluster: None,
            token_cluster: None,
            body,
        }
    }

    /// Whether the numbers in the request were given by this cluster: under another one they mean something else.
    ///
    /// # Errors
    ///
    /// `REQUEST_EXPIRED` for a session, `NOT_A_MEMBER` for an epoch and `STALE_EPOCH` for a fencing token of another
    /// cluster: the answers that a restored cluster gives for what it no longer knows.
    pub fn check_cluster(&self, present: ClusterId) -> Result<(), Refusal> {
        check_session_cluster(self.session_cluster, present)?;
        check_token_cluster(self.token_cluster, present)?;
        match self.epoch_cluster {
            Some(cluster) if cluster != present => {
                let message = format!(
                    "the epoch was given by cluster {cluster}, this is {present}: join again"
                );
                Err(Refusal::new(ErrorKind::NotAMember, message))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The exactly-once key as it is sent; `None` for a caller without a session.
    #[must_use]
    pub fn wire_key(&self) -> Option<v1::RequestId> {
        self.key.map(|key| v1::RequestId {
            session: key.session.get(),
            sequence: key.sequence.get(),
            lowest_unanswered: key.lowest_unanswered.get(),
            cluster_id: named(self.session_cluster),
        })
    }

    /// The member who speaks, as it is sent.
    fn wire_member(&self, member: &MemberId, epoch: Epoch) -> Option<v1::MemberEpoch> {
        let cluster_id = named(self.epoch_cluster);
        Some(v1::MemberEpoch {
            member: member.to_string(),
            epoch: epoch.get(),
            cluster_id,
        })
    }
}

/// Whether a fencing token is of this cluster.
fn check_token_cluster(cluster: Option<ClusterId>, present: ClusterId) -> Result<(), Refusal> {
    match cluster {
        Some(cluster) if cluster != present => {
            let message = format!(
                "the fencing token was given by cluster {cluster}, this is {present}: whoever acted under it must stop"
            );
            Err(Refusal::new(ErrorKind::StaleEpoch, message))
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether a session is of this cluster.
pub(crate) fn check_session_cluster(
    cluster: Option<ClusterId>,
    present: ClusterId,
) -> Result<(), Refusal> {
    match cluster {
        Some(cluster) if cluster != present => {
            let message = format!(
                "the session was opened in cluster {cluster}, this is {present}: open another"
            );
            Err(Refusal::new(ErrorKind::RequestExpired, message))
        }
        Some(_) | None => Ok(()),
    }
}

/// A cluster as it is sent; empty if none is named.
pub(crate) fn named(cluster: Option<ClusterId>) -> String {
    cluster
        .map(|cluster| cluster.to_string())
        .unwrap_or_default()
}

/// An exactly-once key and the cluster that gave its session.
#[derive(Default)]
struct Key {
    id: Option<RequestId>,
    cluster: Option<ClusterId>,
}

/// Reads the field `requestId`.
fn key(pb: Option<v1::RequestId>, found: &mut Violations) -> Key {
    pb.and_then(|pb| found.parsed("requestId", parse_key(&pb)))
        .unwrap_or_default()
}

fn parse_key(pb: &v1::RequestId) -> Result<Key, Violations> {
    const POSITIVE: &str = "must be at least 1";
    let mut found = Violations::new();
    let session = SessionId::new(Revision::new(pb.session));
    found.parsed("session", session.check());
    let sequence = found.parsed("sequence", required(Sequence::new(pb.sequence), POSITIVE));
    let lowest = found.parsed(
        "lowestUnanswered",
        required(Sequence::new(pb.lowest_unanswered), POSITIVE),
    );
    let cluster = found.parsed("clusterId", cluster(&pb.cluster_id)).flatten();
    let (Some(sequence), Some(lowest), true) = (sequence, lowest, found.is_empty()) else {
        return Err(found);
    };
    let id = Some(RequestId::new(session, sequence, lowest)?);
    Ok(Key { id, cluster })
}

/// A member who speaks, under which epoch, and the cluster that gave it.
struct Speaker {
    member: MemberId,
    epoch: Epoch,
    cluster: Option<ClusterId>,
}

/// Reads the field `member`.
fn speaker(pb: Option<v1::MemberEpoch>, found: &mut Violations) -> Option<Speaker> {
    found.parsed("member", parse_speaker(pb))
}

fn parse_speaker(pb: Option<v1::MemberEpoch>) -> Result<Speaker, Violations> {
    let pb = required(pb, "must say who speaks, and under which epoch")?;
    let mut found = Violations::new();
    let member = found.parsed("member", MemberId::parse(&pb.member));
    let epoch = Epoch::new(Revision::new(pb.epoch));
    found.parsed("epoch", epoch.check());
    let cluster = found.parsed("clusterId", cluster(&pb.cluster_id)).flatten();
    let Some(member) = member else {
        return Err(found);
    };
    sound(
        Speaker {
            member,
            epoch,
            cluster,
        },
        found,
    )
}

/// Reads the field `number` of what a member says.
fn statement(number: u64, found: &mut Violations) -> Option<StatementNumber> {
    const RULE: &str =
        "must be at least 1, and greater than in all that the member has said under its epoch";
    found.parsed("number", required(StatementNumber::new(number), RULE))
}

#[cfg(test)]
mod tests;
