//! The gRPC server that clients call.

use std::sync::Arc;
use std::time::Duration;

use synod_model::limits::{REPORT_BYTES_MAX, REQUEST_BYTES_MAX};
use synod_proto::v1::cluster_server::ClusterServer;
use synod_proto::v1::collections_server::CollectionsServer;
use synod_proto::v1::controller_revisions_server::ControllerRevisionsServer;
use synod_proto::v1::leases_server::LeasesServer;
use synod_proto::v1::membership_server::MembershipServer;
use synod_proto::v1::migrations_server::MigrationsServer;
use synod_proto::v1::objects_server::ObjectsServer;
use synod_proto::v1::rosters_server::RostersServer;
use synod_proto::v1::sessions_server::SessionsServer;
use synod_proto::v1::storage_versions_server::StorageVersionsServer;
use tonic_health::pb::health_server::HealthServer;
use tonic_reflection::server as reflection;

use super::cluster::ClusterService;
use super::collections::CollectionsService;
use super::controller_revisions::ControllerRevisionsService;
use super::health::HealthService;
use super::layer::GateLayer;
use super::leases::LeasesService;
use super::membership::MembershipService;
use super::migrations::MigrationsService;
use super::objects::ObjectsService;
use super::rosters::RostersService;
use super::sessions::SessionsService;
use super::storage_versions::StorageVersionsService;
use super::watch::WatchService;
use crate::connections::http2;
use crate::handle::Handle;
use crate::health::Health;
use crate::limits::CALLS_PER_CONNECTION_MAX;
use crate::metrics::RpcMetrics;
use crate::seams::Incoming;
use crate::stop::Stop;

/// The interval of pings on an idle connection. Only they reveal that packets vanish silently.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// A connection that has not answered a ping for this long is closed.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// The parts of the server for clients.
pub(crate) struct Serving {
    pub(crate) handle: Handle,
    pub(crate) health: Health,
    pub(crate) metrics: Arc<RpcMetrics>,
    pub(crate) incoming: Incoming,
    /// Once requested, no new connection or call is accepted, and streams end.
    pub(crate) stop: Stop,
}

/// Serves clients until `stop`, and then the calls in progress until they end or their connections are cut.
///
/// # Errors
///
/// A description, when the server fails.
pub(crate) async fn serve(serving: Serving) -> Result<(), String> {
    let Serving {
        handle,
        health,
        metrics,
        incoming,
        stop,
    } = serving;
    let cluster = ClusterServer::new(ClusterService(handle.clone()))
        .max_decoding_message_size(REQUEST_BYTES_MAX);
    let leases = LeasesService {
        handle: handle.clone(),
        stop: stop.clone(),
    };
    let leases = LeasesServer::new(leases).max_decoding_message_size(REQUEST_BYTES_MAX);
    let collections = CollectionsServer::new(CollectionsService(handle.clone()))
        .max_decoding_message_size(REQUEST_BYTES_MAX);
    let objects = ObjectsServer::new(ObjectsService(handle.clone()))
        .max_decoding_message_size(REQUEST_BYTES_MAX);
    let membership = MembershipService {
        handle: handle.clone(),
        stop: stop.clone(),
    };
    let membership = MembershipServer::new(membership).max_decoding_message_size(REQUEST_BYTES_MAX);
    let controller_revisions =
        ControllerRevisionsServer::new(ControllerRevisionsService(handle.clone()))
            .max_decoding_message_size(REQUEST_BYTES_MAX);
    let migrations = MigrationsServer::new(MigrationsService(handle.clone()))
        .max_decoding_message_size(REQUEST_BYTES_MAX);
    let sessions = SessionsServer::new(SessionsService(handle.clone()))
        .max_decoding_message_size(REQUEST_BYTES_MAX);
    let rosters = RostersServer::new(RostersService(handle.clone()))
        .max_decoding_message_size(REQUEST_BYTES_MAX);
    let storage_versions = StorageVersionsServer::new(StorageVersionsService(handle.clone()))
        .max_decoding_message_size(REPORT_BYTES_MAX);
    let health = HealthServer::new(HealthService {
        health,
        stop: stop.clone(),
    });

    http2()
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .max_concurrent_streams(u32::try_from(CALLS_PER_CONNECTION_MAX).unwrap_or(u32::MAX))
        .layer(GateLayer::new(&metrics))
        .add_service(cluster)
        .add_service(leases)
        .add_service(collections)
        .add_service(objects)
        .add_service(controller_revisions)
        .add_service(membership)
        .add_service(migrations)
        .add_service(rosters)
        .add_service(sessions)
        .add_service(storage_versions)
        .add_service(WatchService(handle))
        .add_service(health)
        .add_service(described().build_v1().map_err(undescribed)?)
        .add_service(described().build_v1alpha().map_err(undescribed)?)
        .serve_with_incoming_shutdown(incoming, async move { stop.requested().await })
        .await
        .map_err(|error| format!("the server for clients ended: {error}"))
}

/// The descriptions of the services for server reflection.
fn described() -> reflection::Builder<'static> {
    reflection::Builder::configure()
        .register_encoded_file_descriptor_set(synod_proto::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

fn undescribed(error: reflection::Error) -> String {
    format!("reflection cannot describe the services: {error}")
}
