//! The service `synod.v1.Cluster`: settings and status of the cluster, and its replica set.

mod replica_set;
mod revision_at;

use synod_machine::{ReplicaRow, State};
use synod_model::Refusal;
use synod_proto::{GetSettings, v1};

use super::calls::calls;
use super::{itself, typed};
use crate::consensus::{Position, Published, ReplicaId, ReplicaStatus};
use crate::handle::{Asking, Handle};

calls! {
    status: ClusterStatusRequest => ClusterStatusResponse;
    get_settings: ClusterGetSettingsRequest => ClusterGetSettingsResponse;
    revision_at = revision_at::revision_at: ClusterRevisionAtRequest => ClusterRevisionAtResponse;
    update_settings: ClusterUpdateSettingsRequest => ClusterUpdateSettingsResponse
        by UpdateSettings or dry_run, changed;
    add_replica = replica_set::add: ClusterAddReplicaRequest => ClusterAddReplicaResponse;
    promote_replica = replica_set::promote: ClusterPromoteReplicaRequest => ClusterPromoteReplicaResponse;
    remove_replica = replica_set::remove: ClusterRemoveReplicaRequest => ClusterRemoveReplicaResponse;
    transfer_leader = replica_set::transfer_leader: ClusterTransferLeaderRequest => ClusterTransferLeaderResponse;
    checkpoint = replica_set::checkpoint: ClusterCheckpointRequest => ClusterCheckpointResponse;

    get_log_filter = itself::get_log_filter: ClusterGetLogFilterRequest => ClusterGetLogFilterResponse;
    set_log_filter = itself::set_log_filter: ClusterSetLogFilterRequest => ClusterSetLogFilterResponse;
    get_diagnostics = itself::get_diagnostics: ClusterGetDiagnosticsRequest => ClusterGetDiagnosticsResponse;
}

async fn get_settings(
    handle: &Handle,
    asking: &Asking,
    message: v1::ClusterGetSettingsRequest,
) -> Result<v1::ClusterGetSettingsResponse, Refusal> {
    let GetSettings { read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let past = reading.upgrade_past()?;
    Ok(v1::ClusterGetSettingsResponse {
        header: Some(handle.header_of(&reading)),
        settings: Some((&*past.settings()).into()),
    })
}

/// The cluster's status as this replica knows it. No other replica is asked, so it works when nothing else does.
async fn status(
    handle: &Handle,
    _: &Asking,
    v1::ClusterStatusRequest {}: v1::ClusterStatusRequest,
) -> Result<v1::ClusterStatusResponse, Refusal> {
    Ok(status_of(handle))
}

fn status_of(handle: &Handle) -> v1::ClusterStatusResponse {
    let consensus = handle.consensus();
    let published = consensus.published();
    let state = &published.state;
    let status = consensus.status();
    let replicas = status.replicas.iter().map(|(id, known)| {
        let announced = state
            .replicas()
            .find(|(other, _)| other == id)
            .map(|(_, row)| row);
        replica_status(handle, &published, *id, known, announced)
    });
    v1::ClusterStatusResponse {
        header: Some(handle.header_now()),
        cluster_name: consensus.identity().cluster.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine_version: state.machine_version(),
        leader_id: handle.itself().probed.health.leader().map(ReplicaId::get),
        replicas: replicas.collect(),
        log_time_ms: state.log_time().as_millis(),
        applied_index: published.applied_index(),
        digest: state.digest().to_string(),
        digest_index: published.applied_index(),
        oldest_revision: state.history().floor().next().get(),
        alarms: alarms(handle, &published),
        vitals: Some(handle.itself().vitals(state)),
        oldest_upgrade_revision: state.history().upgrade_floor().next().get(),
    }
}

fn replica_status(
    handle: &Handle,
    published: &Published,
    id: ReplicaId,
    known: &ReplicaStatus,
    announced: Option<&ReplicaRow>,
) -> v1::ReplicaStatus {
    let role = if known.voter {
        v1::ReplicaRole::Voter
    } else {
        v1::ReplicaRole::Learner
    };
    let is_me = id == handle.replica();
    v1::ReplicaStatus {
        replica_id: id.get(),
        peer_address: known.address.peer.clone(),
        client_address: announced
            .map(|row| row.client_endpoint.clone())
            .unwrap_or_default(),
        directory_id: known.address.directory.to_string(),
        role: role.into(),
        version: announced.map(|row| row.binary.clone()).unwrap_or_default(),
        machine_version: announced.map(|row| row.machine_version).unwrap_or_default(),
        applied_index: is_me.then(|| published.applied_index()),
        matched_index: known.matched.map(|Position { index, .. }| index),
    }
}

/// What to do where a replica does not vote.
const NOT_VOTING: &str = "the end of this replica's log was damaged and cut off, and may have been acknowledged, so it does not \
                          vote before it has caught up with a leader: start the other replicas; where no leader is found \
                          because they are lost or in the same state, `synod cluster force-new` founds a new cluster from the \
                          data directory that holds most";

pub(super) fn alarms(handle: &Handle, published: &Published) -> Vec<v1::Alarm> {
    let consensus = handle.consensus();
    let state = &published.state;
    let mut alarms = Vec::new();
    let mut raise = |kind: v1::AlarmKind, replica_id: u64, message: String| {
        alarms.push(v1::Alarm {
            kind: kind.into(),
            replica_id,
            message,
        });
    };
    let leadership = *consensus.leadership().borrow();
    let silent = consensus
        .quorum_silence()
        .is_none_or(|silence| silence > consensus.election_timeout());
    let unknown = handle.itself().probed.health.leader().is_none();
    if unknown || (leadership.is_me && silent) {
        let message = "no leader with a quorum is known: check that the other replicas run and can be reached";
        raise(v1::AlarmKind::NoQuorum, 0, message.to_owned());
    }
    if let Some(message) = consensus.doubt() {
        raise(
            v1::AlarmKind::DigestMismatch,
            handle.replica().get(),
            message.to_owned(),
        );
    }
    if !consensus.may_vote() {
        raise(
            v1::AlarmKind::NotVoting,
            handle.replica().get(),
            NOT_VOTING.to_owned(),
        );
    }
    for (replica, message) in consensus.went_back() {
        raise(v1::AlarmKind::WentBack, replica.get(), message);
    }
    if let Some(message) = consensus.damaged_checkpoint() {
        raise(
            v1::AlarmKind::DamagedCheckpoint,
            handle.replica().get(),
            message,
        );
    }
    let kinds = [
        v1::AlarmKind::Certificate,
        v1::AlarmKind::Policy,
        v1::AlarmKind::Audit,
    ];
    for (kind, messages) in kinds.into_iter().zip(handle.guard_alarms()) {
        for message in messages {
            raise(kind, handle.replica().get(), message);
        }
    }
    alarms_of_state(state, raise);
    alarms
}

/// What the state itself says: it is the same on all replicas.
fn alarms_of_state(state: &State, mut raise: impl FnMut(v1::AlarmKind, u64, String)) {
    let quota = state.settings().state_quota_bytes;
    for replica in state.low_on_disk() {
        let message = "the replica's disk is nearly full, so writes that make the state grow are refused: free space \
                       on it; they are then accepted again automatically";
        raise(v1::AlarmKind::DiskFull, replica.get(), message.to_owned());
    }
    if state.is_at_quota() {
        let message = format!(
            "the state has {} bytes, and of its quota of {quota} only the reserve is left: remove something or raise it",
            state.bytes()
        );
        raise(v1::AlarmKind::Quota, 0, message);
    }
    for feature in state.settings().switched_off() {
        let message = format!(
            "{feature} are switched off, so calls that need them are refused; what was there is kept: to switch them on, run \
             `synod settings set {feature}=on`"
        );
        raise(v1::AlarmKind::SwitchedOff, 0, message);
    }
}
