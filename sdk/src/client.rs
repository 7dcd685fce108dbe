//! The [`Client`] and the parts that its clones share. Its calls are in the submodules.

mod backup;
mod builder;
mod by_name;
mod calls;
mod cluster;
mod dry_run;
mod histories;
mod itself;
mod known_resources;
mod leases;
mod members;
mod migrations;
mod pages;
mod replica_set;
mod sessions;
mod storage_versions;
pub(crate) mod stubs;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use synod_model::MemberId;

use crate::seams::Seams;
use crate::session::Sessions;
use crate::traces::Traces;
use crate::transport::Endpoints;

pub use backup::{Backup, BackupOf};
pub use builder::ClientBuilder;
pub use dry_run::DryRun;
pub use histories::{History, ListControllerRevisions, Wanted};
pub use members::{ListMembers, MemberEpoch};
pub use migrations::{ClaimKey, ListMigrations};
pub use storage_versions::{AgreementQuery, ListStorageVersions};

/// A client of a Synod cluster.
///
/// It holds one connection to each endpoint that it was given, opened when first needed and reopened when lost. It follows the
/// replica set: where replicas that are added later serve clients (`--advertise-client`), it learns from the others. A call
/// goes first to the replica that answered last; if that fails, to the leader as far as it is known, and then to the
/// others in turn, until the call's one deadline. Clones share connections and session.
///
/// A changing call is executed at most once. With a session, which is the default, every answered call was executed
/// exactly once: any replica recognizes a retry as the same request.
#[derive(Clone)]
pub struct Client {
    shared: Arc<ClientParts>,
    timeout: Duration,
}

struct ClientParts {
    endpoints: Arc<Endpoints>,
    seams: Seams,
    /// `None`: the client makes its changes without a session.
    sessions: Option<Sessions>,
    /// What holders' names begin with that are not given.
    name: Option<MemberId>,
    /// Who follows the calls.
    traces: Option<Arc<dyn Traces>>,
}

impl Client {
    /// A builder with the default settings.
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

    /// The endpoints that this client calls: those that it was given, as they were given, then those of replicas that were
    /// added to the cluster since.
    #[must_use]
    pub fn endpoints(&self) -> Vec<String> {
        self.shared.endpoints.texts()
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// What holders' names begin with that are not given.
    pub(crate) fn name(&self) -> Option<&MemberId> {
        self.shared.name.as_ref()
    }

    pub(crate) fn seams(&self) -> &Seams {
        &self.shared.seams
    }

    pub(crate) fn replicas(&self) -> &Arc<Endpoints> {
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
