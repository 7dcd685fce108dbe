//! The identities of caller and callee, which are in the metadata of every call and checked before its message is read.
//!
//! A connection may lead to the wrong process: an address was given twice, a replica was moved, or it came back with an
//! empty data directory. Raft cannot detect that; the identities on each call can.

use std::fmt;

use data_encoding::HEXLOWER;
use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

use crate::consensus::{DirectoryId, ReplicaId};

/// The metadata of every call. `Hello` leaves out `synod-to` and `synod-to-directory`, because it asks for them.
const CLUSTER: &str = "synod-cluster";
const FROM: &str = "synod-from";
const FROM_DIRECTORY: &str = "synod-from-directory";
const TO: &str = "synod-to";
const TO_DIRECTORY: &str = "synod-to-directory";

/// The metadata of a status that refuses a call for its identities.
const REFUSAL: &str = "synod-refusal";

/// The identity of a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerIdentity {
    /// The name of the cluster.
    pub cluster: String,
    /// The replica's id.
    pub replica: ReplicaId,
    /// The id of the replica's data directory.
    pub directory: DirectoryId,
}

/// The caller of an admitted request, as an extension of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The calling replica.
    pub(crate) replica: ReplicaId,
    /// Its data directory.
    pub(crate) directory: DirectoryId,
    /// Whether the call named this replica and its directory. Only `Hello` may leave that out.
    pub(crate) addressed: bool,
}

/// Why a call was refused for its identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The caller belongs to another cluster.
    WrongCluster,
    /// The call was meant for another replica.
    WrongReplica,
    /// The call was meant for this replica with another data directory.
    WrongDirectory,
    /// The replica set knows the caller's id with another data directory.
    CallerWrongDirectory,
    /// The caller has left the replica set.
    CallerLeft,
    /// The caller's log ends before an entry that it had acknowledged: its data directory went back in time.
    CallerWentBack,
    /// The caller leads and lacks entries that are committed at the replica that it called.
    CallerLacksCommitted,
    /// The identities are missing or malformed.
    Unnamed,
}

impl Refusal {
    const ALL: [Self; 8] = [
        Self::WrongCluster,
        Self::WrongReplica,
        Self::WrongDirectory,
        Self::CallerWrongDirectory,
        Self::CallerLeft,
        Self::CallerWentBack,
        Self::CallerLacksCommitted,
        Self::Unnamed,
    ];

    const fn code(self) -> &'static str {
        match self {
            Self::WrongCluster => "WRONG_CLUSTER",
            Self::WrongReplica => "WRONG_REPLICA",
            Self::WrongDirectory => "WRONG_DIRECTORY",
            Self::CallerWrongDirectory => "CALLER_WRONG_DIRECTORY",
            Self::CallerLeft => "CALLER_LEFT",
            Self::CallerWentBack => "CALLER_WENT_BACK",
            Self::CallerLacksCommitted => "CALLER_LACKS_COMMITTED",
            Self::Unnamed => "UNNAMED",
        }
    }

    /// The status that carries this refusal.
    pub(crate) fn into_status(self) -> tonic::Status {
        let mut status = tonic::Status::failed_precondition(self.to_string());
        status
            .metadata_mut()
            .insert(REFUSAL, MetadataValue::from_static(self.code()));
        status
    }

    /// The refusal in a status, if it carries one.
    pub(crate) fn of_status(status: &tonic::Status) -> Option<Self> {
        let code = status.metadata().get(REFUSAL)?.to_str().ok()?;
        Self::ALL.into_iter().find(|refusal| refusal.code() == code)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::WrongCluster => "the caller belongs to a cluster of another name",
            Self::WrongReplica => {
                "the call was meant for another replica: an address leads to the wrong process"
            }
            Self::WrongDirectory => {
                "the call was meant for this replica with another data directory"
            }
            Self::CallerWrongDirectory => {
                "the replica set knows the caller's id with another data directory"
            }
            Self::CallerLeft => "the caller has left the replica set",
            Self::CallerWentBack => {
                "the caller's data directory went back in time: it lacks what it had acknowledged, so it is refused; replace \
                 it (`synod cluster replace`)"
            }
            Self::CallerLacksCommitted => {
                "the caller leads and lacks entries that are committed at the replica that it called"
            }
            Self::Unnamed => {
                "the call's metadata does not name the cluster, the calling and the called replica, or is malformed"
            }
        })
    }
}

impl PeerIdentity {
    /// The metadata of a call from this replica to `to`; `None` for `Hello`, which asks for the callee's identity.
    pub(crate) fn write(&self, to: Option<(ReplicaId, DirectoryId)>) -> MetadataMap {
        let mut names = MetadataMap::with_capacity(5);
        names.insert(CLUSTER, ascii(&percent_encoded(&self.cluster)));
        names.insert(FROM, ascii(&self.replica.to_string()));
        names.insert(FROM_DIRECTORY, ascii(&self.directory.to_string()));
        if let Some((replica, directory)) = to {
            names.insert(TO, ascii(&replica.to_string()));
            names.insert(TO_DIRECTORY, ascii(&directory.to_string()));
        }
        names
    }

    /// Checks the identities of a call to this replica. `known` returns a replica's directory by the replica set.
    ///
    /// # Errors
    ///
    /// The identity that does not match.
    pub(crate) fn check(
        &self,
        names: &MetadataMap,
        known: impl FnOnce(ReplicaId) -> Option<DirectoryId>,
    ) -> Result<Caller, Refusal> {
        if text(names, CLUSTER)? != percent_encoded(&self.cluster) {
            return Err(Refusal::WrongCluster);
        }
        let addressed = names.contains_key(TO);
        if addressed {
            if replica(names, TO)? != self.replica {
                return Err(Refusal::WrongReplica);
            }
            if directory(names, TO_DIRECTORY)? != self.directory {
                return Err(Refusal::WrongDirectory);
            }
        }
        let caller = Caller {
            replica: replica(names, FROM)?,
            directory: directory(names, FROM_DIRECTORY)?,
            addressed,
        };
        match known(caller.replica) {
            Some(directory) if directory != caller.directory => Err(Refusal::CallerWrongDirectory),
            Some(_) | None => Ok(caller),
        }
    }
}

fn ascii(text: &str) -> MetadataValue<Ascii> {
    // Ids, hexadecimal digits and percent-encoded text are all printable ASCII.
    MetadataValue::try_from(text).unwrap_or_else(|_| MetadataValue::from_static(""))
}

fn text<'a>(names: &'a MetadataMap, name: &str) -> Result<&'a str, Refusal> {
    names
        .get(name)
        .and_then(|value| value.to_str().ok())
        .ok_or(Refusal::Unnamed)
}

fn replica(names: &MetadataMap, name: &str) -> Result<ReplicaId, Refusal> {
    text(names, name)?
        .parse()
        .map(ReplicaId::new)
        .map_err(|_| Refusal::Unnamed)
}

fn directory(names: &MetadataMap, name: &str) -> Result<DirectoryId, Refusal> {
    let bytes = HEXLOWER
        .decode(text(names, name)?.as_bytes())
        .map_err(|_| Refusal::Unnamed)?;
    bytes
        .try_into()
        .map(DirectoryId::from_bytes)
        .map_err(|_| Refusal::Unnamed)
}

/// Percent-encodes a cluster's name, which may hold any character, for metadata, which may not.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests;
