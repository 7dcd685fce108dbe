//! The service `grpc.health.v1.Health`, on our own watch channel: `tonic-health` wakes receivers in random order.

use futures::StreamExt;
use futures::stream::BoxStream;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health as HealthApi;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use super::methods::has_health;
use crate::health::Health;
use crate::stop::Stop;

/// The service, answered from the replica's health.
pub(super) struct HealthService {
    pub(super) health: Health,
    /// Ends the streams.
    pub(super) stop: Stop,
}

#[tonic::async_trait]
impl HealthApi for HealthService {
    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        if !has_health(&request.get_ref().service) {
            return Err(Status::not_found("there is no service of this name"));
        }
        Ok(Response::new(response(self.health.serves())))
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let known = has_health(&request.get_ref().service);
        let changes = self.health.changes(self.stop.clone());
        let responses = changes.map(move |serves| {
            // No service is ever added, but the protocol requires this stream to stay open.
            let unknown = HealthCheckResponse {
                status: ServingStatus::ServiceUnknown.into(),
            };
            Ok(if known { response(serves) } else { unknown })
        });
        Ok(Response::new(responses.boxed()))
    }
}

fn response(serves: bool) -> HealthCheckResponse {
    let status = if serves {
        ServingStatus::Serving
    } else {
        ServingStatus::NotServing
    };
    HealthCheckResponse {
        status: status.into(),
    }
}
