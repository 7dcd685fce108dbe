//! Members as tables.

use std::time::Duration;

use serde_json::Value;
use synod_client::json;
use synod_client::{Member, MemberPage, MemberView, WallTime};

use super::{or_unset, span, yes_or_no};
use crate::output::{Document, Listed, UNSET, age};

const COLUMNS: [&str; 7] = [
    "Name",
    "Phase",
    "Epoch",
    "Version",
    "Endpoint",
    "Remaining",
    "Age",
];
const MORE_COLUMNS: [&str; 5] = ["Instance", "TTL", "Reported", "Labels", "UID"];

/// `synod members list`.
pub(crate) fn members(page: &MemberPage, now: WallTime) -> Document {
    let items = page.items.iter().map(|item| (&item.member, item.remaining));
    document(json::of(page), items, now)
}

/// `synod members get`.
pub(crate) fn member(view: &MemberView, now: WallTime) -> Document {
    document(json::of(view), [(&view.member, view.remaining)], now)
}

fn document<'a>(
    value: Value,
    items: impl IntoIterator<Item = (&'a Member, Option<Duration>)>,
    now: WallTime,
) -> Document {
    let listed = items.into_iter().map(|(member, remaining)| Listed {
        name: member.id.to_string(),
        cells: cells(member, remaining, now),
        more: more_cells(member),
    });
    Document::list(value, (&COLUMNS, &MORE_COLUMNS), listed)
}

fn cells(member: &Member, remaining: Option<Duration>, now: WallTime) -> Vec<String> {
    vec![
        member.id.to_string(),
        member.phase.to_string(),
        member.epoch.to_string(),
        or_unset(shown(member.version.as_str())),
        or_unset(shown(member.endpoint.as_str())),
        or_unset(remaining.map(span)),
        age(member.metadata.created.as_millis(), now.as_millis()),
    ]
}

fn more_cells(member: &Member) -> Vec<String> {
    let labels: Vec<String> = member
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    vec![
        member.instance.to_string(),
        span(member.ttl.duration()),
        yes_or_no(member.reported).to_owned(),
        if labels.is_empty() {
            UNSET.to_owned()
        } else {
            labels.join(",")
        },
        member.metadata.uid.to_string(),
    ]
}

/// `None` for an empty text.
fn shown(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
