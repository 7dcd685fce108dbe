use serde_json::{Value, json};

use super::{Object, header, list, metadata, text};
use crate::{Labels, Roster, RosterChanged, RosterPage, RosterView};

/// The message `Roster`.
pub fn roster(roster: &Roster) -> Value {
    let name = roster.scope.to_string();
    json!({
        "metadata": metadata(&name, &roster.metadata, &Labels::default()),
        "scope": name,
        "rule": {
            "members": list(&roster.rule.members, text),
            "labelSelector": roster.rule.labels.to_string(),
            "least": roster.rule.least,
        },
    })
}

/// The message `RostersGetResponse`.
pub fn roster_view(view: &RosterView) -> Value {
    json!({"header": header(&view.header), "roster": roster(&view.roster)})
}

/// The message `RostersListResponse`, of all pages.
pub fn roster_page(page: &RosterPage) -> Value {
    json!({"header": header(&page.header), "rosters": list(&page.items, roster)})
}

/// The message `RostersSetResponse`.
pub fn roster_changed(changed: &RosterChanged) -> Value {
    Object::new()
        .with("header", header(&changed.header))
        .with("changed", changed.changed)
        .with_some("roster", changed.roster.as_ref().map(roster))
        .into()
}
