//! `DismissLooks`: an operator ends what looks at discovery have shown, as of a server that is gone.
//!
//! The operator says that no server writes what the looks show, so it is evidence no more. What is shown by no look that is
//! left drains, since a server that showed it may have stopped just now.

use synod_model::{DismissLooks, ErrorKind, GroupResource, Refusal};

use super::observe_storage::occasion;
use crate::looks::Looks;
use crate::turn::Turn;
use crate::voting::dismiss;
use crate::{Answer, State};

pub(crate) fn apply(turn: &mut Turn<'_>, request: &DismissLooks) -> Result<Answer, Refusal> {
    check(turn.state(), request)?;
    let decided = dismiss(turn.state(), occasion(turn), request);
    if let Some(decided) = decided {
        turn.carry_out(decided);
    }
    Ok(Answer::Done)
}

fn check(state: &State, request: &DismissLooks) -> Result<(), Refusal> {
    let resource = &request.resource;
    let kept = state.state_of(resource);
    let looks = kept.map(|kept| kept.row.status.all_looks());
    let mut looks = looks.unwrap_or_default();
    let before = looks.clone();
    if looks.dismiss(request) {
        return Ok(());
    }
    Err(
        Refusal::new(ErrorKind::NotFound, reason(resource, request, &before))
            .with("resource", resource.storage_version_name()),
    )
}

fn reason(resource: &GroupResource, request: &DismissLooks, looks: &Looks) -> String {
    let observers: Vec<&str> = looks.named.keys().map(|name| name.as_str()).collect();
    let meant = match (&request.observer, &request.server) {
        (None, None) => "any observer".to_owned(),
        (Some(observer), None) => format!("observer \"{observer}\""),
        (None, Some(server)) => format!("any named observer at server \"{server}\""),
        (Some(observer), Some(server)) => {
            format!("observer \"{observer}\" at server \"{server}\"")
        }
    };
    let kept = match observers.is_empty() {
        true => "no named observer has one".to_owned(),
        false => format!("these have one: {}", observers.join(", ")),
    };
    format!("resource \"{resource}\": there is no look of {meant} to dismiss; {kept}")
}
