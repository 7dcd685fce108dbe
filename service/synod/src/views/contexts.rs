//! The contexts of a settings file.

use serde_json::json;

use crate::output::{Document, Table};
use crate::settings::Contexts;

/// `synod config get-contexts`.
pub(crate) fn contexts(contexts: &Contexts) -> Document {
    let mut table = Table::new(["Current", "Name", "Endpoints"]);
    let mut items = Vec::new();
    for (name, endpoints) in &contexts.all {
        let is_current = contexts.current.as_ref() == Some(name);
        let mark = if is_current { "*" } else { "" };
        table.row([mark, name, endpoints]);
        let endpoints = endpoints.split(',').filter(|it| !it.is_empty());
        items.push(json!({
            "name": name,
            "current": is_current,
            "endpoints": endpoints.collect::<Vec<_>>(),
        }));
    }
    Document {
        value: json!({"items": items}),
        tables: vec![table.clone()],
        wide: vec![table],
        names: contexts.all.iter().map(|(name, _)| name.clone()).collect(),
    }
}

/// `synod config current-context`. For people it is the name alone.
pub(crate) fn current_context(name: &str) -> Document {
    Document {
        value: json!({"currentContext": name}),
        tables: Vec::new(),
        wide: Vec::new(),
        names: vec![name.to_owned()],
    }
}
