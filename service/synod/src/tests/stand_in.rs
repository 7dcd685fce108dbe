//! A simulated replica that gives the answers of a test, over real gRPC, on a port of its own.
//!
//! A command's output depends on the answer alone, so it is tested with answers that a real cluster cannot be made to
//! give on demand. The tests under `tests/program` run commands against a real cluster.

#[path = "stand_in/fixture.rs"]
pub(crate) mod fixture;
#[path = "stand_in/history_service.rs"]
mod history_service;
#[path = "stand_in/lease_service.rs"]
mod lease_service;
#[path = "stand_in/migration_service.rs"]
mod migration_service;
#[path = "stand_in/roster_service.rs"]
mod roster_service;
#[path = "stand_in/services.rs"]
mod services;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use synod_proto::v1;
use synod_proto::v1::cluster_server::{Cluster, ClusterServer};
use synod_proto::v1::collections_server::CollectionsServer;
use synod_proto::v1::controller_revisions_server::ControllerRevisionsServer;
use synod_proto::v1::leases_server::LeasesServer;
use synod_proto::v1::membership_server::{Membership, MembershipServer};
use synod_proto::v1::migrations_server::MigrationsServer;
use synod_proto::v1::objects_server::ObjectsServer;
use synod_proto::v1::rosters_server::RostersServer;
use synod_proto::v1::sessions_server::{Sessions, SessionsServer};
use synod_proto::v1::storage_versions_server::{StorageVersions, StorageVersionsServer};
use synod_proto::v1::watch_server::{Watch, WatchServer};
use tokio::net::TcpListener;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming, async_trait};

/// A simulated replica. Dropping it ends it.
pub(crate) struct StandIn {
    address: SocketAddr,
    serving: tokio::task::JoinHandle<()>,
}

/// The answers of a stand-in.
#[derive(Clone, Default)]
pub(crate) struct Part {
    /// If set, every call is refused with this status.
    pub(crate) refusal: Option<Status>,
    pub(crate) status: v1::ClusterStatusResponse,
    pub(crate) settings: v1::ClusterGetSettingsResponse,
    pub(crate) settings_changed: v1::ClusterUpdateSettingsResponse,
    pub(crate) members: v1::MembershipListResponse,
    pub(crate) member: v1::MembershipGetResponse,
    pub(crate) storage_versions: v1::StorageVersionsListResponse,
    pub(crate) storage_version: v1::StorageVersionsGetResponse,
    pub(crate) history: v1::StorageVersionsHistoryResponse,
    pub(crate) rosters: v1::RostersListResponse,
    pub(crate) collections: v1::CollectionsListResponse,
    pub(crate) objects: v1::ObjectsListResponse,
    pub(crate) written: v1::ObjectsUpdateResponse,
    pub(crate) snapshots: v1::ControllerRevisionsListResponse,
    pub(crate) snapshot: v1::ControllerRevisionsGetResponse,
    pub(crate) diff: v1::ControllerRevisionsDiffResponse,
    pub(crate) rolled_back: v1::ControllerRevisionsRollbackResponse,
    pub(crate) truncated: v1::ControllerRevisionsTruncateResponse,
    pub(crate) leases: v1::LeasesListResponse,
    pub(crate) lease: v1::LeasesGetResponse,
    pub(crate) candidates: v1::LeasesListCandidatesResponse,
    pub(crate) migrations: v1::MigrationsListResponse,
    pub(crate) migration: v1::MigrationsGetResponse,
    pub(crate) dangers: v1::StorageVersionsCheckDropResponse,
    pub(crate) agreement: v1::StorageVersionsCheckAgreementResponse,
    pub(crate) upgrade: v1::StorageVersionsCheckUpgradeResponse,
    /// The answers to each call of `Watch`, one after the other. After the last one, streams stay silent.
    pub(crate) watches: Vec<Vec<v1::WatchResponse>>,
}

impl StandIn {
    /// Starts a stand-in on a free port of loopback.
    pub(crate) async fn start(part: Part) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let actor = Actor {
            watches: Arc::new(Mutex::new(part.watches.clone())),
            part: Arc::new(part),
        };
        let serving = Server::builder()
            .add_service(ClusterServer::new(actor.clone()))
            .add_service(CollectionsServer::new(actor.clone()))
            .add_service(ObjectsServer::new(actor.clone()))
            .add_service(ControllerRevisionsServer::new(actor.clone()))
            .add_service(LeasesServer::new(actor.clone()))
            .add_service(MigrationsServer::new(actor.clone()))
            .add_service(MembershipServer::new(actor.clone()))
            .add_service(RostersServer::new(actor.clone()))
            .add_service(SessionsServer::new(actor.clone()))
            .add_service(StorageVersionsServer::new(actor.clone()))
            .add_service(WatchServer::new(actor))
            .serve_with_incoming(TcpListenerStream::new(listener));
        let serving = tokio::spawn(async move { serving.await.unwrap() });
        Self { address, serving }
    }

    /// The address for clients.
    pub(crate) fn endpoint(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[derive(Clone)]
struct Actor {
    part: Arc<Part>,
    watches: Arc<Mutex<Vec<Vec<v1::WatchResponse>>>>,
}

impl Actor {
    fn say<T: Clone>(&self, answer: &T) -> Result<Response<T>, Status> {
        match &self.part.refusal {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(Response::new(answer.clone())),
        }
    }
}

#[async_trait]
impl Cluster for Actor {
    async fn status(
        &self,
        _: Request<v1::ClusterStatusRequest>,
    ) -> Result<Response<v1::ClusterStatusResponse>, Status> {
        self.say(&self.part.status)
    }

    async fn get_settings(
        &self,
        _: Request<v1::ClusterGetSettingsRequest>,
    ) -> Result<Response<v1::ClusterGetSettingsResponse>, Status> {
        self.say(&self.part.settings)
    }

    async fn revision_at(
        &self,
        _: Request<v1::ClusterRevisionAtRequest>,
    ) -> Result<Response<v1::ClusterRevisionAtResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn get_log_filter(
        &self,
        _: Request<v1::ClusterGetLogFilterRequest>,
    ) -> Result<Response<v1::ClusterGetLogFilterResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn set_log_filter(
        &self,
        _: Request<v1::ClusterSetLogFilterRequest>,
    ) -> Result<Response<v1::ClusterSetLogFilterResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn get_diagnostics(
        &self,
        _: Request<v1::ClusterGetDiagnosticsRequest>,
    ) -> Result<Response<v1::ClusterGetDiagnosticsResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn update_settings(
        &self,
        _: Request<v1::ClusterUpdateSettingsRequest>,
    ) -> Result<Response<v1::ClusterUpdateSettingsResponse>, Status> {
        self.say(&self.part.settings_changed)
    }

    async fn add_replica(
        &self,
        _: Request<v1::ClusterAddReplicaRequest>,
    ) -> Result<Response<v1::ClusterAddReplicaResponse>, Status> {
        self.say(&v1::ClusterAddReplicaResponse {
            header: Some(fixture::header()),
            changed: true,
        })
    }

    async fn promote_replica(
        &self,
        _: Request<v1::ClusterPromoteReplicaRequest>,
    ) -> Result<Response<v1::ClusterPromoteReplicaResponse>, Status> {
        self.say(&v1::ClusterPromoteReplicaResponse {
            header: Some(fixture::header()),
            changed: true,
        })
    }

    async fn remove_replica(
        &self,
        _: Request<v1::ClusterRemoveReplicaRequest>,
    ) -> Result<Response<v1::ClusterRemoveReplicaResponse>, Status> {
        self.say(&v1::ClusterRemoveReplicaResponse {
            header: Some(fixture::header()),
            changed: false,
        })
    }

    async fn transfer_leader(
        &self,
        _: Request<v1::ClusterTransferLeaderRequest>,
    ) -> Result<Response<v1::ClusterTransferLeaderResponse>, Status> {
        self.say(&v1::ClusterTransferLeaderResponse {
            header: Some(fixture::header()),
            changed: true,
        })
    }

    async fn checkpoint(
        &self,
        _: Request<v1::ClusterCheckpointRequest>,
    ) -> Result<Response<v1::ClusterCheckpointResponse>, Status> {
        self.say(&v1::ClusterCheckpointResponse {
            header: Some(fixture::header()),
            index: 815,
        })
    }

    type BackupStream = tokio_stream::Pending<Result<v1::ClusterBackupResponse, Status>>;

    async fn backup(
        &self,
        _: Request<v1::ClusterBackupRequest>,
    ) -> Result<Response<Self::BackupStream>, Status> {
        Err(no_part())
    }
}

#[async_trait]
impl Membership for Actor {
    async fn join(
        &self,
        _: Request<v1::MembershipJoinRequest>,
    ) -> Result<Response<v1::MembershipJoinResponse>, Status> {
        Err(no_part())
    }

    type RenewStream = tokio_stream::Pending<Result<v1::MembershipRenewResponse, Status>>;

    async fn renew(
        &self,
        _: Request<Streaming<v1::MembershipRenewRequest>>,
    ) -> Result<Response<Self::RenewStream>, Status> {
        Err(no_part())
    }

    async fn ready(
        &self,
        _: Request<v1::MembershipReadyRequest>,
    ) -> Result<Response<v1::MembershipReadyResponse>, Status> {
        Err(no_part())
    }

    async fn leave(
        &self,
        _: Request<v1::MembershipLeaveRequest>,
    ) -> Result<Response<v1::MembershipLeaveResponse>, Status> {
        Err(no_part())
    }

    async fn get(
        &self,
        _: Request<v1::MembershipGetRequest>,
    ) -> Result<Response<v1::MembershipGetResponse>, Status> {
        self.say(&self.part.member)
    }

    async fn list(
        &self,
        _: Request<v1::MembershipListRequest>,
    ) -> Result<Response<v1::MembershipListResponse>, Status> {
        self.say(&self.part.members)
    }
}

#[async_trait]
impl Sessions for Actor {
    async fn open(
        &self,
        _: Request<v1::SessionsOpenRequest>,
    ) -> Result<Response<v1::SessionsOpenResponse>, Status> {
        self.say(&v1::SessionsOpenResponse {
            header: Some(fixture::header()),
            session: 7,
            ttl_ms: 300_000,
            outcomes_max: 16,
        })
    }

    async fn close(
        &self,
        _: Request<v1::SessionsCloseRequest>,
    ) -> Result<Response<v1::SessionsCloseResponse>, Status> {
        self.say(&v1::SessionsCloseResponse {
            header: Some(fixture::header()),
            changed: true,
        })
    }

    async fn get_outcome(
        &self,
        _: Request<v1::SessionsGetOutcomeRequest>,
    ) -> Result<Response<v1::SessionsGetOutcomeResponse>, Status> {
        Err(no_part())
    }
}

#[async_trait]
impl StorageVersions for Actor {
    async fn report(
        &self,
        _: Request<v1::StorageVersionsReportRequest>,
    ) -> Result<Response<v1::StorageVersionsReportResponse>, Status> {
        Err(no_part())
    }

    async fn adopt(
        &self,
        _: Request<v1::StorageVersionsAdoptRequest>,
    ) -> Result<Response<v1::StorageVersionsAdoptResponse>, Status> {
        Err(no_part())
    }

    async fn forget(
        &self,
        _: Request<v1::StorageVersionsForgetRequest>,
    ) -> Result<Response<v1::StorageVersionsForgetResponse>, Status> {
        Err(no_part())
    }

    async fn add_equivalents(
        &self,
        _: Request<v1::StorageVersionsAddEquivalentsRequest>,
    ) -> Result<Response<v1::StorageVersionsAddEquivalentsResponse>, Status> {
        Err(no_part())
    }

    async fn remove_equivalent(
        &self,
        _: Request<v1::StorageVersionsRemoveEquivalentRequest>,
    ) -> Result<Response<v1::StorageVersionsRemoveEquivalentResponse>, Status> {
        Err(no_part())
    }

    async fn get(
        &self,
        _: Request<v1::StorageVersionsGetRequest>,
    ) -> Result<Response<v1::StorageVersionsGetResponse>, Status> {
        self.say(&self.part.storage_version)
    }

    async fn list(
        &self,
        request: Request<v1::StorageVersionsListRequest>,
    ) -> Result<Response<v1::StorageVersionsListResponse>, Status> {
        let mut answer = self.part.storage_versions.clone();
        if !request.get_ref().include_unreported {
            answer.items.retain(|item| item.storage_version.is_some());
        }
        self.say(&answer)
    }

    async fn history(
        &self,
        _: Request<v1::StorageVersionsHistoryRequest>,
    ) -> Result<Response<v1::StorageVersionsHistoryResponse>, Status> {
        self.say(&self.part.history)
    }

    async fn check_binary(
        &self,
        _: Request<v1::StorageVersionsCheckBinaryRequest>,
    ) -> Result<Response<v1::StorageVersionsCheckBinaryResponse>, Status> {
        Err(no_part())
    }

    async fn check_drop(
        &self,
        _: Request<v1::StorageVersionsCheckDropRequest>,
    ) -> Result<Response<v1::StorageVersionsCheckDropResponse>, Status> {
        self.say(&self.part.dangers)
    }

    async fn check_agreement(
        &self,
        _: Request<v1::StorageVersionsCheckAgreementRequest>,
    ) -> Result<Response<v1::StorageVersionsCheckAgreementResponse>, Status> {
        self.say(&self.part.agreement)
    }

    async fn check_upgrade(
        &self,
        _: Request<v1::StorageVersionsCheckUpgradeRequest>,
    ) -> Result<Response<v1::StorageVersionsCheckUpgradeResponse>, Status> {
        self.say(&self.part.upgrade)
    }
}

#[async_trait]
impl Watch for Actor {
    type WatchStream = std::pin::Pin<
        Box<dyn tokio_stream::Stream<Item = Result<v1::WatchResponse, Status>> + Send>,
    >;

    async fn watch(
        &self,
        _: Request<v1::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let mut watches = self.watches.lock().unwrap();
        let messages = if watches.is_empty() {
            Vec::new()
        } else {
            watches.remove(0)
        };
        self.say(&())?;
        let messages = tokio_stream::iter(messages.into_iter().map(Ok));
        Ok(Response::new(Box::pin(
            messages.chain(tokio_stream::pending()),
        )))
    }
}

fn no_part() -> Status {
    Status::unimplemented("no command asks for this")
}
