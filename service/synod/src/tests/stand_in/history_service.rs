//! Histories of controllers of the stand-in: reads and prepared answers to changes.

use synod_proto::v1;
use synod_proto::v1::controller_revisions_server::ControllerRevisions;
use tonic::{Request, Response, Status, async_trait};

use super::{Actor, no_part};

#[async_trait]
impl ControllerRevisions for Actor {
    async fn create(
        &self,
        _: Request<v1::ControllerRevisionsCreateRequest>,
    ) -> Result<Response<v1::ControllerRevisionsCreateResponse>, Status> {
        Err(no_part())
    }

    async fn get(
        &self,
        _: Request<v1::ControllerRevisionsGetRequest>,
    ) -> Result<Response<v1::ControllerRevisionsGetResponse>, Status> {
        self.say(&self.part.snapshot)
    }

    async fn list(
        &self,
        _: Request<v1::ControllerRevisionsListRequest>,
    ) -> Result<Response<v1::ControllerRevisionsListResponse>, Status> {
        self.say(&self.part.snapshots)
    }

    async fn history(
        &self,
        _: Request<v1::ControllerRevisionsHistoryRequest>,
    ) -> Result<Response<v1::ControllerRevisionsHistoryResponse>, Status> {
        Err(no_part())
    }

    async fn diff(
        &self,
        _: Request<v1::ControllerRevisionsDiffRequest>,
    ) -> Result<Response<v1::ControllerRevisionsDiffResponse>, Status> {
        self.say(&self.part.diff)
    }

    async fn update(
        &self,
        _: Request<v1::ControllerRevisionsUpdateRequest>,
    ) -> Result<Response<v1::ControllerRevisionsUpdateResponse>, Status> {
        Err(no_part())
    }

    async fn rollback(
        &self,
        _: Request<v1::ControllerRevisionsRollbackRequest>,
    ) -> Result<Response<v1::ControllerRevisionsRollbackResponse>, Status> {
        self.say(&self.part.rolled_back)
    }

    async fn mark_live(
        &self,
        _: Request<v1::ControllerRevisionsMarkLiveRequest>,
    ) -> Result<Response<v1::ControllerRevisionsMarkLiveResponse>, Status> {
        Err(no_part())
    }

    async fn truncate(
        &self,
        _: Request<v1::ControllerRevisionsTruncateRequest>,
    ) -> Result<Response<v1::ControllerRevisionsTruncateResponse>, Status> {
        self.say(&self.part.truncated)
    }

    async fn delete(
        &self,
        _: Request<v1::ControllerRevisionsDeleteRequest>,
    ) -> Result<Response<v1::ControllerRevisionsDeleteResponse>, Status> {
        Err(no_part())
    }

    async fn delete_history(
        &self,
        _: Request<v1::ControllerRevisionsDeleteHistoryRequest>,
    ) -> Result<Response<v1::ControllerRevisionsDeleteHistoryResponse>, Status> {
        Err(no_part())
    }

    async fn adopt(
        &self,
        _: Request<v1::ControllerRevisionsAdoptRequest>,
    ) -> Result<Response<v1::ControllerRevisionsAdoptResponse>, Status> {
        Err(no_part())
    }

    async fn release(
        &self,
        _: Request<v1::ControllerRevisionsReleaseRequest>,
    ) -> Result<Response<v1::ControllerRevisionsReleaseResponse>, Status> {
        Err(no_part())
    }
}
