//! The service `synod.v1.Membership`.

use synod_machine::{Answer, Command, Holder};
use synod_model::{ErrorKind, Join, Refusal};
use synod_proto::{Change, GetMember, ListMembers, v1};

use super::calls::calls;
use super::pages::{Items, Page};
use super::{typed, unexpected};
use crate::handle::{Asking, Handle};
use crate::watch::has_labels;

calls! {
    join: MembershipJoinRequest => MembershipJoinResponse;
    ready: MembershipReadyRequest => MembershipReadyResponse by MarkReady, changed;
    leave: MembershipLeaveRequest => MembershipLeaveResponse by Leave;
    get: MembershipGetRequest => MembershipGetResponse;
    list: MembershipListRequest => MembershipListResponse;
}

async fn join(
    handle: &Handle,
    asking: &Asking,
    message: v1::MembershipJoinRequest,
) -> Result<v1::MembershipJoinResponse, Refusal> {
    let change: Change<Join> = typed(message)?;
    let done = handle.change(asking, change, Command::Join).await?;
    let Answer::Joined { epoch, ttl } = done.answer else {
        return Err(unexpected(&done.answer));
    };
    // This replica has applied the join, so a watch from the answer's revision misses no later change of `write_grace`.
    let published = handle.consensus().published();
    let write_grace = published.state.settings().write_grace;
    Ok(v1::MembershipJoinResponse {
        header: Some(handle.header(done.revision)),
        epoch: epoch.get(),
        ttl_ms: ttl.as_millis(),
        changed: done.changed,
        write_grace_ms: u64::try_from(write_grace.as_millis()).unwrap_or(u64::MAX),
    })
}

async fn get(
    handle: &Handle,
    asking: &Asking,
    message: v1::MembershipGetRequest,
) -> Result<v1::MembershipGetResponse, Refusal> {
    let GetMember { id, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let member = reading.upgrade_past()?.member(&id).ok_or_else(|| {
        Refusal::new(
            ErrorKind::NotFound,
            format!(
                "there is no member \"{id}\" at revision {}",
                reading.revision()
            ),
        )
    })?;
    Ok(v1::MembershipGetResponse {
        header: Some(handle.header_of(&reading)),
        remaining_ms: handle.remaining_ms(&reading, &Holder::Member(member.id.clone())),
        member: Some((&*member).into()),
    })
}

async fn list(
    handle: &Handle,
    asking: &Asking,
    message: v1::MembershipListRequest,
) -> Result<v1::MembershipListResponse, Refusal> {
    let ListMembers { page, labels } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let past = page.reading.upgrade_past()?;
    let members = past
        .members(page.after.as_ref())
        .filter(|member| has_labels(member, &labels));
    let Items {
        items,
        continue_token,
    } = page.take(
        handle,
        members.map(|member| {
            let remaining_ms =
                handle.remaining_ms(&page.reading, &Holder::Member(member.id.clone()));
            (
                member.id.clone(),
                v1::MemberListItem {
                    member: Some((&*member).into()),
                    remaining_ms,
                },
            )
        }),
    )?;
    Ok(v1::MembershipListResponse {
        header: Some(handle.header_of(&page.reading)),
        items,
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}
