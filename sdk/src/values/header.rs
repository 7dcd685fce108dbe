//! What every answer begins with.

use std::time::Duration;

use synod_model::{ClusterId, Revision, Violations};
use synod_proto::v1;

use super::FromWire;
use super::wire::required;

/// Who answered, and at which revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The cluster. A restore makes a new id: epochs and sessions of another cluster are worthless here.
    pub cluster: ClusterId,
    /// The replica that answered.
    pub replica_id: u64,
    /// For a read: the revision of the state that was read. For a change: the revision of the store right after the
    /// command, at its first execution. A watch from the next revision on misses nothing.
    pub revision: Revision,
    /// The Raft term that the replica is in, for display.
    pub raft_term: u64,
    /// The age of the answer, if the read allowed one.
    pub age: Option<Duration>,
}

impl FromWire<Option<v1::ResponseHeader>> for Header {
    fn from_wire(pb: Option<v1::ResponseHeader>) -> Result<Self, Violations> {
        let pb = required(pb).map_err(|fault| fault.at("header"))?;
        let cluster = ClusterId::parse(&pb.cluster_id);
        Ok(Self {
            cluster: cluster.map_err(|fault| fault.at("header.clusterId"))?,
            replica_id: pb.replica_id,
            revision: Revision::new(pb.revision),
            raft_term: pb.raft_term,
            age: pb.age_ms.map(Duration::from_millis),
        })
    }
}
