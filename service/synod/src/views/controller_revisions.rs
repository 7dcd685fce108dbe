//! The histories of controllers as tables.

use serde_json::Value;
use synod_client::json;
use synod_client::{
    ControllerRevision, HistoryChanged, HistoryPage, LiveMark, MarkTie, RevisionAnswered,
    RevisionDiff, RevisionView, WallTime,
};

use super::{all, or_unset, yes_or_no};
use crate::output::{Document, Listed, Table, age};

const COLUMNS: [&str; 6] = ["Namespace", "Name", "Owner", "Number", "Live", "Age"];
const MORE_COLUMNS: [&str; 5] = [
    "Live with",
    "Media type",
    "Bytes",
    "Resource version",
    "UID",
];

/// `synod history list`.
pub(crate) fn controller_revisions(page: &HistoryPage, now: WallTime) -> Document {
    document(json::of(page), &page.items, now)
}

/// `synod history show`: below the table is the snapshot's data, line by line, or its size if it is no text.
pub(crate) fn controller_revision(view: &RevisionView, now: WallTime) -> Document {
    let snapshot = &view.revision;
    let items = std::slice::from_ref(snapshot);
    let mut document = document(json::of(view), items, now);
    let bytes = snapshot.data.bytes();
    let text = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => format!("{value:#}"),
        Err(_) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => format!("{} bytes that are no text", bytes.len()),
        },
    };
    let table = lines("Data", &text);
    document.tables.push(table.clone());
    document.wide.push(table);
    document
}

/// `synod history diff`.
pub(crate) fn revision_diff(diff: &RevisionDiff) -> Document {
    let text = match &diff.unified {
        _ if diff.equal => "they are equal",
        Some(unified) => unified,
        None => "they differ, and one of them is no text",
    };
    let table = lines("Difference", text);
    Document {
        value: json::of(diff),
        tables: vec![table.clone()],
        wide: vec![table],
        names: Vec::new(),
    }
}

/// `synod history rollback`.
pub(crate) fn rolled_back(done: &RevisionAnswered) -> Document {
    let answer = &done.answer;
    let mut table = Table::new(["Name", "Number", "Outcome", "Revision"]);
    table.row([
        answer.name.to_string(),
        answer.number.to_string(),
        answer.outcome.to_string(),
        done.header.revision.to_string(),
    ]);
    Document {
        value: json::of(done),
        tables: vec![table.clone()],
        wide: vec![table],
        names: vec![answer.name.to_string()],
    }
}

/// `synod history truncate`.
pub(crate) fn truncated(done: &HistoryChanged) -> Document {
    let mut table = Table::new(["Deleted", "Left", "Changed", "Revision"]);
    table.row([
        done.answer.deleted.to_string(),
        done.answer.left.to_string(),
        yes_or_no(done.changed).to_owned(),
        done.header.revision.to_string(),
    ]);
    Document {
        value: json::of(done),
        tables: vec![table.clone()],
        wide: vec![table],
        names: Vec::new(),
    }
}

/// A table with one column, whose rows are the lines of a text.
fn lines(title: &str, text: &str) -> Table {
    let mut table = Table::new([title]);
    for line in text.lines() {
        table.row([line]);
    }
    table
}

fn document(value: Value, items: &[ControllerRevision], now: WallTime) -> Document {
    let listed = items.iter().map(|item| Listed {
        name: item.key.to_string(),
        cells: cells(item, now),
        more: more_cells(item),
    });
    Document::list(value, (&COLUMNS, &MORE_COLUMNS), listed)
}

fn cells(item: &ControllerRevision, now: WallTime) -> Vec<String> {
    let owner = item.controller.as_ref();
    vec![
        item.key.namespace().unwrap_or_default().to_owned(),
        item.key.name().to_owned(),
        or_unset(owner.map(|owner| format!("{}/{}", owner.kind, owner.name))),
        item.number.to_string(),
        live(item),
        age(item.metadata.created.as_millis(), now.as_millis()),
    ]
}

/// The marks for which a snapshot is not truncated.
fn live(item: &ControllerRevision) -> String {
    all(item.marks.iter().map(|(mark, _)| mark_name(mark)))
}

fn mark_name(mark: &LiveMark) -> String {
    match mark {
        LiveMark::Current => "current".to_owned(),
        LiveMark::Update => "update".to_owned(),
        LiveMark::InUse(marker) => marker.to_string(),
    }
}

/// What each of its marks depends on, in the order of the marks.
fn ties(item: &ControllerRevision) -> String {
    all(item.marks.iter().map(|(_, tie)| match tie {
        MarkTie::Renewals(ttl) => format!("renewals within {ttl}"),
        MarkTie::Member(member, epoch) => format!("member {member} in epoch {epoch}"),
        MarkTie::Object(key, _) => format!("{}/{}", key.resource.qualified(), key.name),
    }))
}

fn more_cells(item: &ControllerRevision) -> Vec<String> {
    vec![
        ties(item),
        item.data.media_type().to_string(),
        item.data.bytes().len().to_string(),
        item.metadata.resource_version.to_string(),
        item.metadata.uid.to_string(),
    ]
}
