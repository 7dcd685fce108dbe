//! `ForgetResource`: removes the storage state of a resource that no member reports and no collection declares.
//!
//! A resource that is reported again starts with unknown versions persisted, so forgetting makes nothing look safer
//! than it is. For the same reason a resource is not forgotten while a drain runs, since the writes that may still
//! arrive would be forgotten, nor while discovery shows it: the encodings shown drain when the observation expires.

use synod_model::{ErrorKind, ForgetResource, GroupResource, LogTime, Refusal};

use crate::turn::Turn;
use crate::{Answer, StateStatus};

pub(crate) fn apply(turn: &mut Turn<'_>, forget: &ForgetResource) -> Result<Answer, Refusal> {
    check(turn, forget)?;
    turn.remove_storage_state(&forget.resource);
    Ok(Answer::Done)
}

fn check(turn: &Turn<'_>, forget: &ForgetResource) -> Result<(), Refusal> {
    let ForgetResource {
        resource,
        if_revision,
    } = forget;
    let name = resource.storage_version_name();
    let Some(kept) = turn.state().state_of(resource) else {
        let message = format!("resource \"{resource}\": it was never reported, or is forgotten");
        return Err(Refusal::new(ErrorKind::NotFound, message).with("resource", name));
    };
    let present = kept.row.metadata.resource_version;
    if let Some(expected) = if_revision.filter(|expected| *expected != present) {
        let message = format!(
            "resource \"{resource}\": what is known of it was last changed at revision {present}, not {expected}: look \
             at it again before you forget it"
        );
        return Err(Refusal::new(ErrorKind::Conflict, message)
            .with("resource", name)
            .with("resource_version", present));
    }
    let reporting = turn.state().entries_of(resource).count();
    if reporting > 0 {
        let message = format!(
            "resource \"{resource}\": {reporting} members report it, so it cannot be forgotten"
        );
        return Err(Refusal::new(ErrorKind::Conflict, message).with("resource", name));
    }
    if turn.state().has_keys_of_several_names(resource) {
        let message = format!(
            "resource \"{resource}\": its store has several names, and a key of them is known: forget the key first, or take the \
             other names out"
        );
        return Err(Refusal::new(ErrorKind::Conflict, message).with("resource", name));
    }
    if turn.state().collections.contains_key(resource) {
        let message = format!(
            "resource \"{resource}\": it is declared as a collection, so it cannot be forgotten: delete the collection \
             first"
        );
        return Err(Refusal::new(ErrorKind::Conflict, message).with("resource", name));
    }
    let status = &kept.row.status;
    let shown = status.observation.as_ref();
    if let Some(shown) = shown.filter(|_| status.all_looks().is_any_live()) {
        let hashes: Vec<String> = shown.hashes.iter().map(ToString::to_string).collect();
        let message = format!(
            "resource \"{resource}\": discovery shows {} of it: end its observer, and forget it when nobody has looked for \
             two periods",
            hashes.join(", ")
        );
        return Err(Refusal::new(ErrorKind::Conflict, message).with("resource", name));
    }
    check_late_writes(resource, status, turn.log_time())
}

/// Refuses while anything may land that would be forgotten.
fn check_late_writes(
    resource: &GroupResource,
    status: &StateStatus,
    now: LogTime,
) -> Result<(), Refusal> {
    let name = resource.storage_version_name();
    let said_stopped = status.said_stopped.iter().max_by_key(|(_, until)| **until);
    if let Some((member, until)) = said_stopped.filter(|(_, until)| **until > now) {
        let left_ms = until.since(now).as_millis();
        let message = format!(
            "resource \"{resource}\": somebody said that {member} has stopped, and if not it may write for {left_ms} ms of log \
             time still: forget it then"
        );
        return Err(Refusal::new(ErrorKind::Draining, message)
            .with("resource", name)
            .with("left_ms", left_ms));
    }
    if let Some(member) = status.ungated_gone.keys().next() {
        let message = format!(
            "resource \"{resource}\": {member} has no gate and went without saying so, so its process may go on writing: forget \
             it when the member is back, or somebody has said that it has stopped"
        );
        return Err(Refusal::new(ErrorKind::Conflict, message).with("resource", name));
    }
    let Some((version, until)) = status.last_late_write().filter(|(_, until)| *until > now) else {
        return Ok(());
    };
    let left_ms = until.since(now).as_millis();
    let message = format!(
        "resource \"{resource}\": writes in {version} may land for {left_ms} ms of log time still: forget it then"
    );
    Err(Refusal::new(ErrorKind::Draining, message)
        .with("resource", name)
        .with("version", version)
        .with("left_ms", left_ms))
}
