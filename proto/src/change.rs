//! Changing requests: the typed request, its exactly-once key, and the clusters that gave its session, epoch and token.

mod collections;
mod controller_revisions;
mod leases;
mod members;
mod migrations;
mod objects;
mod replica_set;
mod rosters;
mod sessions;
mod storage_versions;
mod transact;
mod update_settings;

pub use leases::LeaseRenewal;
pub use replica_set::{AddReplica, PromoteReplica, RemoveReplica, TransferLeader};
use synod_model::{ClusterId, ErrorKind, Refusal, RequestId, Violations};

use crate::wire::{Wire, read, sound};
use crate::{read_fields, v1};

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
    /// The cluster that gave the fencing token of the write, or the claim of the worker. `None`: the caller does not
    /// say.
    pub token_cluster: Option<ClusterId>,
    /// The typed request.
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

    /// Checks that this cluster gave the numbers in the request: numbers of another cluster mean something else here.
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
            cluster_id: self.session_cluster.to_wire(),
        })
    }

    /// The request with this key.
    fn of(key: Key, body: T) -> Self {
        Self {
            key: key.id,
            session_cluster: key.cluster,
            ..Self::new(body)
        }
    }

    /// The request as it is sent.
    fn sent<R: Request>(&self) -> R
    where
        T: Wire<R>,
    {
        let mut pb = self.body.to_wire();
        *pb.request_id() = self.wire_key();
        let Named { epoch, token } = pb.named();
        if let Some((_, cluster)) = epoch {
            *cluster = self.epoch_cluster.to_wire();
        }
        if let Some((_, cluster)) = token {
            *cluster = self.token_cluster.to_wire();
        }
        pb
    }

    /// The request that was sent.
    fn received<R: Request>(mut pb: R) -> Result<Self, Violations>
    where
        T: Wire<R>,
    {
        let mut found = Violations::new();
        let key = key(pb.request_id().take(), &mut found);
        let Named { epoch, token } = pb.named();
        let said = |named: Option<(&'static str, &mut String)>| {
            named.map(|(path, cluster)| (path, std::mem::take(cluster)))
        };
        let (epoch, token) = (said(epoch), said(token));
        let body = found.parsed("", T::of_wire(pb));
        let mut cluster = |said: Option<(&str, String)>| {
            let (path, text) = said?;
            cluster_of(path, Some(&text), &mut found)
        };
        let (epoch_cluster, token_cluster) = (cluster(epoch), cluster(token));
        let Some(body) = body else {
            return Err(found);
        };
        let change = Self {
            epoch_cluster,
            token_cluster,
            ..Self::of(key, body)
        };
        sound(change, found)
    }
}

/// A changing request, as it is sent.
trait Request {
    /// Its exactly-once key.
    fn request_id(&mut self) -> &mut Option<v1::RequestId>;

    /// The fields that name the clusters that gave the numbers in it.
    fn named(&mut self) -> Named<'_>;
}

/// The paths and the fields that name the cluster that gave the member's epoch, and the one that gave the token or
/// claim.
#[derive(Default)]
struct Named<'a> {
    epoch: Option<(&'static str, &'a mut String)>,
    token: Option<(&'static str, &'a mut String)>,
}

/// Implements both conversions between the messages of changing requests and a [`Change`]. After the typed request a
/// row names the field with the member's epoch (`epoch`), the worker's claim (`token`) or the tie of a mark (`tie`), or
/// says that the request has `fences`.
macro_rules! requests {
    ($($pb:ty = $of:ty $(, $named:ident $($field:ident)?)?;)*) => { $(
        impl $crate::change::Request for $pb {
            fn request_id(&mut self) -> &mut Option<v1::RequestId> {
                &mut self.request_id
            }

            fn named(&mut self) -> $crate::change::Named<'_> {
                $crate::change::requests!(@named self $(, $named $($field)?)?)
            }
        }

        impl From<&Change<$of>> for $pb {
            fn from(change: &Change<$of>) -> Self {
                change.sent()
            }
        }

        impl TryFrom<$pb> for Change<$of> {
            type Error = synod_model::Violations;

            fn try_from(pb: $pb) -> Result<Self, synod_model::Violations> {
                Self::received(pb)
            }
        }
    )* };
    (@named $pb:ident) => {
        $crate::change::Named::default()
    };
    (@named $pb:ident, fences) => {
        $crate::change::fences($pb.fences.as_mut())
    };
    (@named $pb:ident, tie $field:ident) => {
        $crate::change::tie(concat!(stringify!($field), ".member"), $pb.$field.as_mut())
    };
    (@named $pb:ident, $named:ident $field:ident) => {
        $crate::change::Named {
            $named: $pb.$field.as_mut().map(|it| (stringify!($field), &mut it.cluster_id)),
            ..Default::default()
        }
    };
}

use requests;

fn fences(pb: Option<&mut v1::Fences>) -> Named<'_> {
    let Some(v1::Fences {
        if_member,
        if_lease,
    }) = pb
    else {
        return Named::default();
    };
    let member = if_member.as_mut().map(|it| &mut it.cluster_id);
    let lease = if_lease.as_mut().map(|it| &mut it.cluster_id);
    Named {
        epoch: member.map(|cluster| ("fences.ifMember", cluster)),
        token: lease.map(|cluster| ("fences.ifLease", cluster)),
    }
}

fn tie<'a>(field: &'static str, pb: Option<&'a mut v1::MarkTie>) -> Named<'a> {
    let epoch = pb.and_then(|pb| match &mut pb.to {
        Some(v1::mark_tie::To::Member(who)) => Some((field, &mut who.cluster_id)),
        Some(v1::mark_tie::To::TtlMs(_) | v1::mark_tie::To::Object(_)) | None => None,
    });
    Named {
        epoch,
        ..Named::default()
    }
}

/// Reads the id of the cluster that gave the number in the field at this path; `None` if the caller does not say.
fn cluster_of(path: &str, named: Option<&String>, found: &mut Violations) -> Option<ClusterId> {
    let cluster: Result<Option<ClusterId>, Violations> = Wire::of_wire(named?.clone());
    let cluster = cluster.map_err(|faults| faults.at("clusterId"));
    read(found, path, cluster).flatten()
}

/// Checks that this cluster gave a fencing token.
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

/// Checks that this cluster gave a session.
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
    let mut found = Violations::new();
    read_fields! { pb, found;
        session = session,
        sequence = sequence,
        lowest = lowest_unanswered,
        cluster = cluster_id => Option::<ClusterId>::of_wire(pb.cluster_id.clone()),
    }
    let id = Some(RequestId::new(session, sequence, lowest)?);
    sound(Key { id, cluster }, found)
}

#[cfg(test)]
mod tests;
