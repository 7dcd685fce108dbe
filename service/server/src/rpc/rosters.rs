//! The service `synod.v1.Rosters`.

use synod_machine::Command;
use synod_model::{Refusal, ResourceScope, Roster};
use synod_proto::{GetRoster, ListRosters, v1};

use super::calls::calls;
use super::pages::{Items, Page};
use super::typed;
use crate::handle::{Asking, Carried, Handle};

calls! {
    set: RostersSetRequest => RostersSetResponse;
    delete: RostersDeleteRequest => RostersDeleteResponse by DeleteRoster or dry_run;
    get: RostersGetRequest => RostersGetResponse;
    list: RostersListRequest => RostersListResponse;
}

async fn set(
    handle: &Handle,
    asking: &Asking,
    message: v1::RostersSetRequest,
) -> Result<v1::RostersSetResponse, Refusal> {
    let scope = message.scope.clone();
    let dry_run = message.dry_run;
    let carried = handle
        .carry_out(asking, typed(message)?, dry_run, Command::SetRoster)
        .await?;
    Ok(v1::RostersSetResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: carried.done.changed,
        roster: written(&carried, &scope),
    })
}

/// The roster as the command left it, if that revision is still kept.
fn written(carried: &Carried, scope: &str) -> Option<v1::Roster> {
    let scope = ResourceScope::parse(scope).ok()?;
    let roster = carried.past()?.roster(&scope)?;
    Some((&*roster).into())
}

async fn get(
    handle: &Handle,
    asking: &Asking,
    message: v1::RostersGetRequest,
) -> Result<v1::RostersGetResponse, Refusal> {
    let GetRoster { scope, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let roster = reading.upgrade_past()?.roster(&scope);
    let roster = roster.ok_or_else(|| Roster::not_found(&scope, Some(reading.revision())))?;
    Ok(v1::RostersGetResponse {
        header: Some(handle.header_of(&reading)),
        roster: Some((&*roster).into()),
    })
}

async fn list(
    handle: &Handle,
    asking: &Asking,
    message: v1::RostersListRequest,
) -> Result<v1::RostersListResponse, Refusal> {
    let ListRosters { page } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let past = page.reading.upgrade_past()?;
    let Items {
        items,
        continue_token,
    } = page.take(
        handle,
        past.rosters(page.after.as_ref())
            .map(|roster| (roster.scope.clone(), v1::Roster::from(&*roster))),
    )?;
    Ok(v1::RostersListResponse {
        header: Some(handle.header_of(&page.reading)),
        rosters: items,
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}
