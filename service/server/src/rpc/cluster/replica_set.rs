//! The calls that change the replica set and its leader.

use synod_model::{ErrorKind, Refusal};
use synod_proto::{AddReplica, PromoteReplica, RemoveReplica, TransferLeader, v1};

use crate::consensus::{ReplicaId, WaitError};
use crate::handle::{Asking, Handle};
use crate::peer::messages::SetChange;
use crate::rpc::typed;
use crate::set_changes::change_set;

pub(super) async fn add(
    handle: &Handle,
    asking: &Asking,
    message: v1::ClusterAddReplicaRequest,
) -> Result<v1::ClusterAddReplicaResponse, Refusal> {
    let AddReplica {
        replica_id,
        peer_address,
    } = typed(message)?;
    let change = SetChange::Add {
        replica: ReplicaId::new(replica_id),
        peer: peer_address,
    };
    Ok(v1::ClusterAddReplicaResponse {
        changed: changed(handle, asking, &change).await?,
        header: Some(handle.header_now()),
    })
}

pub(super) async fn promote(
    handle: &Handle,
    asking: &Asking,
    message: v1::ClusterPromoteReplicaRequest,
) -> Result<v1::ClusterPromoteReplicaResponse, Refusal> {
    let PromoteReplica {
        replica_id,
        replaces,
    } = typed(message)?;
    let change = SetChange::Promote {
        replica: ReplicaId::new(replica_id),
        replaces: replaces.map(ReplicaId::new),
    };
    Ok(v1::ClusterPromoteReplicaResponse {
        changed: changed(handle, asking, &change).await?,
        header: Some(handle.header_now()),
    })
}

pub(super) async fn remove(
    handle: &Handle,
    asking: &Asking,
    message: v1::ClusterRemoveReplicaRequest,
) -> Result<v1::ClusterRemoveReplicaResponse, Refusal> {
    let RemoveReplica { replica_id } = typed(message)?;
    let change = SetChange::Remove {
        replica: ReplicaId::new(replica_id),
    };
    Ok(v1::ClusterRemoveReplicaResponse {
        changed: changed(handle, asking, &change).await?,
        header: Some(handle.header_now()),
    })
}

pub(super) async fn transfer_leader(
    handle: &Handle,
    asking: &Asking,
    message: v1::ClusterTransferLeaderRequest,
) -> Result<v1::ClusterTransferLeaderResponse, Refusal> {
    let TransferLeader { to, from } = typed(message)?;
    // A retry must not depose the leader that the first attempt elected. The local view may be stale, so a quorum confirms the
    // leader.
    let from = match (to, from) {
        (None, None) => Some(handle.leader(asking).await?),
        (_, from) => from.map(ReplicaId::new),
    };
    let change = SetChange::Lead {
        replica: to.map(ReplicaId::new),
        from,
    };
    Ok(v1::ClusterTransferLeaderResponse {
        changed: changed(handle, asking, &change).await?,
        header: Some(handle.header_now()),
    })
}

pub(super) async fn checkpoint(
    handle: &Handle,
    asking: &Asking,
    v1::ClusterCheckpointRequest {}: v1::ClusterCheckpointRequest,
) -> Result<v1::ClusterCheckpointResponse, Refusal> {
    // Before the cluster is formed, there is nothing to write.
    handle.cluster()?;
    let written = handle.consensus().checkpoint_now(asking.deadline).await;
    let index = written.map_err(|error| match error {
        WaitError::DeadlineExceeded => {
            let message = "the checkpoint was not written within the deadline; it may be still";
            Refusal::new(ErrorKind::DeadlineExceeded, message)
        }
        WaitError::Stopped => Refusal::new(ErrorKind::Unavailable, "this replica is stopping"),
    })?;
    Ok(v1::ClusterCheckpointResponse {
        index,
        header: Some(handle.header_now()),
    })
}

async fn changed(handle: &Handle, asking: &Asking, change: &SetChange) -> Result<bool, Refusal> {
    handle.cluster()?;
    change_set(handle.consensus(), change, asking.deadline).await
}
