//! Forms the first replica set, and gives the cluster its id.
//!
//! Every replica knows the addresses of the first set. Each asks the others for their identities, and once all have
//! answered, the replica with the lowest id forms a replica set of the data directories that it was told. So from its
//! first entry on, the log says which directory belongs to which id, and no acknowledged write ever rests on a
//! directory without such a binding.
//!
//! A replica that already belongs to a set forms none. A replica that was wiped finds out here: the others know its id
//! with another directory and refuse it.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use synod_model::ClusterId;

use super::client::PeerError;
use crate::consensus::{Consensus, DirectoryId, ProposeError, ReplicaAddress, ReplicaId};

/// The longest wait for a replica's identity.
const HELLO_TIMEOUT: Duration = Duration::from_millis(500);

/// The pause before asking again.
const PAUSE: Duration = Duration::from_millis(100);

/// The input for the first replica set.
pub struct Formation {
    /// Every replica of the first set, this one included, with its peer address. Empty: this replica forms none, and waits
    /// until it is added to one.
    pub replicas: BTreeMap<ReplicaId, String>,
    /// Encodes the log entry that gives the cluster its id and its first settings.
    pub first_entry: Box<dyn Fn(ClusterId) -> Bytes + Send + Sync>,
}

/// Forms the replica set if there is none, and gives the cluster its id if it has none. Resolves when this replica has
/// applied the cluster's first command, or stops.
pub async fn form(consensus: Consensus, formation: Formation) {
    let lowest = formation.replicas.keys().next();
    if lowest == Some(&consensus.replica()) {
        initialize(&consensus, &formation.replicas).await;
    } else {
        introduce(&consensus, &formation.replicas).await;
    }
    name_the_cluster(&consensus, &formation).await;
}

/// Asks all replicas until all have answered, then forms the set.
async fn initialize(consensus: &Consensus, first_set: &BTreeMap<ReplicaId, String>) {
    while !consensus.is_initialized() {
        match ask_everybody(consensus, first_set).await {
            Some(set) => match consensus.initialize(set).await {
                Ok(()) => {
                    tracing::info!("formed the replica set");
                    return;
                }
                Err(error) => tracing::warn!(error, "cannot form the replica set"),
            },
            None => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Asks all replicas for as long as this one belongs to no set, so that they refuse it if they know another directory.
async fn introduce(consensus: &Consensus, first_set: &BTreeMap<ReplicaId, String>) {
    while !consensus.is_initialized() {
        let _ = ask_everybody(consensus, first_set).await;
        tokio::time::sleep(PAUSE).await;
    }
}

/// The first set with all directories; `None` as long as a replica has not answered, or belongs to a set already. All are
/// asked, whoever does not answer: any of them may know that this replica has left.
async fn ask_everybody(
    consensus: &Consensus,
    first_set: &BTreeMap<ReplicaId, String>,
) -> Option<BTreeMap<ReplicaId, ReplicaAddress>> {
    let (mut set, mut have_all_answered) = (BTreeMap::new(), true);
    for (&replica, peer) in first_set {
        let directory = if replica == consensus.replica() {
            consensus.identity().directory
        } else {
            match ask(consensus, replica, peer).await {
                Ok(directory) => directory,
                Err(reason) => {
                    tracing::debug!(%replica, peer, reason, "not forming the replica set yet");
                    have_all_answered = false;
                    continue;
                }
            }
        };
        set.insert(
            replica,
            ReplicaAddress {
                peer: peer.clone(),
                directory,
            },
        );
    }
    have_all_answered.then_some(set)
}

async fn ask(consensus: &Consensus, replica: ReplicaId, peer: &str) -> Result<DirectoryId, String> {
    let hello = consensus.peers().hello(replica, peer, HELLO_TIMEOUT).await;
    let hello = hello.map_err(|error: PeerError| error.to_string())?;
    if hello.replica != replica {
        return Err(format!("replica {} answers there", hello.replica));
    }
    if hello.initialized {
        return Err(
            "it belongs to a replica set already, and this replica waits to hear from its leader"
                .to_owned(),
        );
    }
    Ok(hello.directory)
}

/// Proposes the cluster's first command whenever this replica leads, until the cluster has its id.
async fn name_the_cluster(consensus: &Consensus, formation: &Formation) {
    let mut leadership = consensus.leadership();
    let mut progress = consensus.subscribe();
    while consensus.published().state.cluster().is_none() {
        let leading = *leadership.borrow_and_update();
        if leading.is_me {
            let cluster = cluster_id(consensus);
            match consensus
                .propose((formation.first_entry)(cluster), Some(leading.term))
                .await
            {
                Ok(_) => tracing::info!(%cluster, "named the cluster"),
                Err(ProposeError::Stopped) => return,
                Err(error) => tracing::debug!(%error, "the cluster is not named yet"),
            }
        }
        tokio::select! {
            biased;
            closed = leadership.changed() => if closed.is_err() { return },
            closed = progress.changed() => if closed.is_err() { return },
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

fn cluster_id(consensus: &Consensus) -> ClusterId {
    let replicas = consensus.replicas();
    let bound: Vec<_> = replicas
        .iter()
        .map(|(id, address)| (id.get(), *address.directory.as_bytes()))
        .collect();
    ClusterId::derive(&consensus.identity().cluster, &bound)
}
