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
