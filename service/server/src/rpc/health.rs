//! `grpc.health.v1.Health`, on our own watch channel: the one of `tonic-health` wakes its readers in a random order.

use futures::StreamExt;
use futures::stream::BoxStream;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health as HealthApi;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::health::Health;
use crate::stop::Stop;

/// The services whose health can be asked for. They live and die together, and the empty name is all of them.
const SERVICES: [&str; 6] = [
    "",
    "synod.v1.Cluster",
    "synod.v1.Membership",
    "synod.v1.Sessions",
    "synod.v1.StorageVersions",
    "synod.v1.Watch",
];

/// See the module.
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
        if !SERVICES.contains(&&*request.get_ref().service) {
            return Err(Status::not_found("there is no service of this name"));
        }
        Ok(Response::new(response(self.health.serves())))
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let known = SERVICES.contains(&&*request.get_ref().service);
        let changes = self.health.changes(self.stop.clone());
        let responses = changes.map(move |serves| {
            // No service is ever added, but the protocol wants this stream to stay open.
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
