//! The gRPC server that clients call.

use tonic_health::pb::health_server::HealthServer;
use tonic_reflection::server as reflection;

use super::front::Front;
use super::health::HealthService;
use super::layer::GateLayer;
use crate::connections::http2;
use crate::health::Health;
use crate::limits::{CALLS_PER_CONNECTION_MAX, PING_INTERVAL, PING_PATIENCE};
use crate::seams::Incoming;
use crate::stop::Stop;

/// The parts of the server for clients.
pub(crate) struct Serving {
    pub(crate) front: Front,
    pub(crate) health: Health,
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
        front,
        health,
        incoming,
        stop,
    } = serving;
    let health = HealthServer::new(HealthService {
        health,
        stop: stop.clone(),
    });

    http2()
        .http2_keepalive_interval(Some(PING_INTERVAL))
        .http2_keepalive_timeout(Some(PING_PATIENCE))
        .max_concurrent_streams(u32::try_from(CALLS_PER_CONNECTION_MAX).unwrap_or(u32::MAX))
        .layer(GateLayer::new(front.gate))
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
