//! The service `synod.v1.ControllerRevisions`.

mod changes;
mod reads;
mod text_diff;

use synod_proto::v1;
use synod_proto::v1::controller_revisions_server::ControllerRevisions;

use super::calls::service;
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
        mark_live: ControllerRevisionsMarkLiveRequest => ControllerRevisionsMarkLiveResponse
            by MarkControllerRevisions, changed;
        truncate = changes::truncate: ControllerRevisionsTruncateRequest => ControllerRevisionsTruncateResponse;
        delete: ControllerRevisionsDeleteRequest => ControllerRevisionsDeleteResponse
            by DeleteControllerRevisions or dry_run;
        delete_history = changes::delete_history:
            ControllerRevisionsDeleteHistoryRequest => ControllerRevisionsDeleteHistoryResponse;
        adopt = changes::adopt: ControllerRevisionsAdoptRequest => ControllerRevisionsAdoptResponse;
        release: ControllerRevisionsReleaseRequest => ControllerRevisionsReleaseResponse
            by ReleaseControllerRevision, changed;
    }
}
