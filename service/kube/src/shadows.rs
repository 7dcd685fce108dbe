//! What lists and watches of leases show where a member and a lease have one name: the member alone.
//!
//! By gRPC a lease can be acquired that has the name of a member in `kube-system`. To clients of Kubernetes a name is one object.

use std::collections::BTreeSet;

use serde_json::Value;
use synod_model::Refusal;
use synod_proto::v1;

use crate::identity::{self, NAMESPACE};
use crate::reads::Present;
use crate::request::Asked;
use crate::selectors::labels_match;
use crate::sources::{Calls, PAGE_MAX, Page, Paging, Scope, Start};

/// A page of leases, without those whose names are those of members that are shown.
pub(crate) async fn page(
    calls: &Calls,
    scope: &Scope,
    start: Start,
    size: u32,
) -> Result<Page, Refusal> {
    let mut page = identity::page(calls, scope, start, size).await?;
    let is_lease =
        |item: &Value| item["metadata"]["namespace"] == NAMESPACE && !identity::is_labelled(item);
    if !page.items.iter().any(is_lease) {
        return Ok(page);
    }
    let members = members(calls, page.revision).await?;
    page.items.retain(|item| {
        let name = item["metadata"]["name"].as_str().unwrap_or_default();
        !is_lease(item) || !members.contains(name)
    });
    Ok(page)
}

/// The names of the members that are shown at a revision.
async fn members(calls: &Calls, revision: u64) -> Result<BTreeSet<String>, Refusal> {
    let mut names = BTreeSet::new();
    let mut start = Start::First(Asked::Exact(revision));
    loop {
        let found = calls
            .members(Paging::of(start, PAGE_MAX), identity::labels())
            .await?;
        let members = found.items.into_iter().filter_map(|item| item.member);
        names.extend(members.filter_map(|member| Some(member.metadata?.name)));
        if found.continue_token.is_empty() {
            return Ok(names);
        }
        start = Start::After(found.continue_token);
    }
}

/// Whether a lease is not shown at a revision, since a member has its name.
pub(crate) async fn hides(
    calls: &Calls,
    lease: &v1::Lease,
    revision: u64,
) -> Result<bool, Refusal> {
    let Some(metadata) = &lease.metadata else {
        return Ok(false);
    };
    let (namespace, name) = (Some(metadata.namespace.as_str()), &metadata.name);
    let found = identity::find(calls, namespace, name, Asked::Exact(revision)).await?;
    Ok(found.is_some())
}

/// What a watch of leases tells of a member that changed at this revision: the type of the event, and the lease. One that is
/// selected no more is deleted, if it was before.
pub(crate) async fn told(
    calls: &Calls,
    scope: &Scope,
    revision: u64,
    of: v1::EventType,
    member: &v1::Member,
) -> Result<Option<(&'static str, Value)>, Refusal> {
    let shown = |member: &v1::Member| {
        let lease = identity::of(&scope.kind, member, None, calls.now_ms());
        let is_selected = labels_match(&scope.selection.labels, &lease);
        (identity::is_shown(member) && is_selected).then_some(lease)
    };
    let now = shown(member);
    match (of, now) {
        (v1::EventType::Added, lease) => return Ok(lease.map(|lease| ("ADDED", lease))),
        (v1::EventType::Modified, Some(lease)) => return Ok(Some(("MODIFIED", lease))),
        (v1::EventType::Removed, Some(lease)) => return Ok(Some(("DELETED", lease))),
        (v1::EventType::Modified | v1::EventType::Removed, None) => {}
        (v1::EventType::Unspecified, _) => return Ok(None),
    }
    let name = member.metadata.as_ref().map(|own| own.name.clone());
    let before = Asked::Exact(revision.saturating_sub(1));
    let found = identity::find(calls, Some(NAMESPACE), &name.unwrap_or_default(), before).await?;
    let lease = found.and_then(|Present { member, .. }| shown(&member));
    Ok(lease.map(|lease| ("DELETED", lease)))
}
