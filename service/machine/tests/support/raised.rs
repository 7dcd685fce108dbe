//! Commands that bring the newest machine version in force.

use synod_machine::{
    AnnounceReplica, Command, DirectoryId, MACHINE_VERSION, RaiseMachineVersion, ReplicaId,
};

/// What the only replica announces, and the raise that follows.
pub(crate) fn raised() -> [Command; 2] {
    raised_to(MACHINE_VERSION)
}

/// The same for another machine version.
pub(crate) fn raised_to(version: u32) -> [Command; 2] {
    let replica = ReplicaId::new(1);
    let announce = AnnounceReplica {
        replica,
        directory: DirectoryId::from_bytes([3; 16]),
        client_endpoint: "10.0.0.1:2379".to_owned(),
        binary: "0.2.0".to_owned(),
        machine_version: version,
        disk_is_low: false,
    };
    let raise = RaiseMachineVersion {
        to: version,
        replicas: [replica].into(),
    };
    [
        Command::AnnounceReplica(announce),
        Command::RaiseMachineVersion(raise),
    ]
}
