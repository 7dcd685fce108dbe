use crate::{Member, MemberItem, MemberPage, MemberView, Phase};
use serde_json::{Value, json};

use super::{Object, header, list, metadata, millis, number, revision, text};

/// The message `Member`.
pub fn member(member: &Member) -> Value {
    let phase = match member.phase {
        Phase::Joining => "MEMBER_PHASE_JOINING",
        Phase::Ready => "MEMBER_PHASE_READY",
    };
    Object::new()
        .with(
            "metadata",
            metadata(member.id.as_str(), &member.metadata, &member.labels),
        )
        .with("instance", text(&member.instance))
        .with("epoch", revision(member.epoch.revision()))
        .with("ttlMs", number(member.ttl.as_millis()))
        .with("version", text(&member.version))
        .with("endpoint", text(&member.endpoint))
        .with("phase", phase)
        .with("reported", member.reported)
        .into()
}

/// The message `MemberListItem`.
fn member_item(item: &MemberItem) -> Value {
    Object::new()
        .with("member", member(&item.member))
        .with_some("remainingMs", item.remaining.map(millis))
        .into()
}

/// The message `MembershipListResponse`, with the items of all pages.
pub fn member_page(page: &MemberPage) -> Value {
    json!({"header": header(&page.header), "items": list(&page.items, member_item)})
}

/// The message `MembershipGetResponse`.
pub fn member_view(view: &MemberView) -> Value {
    Object::new()
        .with("header", header(&view.header))
        .with("member", member(&view.member))
        .with_some("remainingMs", view.remaining.map(millis))
        .into()
}
