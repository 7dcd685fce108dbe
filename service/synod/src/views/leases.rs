//! Leases as tables.

use serde_json::Value;
use synod_client::json;
use synod_client::{LeaseItem, LeasePage, LeaseView, WallTime};

use super::{or_unset, span};
use crate::output::{Document, Listed, age};

const COLUMNS: [&str; 7] = [
    "Namespace",
    "Name",
    "Holder",
    "Token",
    "Waiting",
    "Remaining",
    "Age",
];
const MORE_COLUMNS: [&str; 4] = ["TTL", "Transitions", "Preferred", "UID"];

/// `synod lease list`.
pub(crate) fn leases(page: &LeasePage, now: WallTime) -> Document {
    document(json::of(page), &page.items, now)
}

/// `synod lease get`.
pub(crate) fn lease(view: &LeaseView, now: WallTime) -> Document {
    document(json::of(view), [&view.item], now)
}

fn document<'a>(
    value: Value,
    items: impl IntoIterator<Item = &'a LeaseItem>,
    now: WallTime,
) -> Document {
    let listed = items.into_iter().map(|item| Listed {
        name: item.lease.key.to_string(),
        cells: cells(item, now),
        more: more_cells(item),
    });
    Document::list(value, (&COLUMNS, &MORE_COLUMNS), listed)
}

fn cells(item: &LeaseItem, now: WallTime) -> Vec<String> {
    let LeaseItem {
        lease,
        remaining,
        waiting,
    } = item;
    let hold = lease.hold.as_ref();
    vec![
        lease.key.namespace().to_owned(),
        lease.key.name().to_owned(),
        or_unset(hold.map(|hold| &hold.holder)),
        or_unset(hold.map(|hold| hold.token)),
        or_unset(*waiting),
        or_unset(remaining.map(span)),
        age(lease.metadata.created.as_millis(), now.as_millis()),
    ]
}

fn more_cells(item: &LeaseItem) -> Vec<String> {
    let lease = &item.lease;
    let ttl = lease.hold.as_ref().map(|hold| hold.ttl.duration());
    vec![
        or_unset(ttl.map(span)),
        lease.transitions.to_string(),
        or_unset(lease.preferred.as_ref()),
        lease.metadata.uid.to_string(),
    ]
}
