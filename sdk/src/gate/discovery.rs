//! What an API server's own discovery shows of a resource.

use synod_model::{ApiVersion, StorageVersionHash};

use super::obstacle::Obstacle;

/// What an API server's own discovery shows of a resource as `storageVersionHash`, from
/// [`Gate::discovery`](super::Gate::discovery).
///
/// It follows the gate: a hash is only shown while the server may write, and then it is of the version in which it
/// encodes. Whoever reads it, such as a migrator, takes it for the version of all servers, so it is not shown before they
/// all agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// All members agree on a version, and this server writes in it: this is its hash.
    Hash(StorageVersionHash),
    /// There is no consensus, for this reason: leave the field out.
    NoConsensus(String),
}

/// Why there is no hash to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dissent {
    /// The gate is closed, so the server does not know in which version to encode.
    Closed(Obstacle),
    /// The server encodes in this version, and not all members are known to agree on it.
    NotAgreed(ApiVersion),
}

impl Discovery {
    /// The hash, if there is one to show.
    #[must_use]
    pub fn hash(&self) -> Option<StorageVersionHash> {
        match self {
            Self::Hash(hash) => Some(*hash),
            Self::NoConsensus(_) => None,
        }
    }
}

impl Dissent {
    /// The reason as a sentence.
    pub(super) fn said(&self) -> String {
        match self {
            Self::Closed(obstacle) => obstacle.last_seen(),
            Self::NotAgreed(encoding) => {
                format!("this server encodes in {encoding}, and not all members agree on that")
            }
        }
    }
}
