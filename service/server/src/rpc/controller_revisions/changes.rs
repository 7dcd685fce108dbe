//! The calls that change ControllerRevisions.

use synod_machine::{Answer, Command, HistoryAnswer, RevisionAnswer};
use synod_model::{
    CreateControllerRevision, Namespace, NamespacedName, Refusal, RollbackControllerRevision,
    UpdateControllerRevision,
};
use synod_proto::{Change, v1};

use crate::handle::{Asking, Carried, Handle};
use crate::objects;
use crate::rpc::{typed, unexpected};

pub(super) async fn create(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsCreateRequest,
) -> Result<v1::ControllerRevisionsCreateResponse, Refusal> {
    let dry_run = message.dry_run;
    let change: Change<CreateControllerRevision> = typed(message)?;
    let namespace = change.body.history.namespace.clone();
    let carried = handle
        .carry_out(asking, change, dry_run, Command::CreateControllerRevision)
        .await?;
    let answer = revision_answer(&carried)?;
    Ok(v1::ControllerRevisionsCreateResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: carried.done.changed,
        answer: Some(objects::revision_answer(answer)),
        controller_revision: answered(&carried, &namespace, answer),
    })
}

pub(super) async fn update(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsUpdateRequest,
) -> Result<v1::ControllerRevisionsUpdateResponse, Refusal> {
    let dry_run = message.dry_run;
    let change: Change<UpdateControllerRevision> = typed(message)?;
    let key = change.body.key.clone();
    let carried = handle
        .carry_out(asking, change, dry_run, Command::UpdateControllerRevision)
        .await?;
    Ok(v1::ControllerRevisionsUpdateResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: carried.done.changed,
        controller_revision: after(&carried, &key),
    })
}

pub(super) async fn rollback(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsRollbackRequest,
) -> Result<v1::ControllerRevisionsRollbackResponse, Refusal> {
    let dry_run = message.dry_run;
    let change: Change<RollbackControllerRevision> = typed(message)?;
    let namespace = change.body.history.namespace.clone();
    let carried = handle
        .carry_out(asking, change, dry_run, Command::RollbackControllerRevision)
        .await?;
    let answer = revision_answer(&carried)?;
    Ok(v1::ControllerRevisionsRollbackResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: carried.done.changed,
        answer: Some(objects::revision_answer(answer)),
        controller_revision: answered(&carried, &namespace, answer),
    })
}

pub(super) async fn truncate(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsTruncateRequest,
) -> Result<v1::ControllerRevisionsTruncateResponse, Refusal> {
    let dry_run = message.dry_run;
    let command = Command::TruncateControllerRevisions;
    let carried = handle
        .carry_out(asking, typed(message)?, dry_run, command)
        .await?;
    Ok(v1::ControllerRevisionsTruncateResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: carried.done.changed,
        answer: Some(history_answer(&carried.done.answer)?),
    })
}

pub(super) async fn delete_history(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsDeleteHistoryRequest,
) -> Result<v1::ControllerRevisionsDeleteHistoryResponse, Refusal> {
    let dry_run = message.dry_run;
    let command = Command::DeleteControllerRevisions;
    let carried = handle
        .carry_out(asking, typed(message)?, dry_run, command)
        .await?;
    Ok(v1::ControllerRevisionsDeleteHistoryResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: carried.done.changed,
        answer: Some(history_answer(&carried.done.answer)?),
    })
}

pub(super) async fn adopt(
    handle: &Handle,
    asking: &Asking,
    message: v1::ControllerRevisionsAdoptRequest,
) -> Result<v1::ControllerRevisionsAdoptResponse, Refusal> {
    let done = handle
        .change(asking, typed(message)?, Command::AdoptControllerRevisions)
        .await?;
    Ok(v1::ControllerRevisionsAdoptResponse {
        header: Some(handle.header(done.revision)),
        changed: done.changed,
        answer: Some(history_answer(&done.answer)?),
    })
}

fn revision_answer(carried: &Carried) -> Result<&RevisionAnswer, Refusal> {
    match &carried.done.answer {
        Answer::ControllerRevision(answer) => Ok(answer),
        answer => Err(unexpected(answer)),
    }
}

fn history_answer(answer: &Answer) -> Result<v1::ControllerHistoryAnswer, Refusal> {
    let answer: HistoryAnswer = match answer {
        Answer::ControllerHistory(answer) => *answer,
        answer => return Err(unexpected(answer)),
    };
    Ok(objects::history_answer(answer))
}

/// The ControllerRevision that a command's answer names.
fn answered(
    carried: &Carried,
    namespace: &Namespace,
    answer: &RevisionAnswer,
) -> Option<v1::ControllerRevision> {
    after(carried, &NamespacedName::new(Some(namespace), &answer.name))
}

/// The ControllerRevision as the command left it, if the revision of the store is still kept.
fn after(carried: &Carried, key: &NamespacedName) -> Option<v1::ControllerRevision> {
    carried.controller_revision(key).as_deref().map(Into::into)
}
