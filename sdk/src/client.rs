//! The client: what it is built from, and where its calls are.

mod builder;
mod by_name;
mod calls;
mod cluster;
mod dry_run;
mod histories;
mod leases;
mod members;
mod migrations;
mod pages;
mod sessions;
mod storage_versions;
pub(crate) mod stubs;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::seams::Seams;
use crate::session::Sessions;
use crate::transport::Endpoints;

pub use builder::ClientBuilder;
pub use dry_run::DryRun;
pub use histories::{History, ListControllerRevisions, Wanted};
pub use members::{ListMembers, MemberEpoch};
pub use migrations::{ClaimKey, ListMigrations};
pub use storage_versions::ListStorageVersions;

/// A client of a cluster.
///
/// It holds one connection to each replica that it was told of, made when it is needed and made again when it is lost.
/// A call goes to the replica that answered last; if that fails, to the leader as far as it is known, and to the others
/// in turn, until the call's one deadline. Clones share connections and session.
///
/// Changing calls are executed at most once, and with a session, which is the default, exactly once whenever they are
/// answered: a retry is the same request for the cluster, on any replica.
#[derive(Clone)]
pub struct Client {
    shared: Arc<ClientParts>,
    timeout: Duration,
}

struct ClientParts {
    endpoints: Arc<Endpoints>,
    seams: Seams,
    /// `None`: the client does without sessions.
    sessions: Option<Sessions>,
}

impl Client {
    /// How to make a client.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// The same client with another deadline for each call.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        let shared = Arc::clone(&self.shared);
        Self { shared, timeout }
    }

    /// The endpoints, as they were given.
    #[must_use]
    pub fn endpoints(&self) -> Vec<String> {
        self.shared.endpoints.texts().map(str::to_owned).collect()
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn seams(&self) -> &Seams {
        &self.shared.seams
    }

    pub(crate) fn replicas(&self) -> &Endpoints {
        &self.shared.endpoints
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoints", &self.shared.endpoints)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
