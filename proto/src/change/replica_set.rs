use synod_model::{Violation, Violations};

use crate::{messages, v1};

/// The most bytes of an address: a host name has at most 253.
const ADDRESS_BYTES_MAX: usize = 259;

/// Adds a fresh replica to the replica set, as a learner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddReplica {
    /// Its id.
    pub replica_id: u64,
    /// Where the other replicas reach it, as `host:port`.
    pub peer_address: String,
}

/// Makes a learner a voter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromoteReplica {
    /// Its id.
    pub replica_id: u64,
    /// The replica that leaves the set in the same change.
    pub replaces: Option<u64>,
}

/// Lets a replica leave the replica set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoveReplica {
    /// Its id.
    pub replica_id: u64,
}

/// Hands the leadership over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLeader {
    /// The voter that is to lead; `None`: the one that holds most of the log.
    pub to: Option<u64>,
    /// The replica that is to hand over: if another one leads, nothing is changed. `None`: whichever leads.
    pub from: Option<u64>,
}

messages! {
    v1::ClusterAddReplicaRequest = AddReplica {
        replica_id = replica_id,
        peer_address = peer_address,
    } => check
    v1::ClusterPromoteReplicaRequest = PromoteReplica {
        replica_id = replica_id,
        replaces = replaces_id,
    } => check
    v1::ClusterRemoveReplicaRequest = RemoveReplica {
        replica_id = replica_id,
    } => check
    v1::ClusterTransferLeaderRequest = TransferLeader {
        to = replica_id,
        from = from_replica_id,
    } => check
}

impl AddReplica {
    fn check(&self) -> Violations {
        let mut found = check_id(self.replica_id);
        let address = &self.peer_address;
        let port = address
            .rsplit_once(':')
            .filter(|(host, _)| !host.is_empty());
        let port = port.and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none_or(|port| port == 0) || address.len() > ADDRESS_BYTES_MAX {
            let rule = "must be host:port, with a port from 1 to 65535";
            found.push(Violation::invalid(address, rule).at("peerAddress"));
        }
        found
    }
}

impl PromoteReplica {
    fn check(&self) -> Violations {
        let mut found = check_id(self.replica_id);
        if self.replaces == Some(self.replica_id) {
            let rule = "must be another replica than the one that is promoted";
            found.push(Violation::invalid_number(self.replica_id, rule).at("replacesId"));
        }
        found
    }
}

impl RemoveReplica {
    fn check(&self) -> Violations {
        check_id(self.replica_id)
    }
}

impl TransferLeader {
    fn check(&self) -> Violations {
        let mut found = self.to.map_or_else(Violations::new, check_id);
        if self.from == Some(0) {
            found.push(Violation::invalid_number(0, "must be at least 1").at("fromReplicaId"));
        }
        found
    }
}

fn check_id(id: u64) -> Violations {
    let mut found = Violations::new();
    if id == 0 {
        found.push(Violation::invalid_number(id, "must be at least 1").at("replicaId"));
    }
    found
}
