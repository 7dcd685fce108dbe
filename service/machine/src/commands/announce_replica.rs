//! `AnnounceReplica`: where a replica serves clients, which behaviours of apply it knows, and
//! whether it has room on its disk.

use synod_model::{ErrorKind, Refusal};

use crate::turn::Turn;
use crate::{AnnounceReplica, Answer, ReplicaRow};

pub(crate) fn apply(turn: &mut Turn<'_>, announce: &AnnounceReplica) -> Result<Answer, Refusal> {
    if turn.state().has_left(announce.replica) {
        let message = format!("replica {} has left the replica set", announce.replica);
        return Err(Refusal::new(ErrorKind::NotFound, message));
    }
    let row = ReplicaRow {
        directory: announce.directory,
        client_endpoint: announce.client_endpoint.clone(),
        binary: announce.binary.clone(),
        machine_version: announce.machine_version,
        disk_is_low: announce.disk_is_low,
    };
    if turn.state().replicas.get(&announce.replica) != Some(&row) {
        turn.put_replica(announce.replica, row);
    }
    Ok(Answer::Done)
}
