//! Leases of the stand-in, for reading only: commands that take leases are tested with a real cluster.

use synod_proto::v1;
use synod_proto::v1::leases_server::Leases;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::{Actor, no_part};

#[async_trait]
impl Leases for Actor {
    async fn acquire(
        &self,
        _: Request<v1::LeasesAcquireRequest>,
    ) -> Result<Response<v1::LeasesAcquireResponse>, Status> {
        Err(no_part())
    }

    type RenewStream = tokio_stream::Pending<Result<v1::LeasesRenewResponse, Status>>;

    async fn renew(
        &self,
        _: Request<Streaming<v1::LeasesRenewRequest>>,
    ) -> Result<Response<Self::RenewStream>, Status> {
        Err(no_part())
    }

    async fn release(
        &self,
        _: Request<v1::LeasesReleaseRequest>,
    ) -> Result<Response<v1::LeasesReleaseResponse>, Status> {
        Err(no_part())
    }

    async fn delete(
        &self,
        _: Request<v1::LeasesDeleteRequest>,
    ) -> Result<Response<v1::LeasesDeleteResponse>, Status> {
        Err(no_part())
    }

    async fn get(
        &self,
        _: Request<v1::LeasesGetRequest>,
    ) -> Result<Response<v1::LeasesGetResponse>, Status> {
        self.say(&self.part.lease)
    }

    async fn list(
        &self,
        _: Request<v1::LeasesListRequest>,
    ) -> Result<Response<v1::LeasesListResponse>, Status> {
        self.say(&self.part.leases)
    }

    async fn put_candidate(
        &self,
        _: Request<v1::LeasesPutCandidateRequest>,
    ) -> Result<Response<v1::LeasesPutCandidateResponse>, Status> {
        Err(no_part())
    }

    async fn withdraw_candidate(
        &self,
        _: Request<v1::LeasesWithdrawCandidateRequest>,
    ) -> Result<Response<v1::LeasesWithdrawCandidateResponse>, Status> {
        Err(no_part())
    }

    async fn list_candidates(
        &self,
        _: Request<v1::LeasesListCandidatesRequest>,
    ) -> Result<Response<v1::LeasesListCandidatesResponse>, Status> {
        self.say(&self.part.candidates)
    }
}
