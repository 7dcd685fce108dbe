//! `synod.v1.ControllerRevisions`.

mod changes;
mod reads;
mod text_diff;

use synod_proto::v1;
use synod_proto::v1::controller_revisions_server::ControllerRevisions;
use tonic::{Request, Response, Status};

use super::{answer, opened};
use crate::handle::Handle;

/// See the module.
pub(super) struct ControllerRevisionsService(pub(super) Handle);

#[tonic::async_trait]
impl ControllerRevisions for ControllerRevisionsService {
    async fn create(
        &self,
        request: Request<v1::ControllerRevisionsCreateRequest>,
    ) -> Result<Response<v1::ControllerRevisionsCreateResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, changes::create(&self.0, &asking, message).await)
    }

    async fn get(
        &self,
        request: Request<v1::ControllerRevisionsGetRequest>,
    ) -> Result<Response<v1::ControllerRevisionsGetResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, reads::get(&self.0, &asking, message).await)
    }

    async fn list(
        &self,
        request: Request<v1::ControllerRevisionsListRequest>,
    ) -> Result<Response<v1::ControllerRevisionsListResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, reads::list(&self.0, &asking, message).await)
    }

    async fn history(
        &self,
        request: Request<v1::ControllerRevisionsHistoryRequest>,
    ) -> Result<Response<v1::ControllerRevisionsHistoryResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, reads::history(&self.0, &asking, message).await)
    }

    async fn diff(
        &self,
        request: Request<v1::ControllerRevisionsDiffRequest>,
    ) -> Result<Response<v1::ControllerRevisionsDiffResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, reads::diff(&self.0, &asking, message).await)
    }

    async fn update(
        &self,
        request: Request<v1::ControllerRevisionsUpdateRequest>,
    ) -> Result<Response<v1::ControllerRevisionsUpdateResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, changes::update(&self.0, &asking, message).await)
    }

    async fn rollback(
        &self,
        request: Request<v1::ControllerRevisionsRollbackRequest>,
    ) -> Result<Response<v1::ControllerRevisionsRollbackResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, changes::rollback(&self.0, &asking, message).await)
    }

    async fn mark_live(
        &self,
        request: Request<v1::ControllerRevisionsMarkLiveRequest>,
    ) -> Result<Response<v1::ControllerRevisionsMarkLiveResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, changes::mark_live(&self.0, &asking, message).await)
    }

    async fn truncate(
        &self,
        request: Request<v1::ControllerRevisionsTruncateRequest>,
    ) -> Result<Response<v1::ControllerRevisionsTruncateResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, changes::truncate(&self.0, &asking, message).await)
    }

    async fn delete(
        &self,
        request: Request<v1::ControllerRevisionsDeleteRequest>,
    ) -> Result<Response<v1::ControllerRevisionsDeleteResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, changes::delete(&self.0, &asking, message).await)
    }

    async fn delete_history(
        &self,
        request: Request<v1::ControllerRevisionsDeleteHistoryRequest>,
    ) -> Result<Response<v1::ControllerRevisionsDeleteHistoryResponse>, Status> {
        let (asking, message) = opened(request);
        let deleted = changes::delete_history(&self.0, &asking, message).await;
        answer(&self.0, deleted)
    }

    async fn adopt(
        &self,
        request: Request<v1::ControllerRevisionsAdoptRequest>,
    ) -> Result<Response<v1::ControllerRevisionsAdoptResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, changes::adopt(&self.0, &asking, message).await)
    }

    async fn release(
        &self,
        request: Request<v1::ControllerRevisionsReleaseRequest>,
    ) -> Result<Response<v1::ControllerRevisionsReleaseResponse>, Status> {
        let (asking, message) = opened(request);
        answer(&self.0, changes::release(&self.0, &asking, message).await)
    }
}
