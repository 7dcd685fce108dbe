//! Migrations of the stand-in, for reading only: commands that change migrations are tested with a real cluster.

use synod_proto::v1;
use synod_proto::v1::migrations_server::Migrations;
use tonic::{Request, Response, Status, async_trait};

use super::{Actor, no_part};

#[async_trait]
impl Migrations for Actor {
    async fn get(
        &self,
        _: Request<v1::MigrationsGetRequest>,
    ) -> Result<Response<v1::MigrationsGetResponse>, Status> {
        self.say(&self.part.migration)
    }

    async fn list(
        &self,
        _: Request<v1::MigrationsListRequest>,
    ) -> Result<Response<v1::MigrationsListResponse>, Status> {
        self.say(&self.part.migrations)
    }

    async fn start(
        &self,
        _: Request<v1::MigrationsStartRequest>,
    ) -> Result<Response<v1::MigrationsStartResponse>, Status> {
        Err(no_part())
    }

    async fn claim(
        &self,
        _: Request<v1::MigrationsClaimRequest>,
    ) -> Result<Response<v1::MigrationsClaimResponse>, Status> {
        Err(no_part())
    }

    async fn progress(
        &self,
        _: Request<v1::MigrationsProgressRequest>,
    ) -> Result<Response<v1::MigrationsProgressResponse>, Status> {
        Err(no_part())
    }

    async fn complete(
        &self,
        _: Request<v1::MigrationsCompleteRequest>,
    ) -> Result<Response<v1::MigrationsCompleteResponse>, Status> {
        Err(no_part())
    }

    async fn fail(
        &self,
        _: Request<v1::MigrationsFailRequest>,
    ) -> Result<Response<v1::MigrationsFailResponse>, Status> {
        Err(no_part())
    }

    async fn release(
        &self,
        _: Request<v1::MigrationsReleaseRequest>,
    ) -> Result<Response<v1::MigrationsReleaseResponse>, Status> {
        Err(no_part())
    }

    async fn abort(
        &self,
        _: Request<v1::MigrationsAbortRequest>,
    ) -> Result<Response<v1::MigrationsAbortResponse>, Status> {
        Err(no_part())
    }

    async fn delete(
        &self,
        _: Request<v1::MigrationsDeleteRequest>,
    ) -> Result<Response<v1::MigrationsDeleteResponse>, Status> {
        Err(no_part())
    }

    async fn retry(
        &self,
        _: Request<v1::MigrationsRetryRequest>,
    ) -> Result<Response<v1::MigrationsRetryResponse>, Status> {
        Err(no_part())
    }

    async fn observe(
        &self,
        _: Request<v1::MigrationsObserveRequest>,
    ) -> Result<Response<v1::MigrationsObserveResponse>, Status> {
        Err(no_part())
    }

    async fn dismiss(
        &self,
        _: Request<v1::MigrationsDismissRequest>,
    ) -> Result<Response<v1::MigrationsDismissResponse>, Status> {
        Err(no_part())
    }

    async fn reset(
        &self,
        _: Request<v1::MigrationsResetRequest>,
    ) -> Result<Response<v1::MigrationsResetResponse>, Status> {
        Err(no_part())
    }
}
