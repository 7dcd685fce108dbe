//! The replicated settings as tables.

use serde_json::json;
use synod_client::json;
use synod_client::{Changed, SettingsView};

use super::{or_unset, yes_or_no};
use crate::output::{Document, Table};
use crate::replicated::SETTINGS;

/// `synod settings get`.
pub(crate) fn settings(view: &SettingsView) -> Document {
    let mut table = Table::new(["Name", "Value"]);
    let mut wide = Table::new(["Name", "Value", "Default", "Min", "Max"]);
    for setting in SETTINGS {
        let value = Some(setting.value(&view.settings)).filter(|value| !value.is_empty());
        let value = or_unset(value);
        let [default, min, max] = setting.bounds();
        table.row([setting.name, &value]);
        wide.row([setting.name, &value, &default, &min, &max]);
    }
    let names = SETTINGS
        .iter()
        .map(|setting| setting.name.to_owned())
        .collect();
    Document {
        value: json::of(view),
        tables: vec![table],
        wide: vec![wide],
        names,
    }
}

/// `synod settings set`, with the names of the given settings.
pub(crate) fn settings_changed(changed: &Changed, given: Vec<String>) -> Document {
    let mut table = Table::new(["Changed", "Revision"]);
    table.row([
        yes_or_no(changed.changed).to_owned(),
        changed.header.revision.to_string(),
    ]);
    let value = json!({"header": json::of(&changed.header), "changed": changed.changed});
    Document {
        value,
        tables: vec![table.clone()],
        wide: vec![table],
        names: given,
    }
}
