//! The service `synod.v1.ControllerRevisions`.

mod changes;
mod reads;
mod text_diff;

use super::calls::calls;

calls! {
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
    delete_history = changes::delete_history:
        ControllerRevisionsDeleteHistoryRequest => ControllerRevisionsDeleteHistoryResponse;
    adopt = changes::adopt: ControllerRevisionsAdoptRequest => ControllerRevisionsAdoptResponse;
    release = changes::release: ControllerRevisionsReleaseRequest => ControllerRevisionsReleaseResponse;
}
