//! Rosters as tables.

use serde_json::Value;
use synod_client::json;
use synod_client::{
    Header, ResourceScope, Roster, RosterChanged, RosterPage, RosterView, WallTime,
};

use super::{SHOWN, all, joined, or_unset, yes_or_no};
use crate::output::{Document, Table, age};

const COLUMNS: [&str; 6] = ["Scope", "Members", "Labels", "Least", "May miss", "Age"];
const MORE_COLUMNS: [&str; 3] = ["Revision", "UID", "Notices"];

/// `synod rosters list`.
pub(crate) fn rosters(page: &RosterPage, now: WallTime) -> Document {
    document(json::of(page), &page.items, now)
}

/// `synod rosters get`.
pub(crate) fn roster(view: &RosterView, now: WallTime) -> Document {
    let items = std::slice::from_ref(&view.roster);
    document(json::of(view), items, now)
}

/// `synod rosters set`.
pub(crate) fn roster_changed(changed: &RosterChanged, scope: &ResourceScope) -> Document {
    let value = json::of(changed);
    let mut document = outcome(value, changed.changed, &changed.header, scope);
    if let Some(roster) = &changed.roster {
        let mut table = Table::new(["Notices"]);
        table.row([roster.rule.notices()]);
        document.tables.push(table.clone());
        document.wide.push(table);
    }
    document
}

/// `synod rosters delete`.
pub(crate) fn roster_deleted(header: &Header, scope: &ResourceScope) -> Document {
    let value = json::JsonObject::new().with("header", json::of(header));
    outcome(value.into(), true, header, scope)
}

fn outcome(value: Value, changed: bool, header: &Header, scope: &ResourceScope) -> Document {
    let mut table = Table::new(["Scope", "Changed", "Revision"]);
    table.row([
        scope.qualified(),
        yes_or_no(changed).to_owned(),
        header.revision.to_string(),
    ]);
    Document {
        value,
        tables: vec![table.clone()],
        wide: vec![table],
        names: vec![scope.qualified()],
    }
}

fn document(value: Value, items: &[Roster], now: WallTime) -> Document {
    let mut table = Table::new(COLUMNS);
    let mut wide = Table::new(COLUMNS.into_iter().chain(MORE_COLUMNS));
    let mut names = Vec::new();
    for item in items {
        let members: Vec<String> = item.rule.members.iter().map(ToString::to_string).collect();
        table.row(cells(item, joined(&members, SHOWN), now));
        let cells = cells(item, all(&members), now).into_iter();
        wide.row(cells.chain([
            item.metadata.resource_version.to_string(),
            item.metadata.uid.to_string(),
            item.rule.notices(),
        ]));
        names.push(item.scope.qualified());
    }
    Document {
        value,
        tables: vec![table],
        wide: vec![wide],
        names,
    }
}

fn cells(item: &Roster, members: String, now: WallTime) -> [String; 6] {
    let labels = &item.rule.labels;
    [
        item.scope.qualified(),
        members,
        or_unset(Some(labels).filter(|labels| !labels.is_empty())),
        or_unset(Some(item.rule.least).filter(|least| *least > 0)),
        yes_or_no(item.rule.may_miss()).to_owned(),
        age(item.metadata.created.as_millis(), now.as_millis()),
    ]
}
