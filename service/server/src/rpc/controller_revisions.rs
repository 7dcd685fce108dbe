//! The service `synod.v1.ControllerRevisions`.

mod changes;
mod reads;
mod text_diff;

use synod_proto::v1;
use synod_proto::v1::controller_revisions_server::ControllerRevisions;
use tonic::{Request, Response, Status};

use super::calls::service;
use super::{answer, opened};
use crate::handle::Handle;

/// The service, answered from the handle.
pub(super) struct ControllerRevisionsService(pub(super) Handle);

service! {
    impl ControllerRevisions for ControllerRevisionsService {
        create = changes::create: ControllerRevisionsCreateRequest => ControllerRevisionsCreateResponse;
        get = reads::get: ControllerRevisionsGetRequest => ControllerRevisionsGetResponse;
        list = reads::list: ControllerRevisionsListRequest => ControllerRevisionsListResponse;
        history = reads::history: ControllerRevisionsHistoryRequest => ControllerRevisionsHistoryResponse;
        diff = reads::diff: ControllerRevisionsDiffRequest => ControllerRevisionsDiffResponse;
        update = changes::update: ControllerRevisionsUpdateRequest => ControllerRevisionsUpdateResponse;
        rollback = changes::rollback: ControllerRevisionsRollbackRequest => ControllerRevisionsRollbackResponse;
        mark_live = changes::mark_live: ControllerRevisionsMarkLiveRequest => ControllerRevisionsMarkLiveResponse;
        truncate = changes::truncate: ControllerRevisionsTruncateRequest => ControllerRevisionsTruncateResponse;
        delete = changes::delete: ControllerRevisionsDeleteRequest => ControllerRevisionsDeleteResponse;
        adopt = changes::adopt: ControllerRevisionsAdoptRequest => ControllerRevisionsAdoptResponse;
        release = changes::release: ControllerRevisionsReleaseRequest => ControllerRevisionsReleaseResponse;
    }
    {
    async fn delete_history(
        &self,
        request: Request<v1::ControllerRevisionsDeleteHistoryRequest>,
    ) -> Result<Response<v1::ControllerRevisionsDeleteHistoryResponse>, Status> {
        let (asking, message) = opened(request);
        let deleted = changes::delete_history(&self.0, &asking, message).await;
        answer(&self.0, deleted)
    }
    }
}
