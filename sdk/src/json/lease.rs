use crate::{Hold, Labels, Lease, LeaseCandidate, LeaseItem, LeasePage, LeaseToken, LeaseView};
use serde_json::{Value, json};

use super::{Object, header, list, metadata, millis, number, revision, text};

/// The message `Lease`.
pub fn lease(lease: &Lease) -> Value {
    let mut named = metadata(lease.key.name(), &lease.metadata, &Labels::default());
    named["namespace"] = lease.key.namespace().into();
    let preferred = lease.preferred.as_ref();
    Object::new()
        .with("metadata", named)
        .with_some("hold", lease.hold.as_ref().map(hold))
        .with("transitions", number(lease.transitions))
        .with(
            "preferredHolder",
            preferred.map(ToString::to_string).unwrap_or_default(),
        )
        .into()
}

/// The message `LeaseCandidate`.
pub fn lease_candidate(candidate: &LeaseCandidate) -> Value {
    let identity = candidate.identity.as_str();
    let mut named = metadata(identity, &candidate.metadata, &Labels::default());
    let lease = &candidate.lease;
    named["namespace"] = lease.namespace().into();
    let emulation = candidate.emulation_version.as_ref();
    json!({
        "metadata": named,
        "lease": {"namespace": lease.namespace(), "name": lease.name()},
        "binaryVersion": text(&candidate.binary_version),
        "emulationVersion": emulation.map(ToString::to_string).unwrap_or_default(),
        "strategy": text(&candidate.strategy),
        "ttlMs": number(candidate.ttl.as_millis()),
    })
}

/// The message `LeaseHold`.
fn hold(hold: &Hold) -> Value {
    let member = hold.member.as_ref().map(|(member, epoch)| {
        json!({"member": text(member), "epoch": revision(epoch.revision()), "clusterId": ""})
    });
    Object::new()
        .with("holder", text(&hold.holder))
        .with("token", revision(hold.token.revision()))
        .with_some(
            "ticket",
            hold.ticket.map(|ticket| revision(ticket.revision())),
        )
        .with("ttlMs", number(hold.ttl.as_millis()))
        .with_some("member", member)
        .with("acquiredMs", number(hold.acquired.as_millis()))
        .into()
}

/// The fields of a lease in a list.
fn item(item: &LeaseItem) -> Object {
    Object::new()
        .with("lease", lease(&item.lease))
        .with_some("remainingMs", item.remaining.map(millis))
        .with_some("waiting", item.waiting.map(number))
}

/// The message `LeasesListResponse`, with the items of all pages.
pub fn lease_page(page: &LeasePage) -> Value {
    let items = list(&page.items, |one| Value::from(item(one)));
    json!({"header": header(&page.header), "items": items})
}

/// The message `LeasesGetResponse`.
pub fn lease_view(view: &LeaseView) -> Value {
    let waiters = list(
        &view.waiters,
        |(holder, ticket)| json!({"holder": text(holder), "ticket": revision(ticket.revision())}),
    );
    item(&view.item)
        .with("header", header(&view.header))
        .with("waiters", waiters)
        .into()
}

/// The message `LeaseToken`.
pub fn lease_token(token: &LeaseToken) -> Value {
    let cluster = token.cluster.map(text);
    Object::new()
        .with(
            "lease",
            json!({"namespace": token.lease.namespace(), "name": token.lease.name()}),
        )
        .with("token", revision(token.token.revision()))
        .with("clusterId", cluster.unwrap_or_else(|| text("")))
        .into()
}
