//! Field selectors: requirements on a name and a namespace, and on what an event is about.

use serde_json::Value;
use synod_model::{LabelSelector, Labels};

use crate::status::Fault;

/// The requirements of a field selector.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldSelector(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    field: Field,
    is_equal: bool,
    value: String,
}

/// A field that can be selected by, and where it is in a document.
type Field = (&'static str, &'static [&'static str]);

/// The fields that every kind is selected by.
const OF_ALL: [Field; 2] = [
    ("metadata.name", &["metadata", "name"]),
    ("metadata.namespace", &["metadata", "namespace"]),
];

/// The fields that events are selected by, too.
const OF_EVENTS: [Field; 8] = [
    (
        "involvedObject.apiVersion",
        &["involvedObject", "apiVersion"],
    ),
    ("involvedObject.kind", &["involvedObject", "kind"]),
    ("involvedObject.name", &["involvedObject", "name"]),
    ("involvedObject.namespace", &["involvedObject", "namespace"]),
    ("involvedObject.uid", &["involvedObject", "uid"]),
    ("reason", &["reason"]),
    ("reportingComponent", &["reportingComponent"]),
    ("type", &["type"]),
];

impl FieldSelector {
    /// Parses `metadata.name=x,metadata.namespace!=y`, and what events alone are selected by.
    ///
    /// # Errors
    ///
    /// It is not of this form, or names another field.
    pub(crate) fn parse(text: &str, is_of_events: bool) -> Result<Self, Fault> {
        let more = if is_of_events { &OF_EVENTS[..] } else { &[] };
        let parts = text.split(',').filter(|part| !part.is_empty());
        let parsed = parts.map(|part| {
            let (field, is_equal, value) = split(part).ok_or_else(|| {
                Fault::bad_request(format!("invalid selector: '{part}'; can't understand"))
            })?;
            let known = OF_ALL.iter().chain(more).find(|(name, _)| *name == field);
            let field = *known
                .ok_or_else(|| Fault::bad_request(format!("field label not supported: {field}")))?;
            let value = value.to_owned();
            Ok(Requirement {
                field,
                is_equal,
                value,
            })
        });
        Ok(Self(parsed.collect::<Result<_, _>>()?))
    }

    /// Whether a document matches.
    pub(crate) fn matches(&self, document: &Value) -> bool {
        self.0.iter().all(|requirement| {
            let (_, path) = requirement.field;
            let value = path.iter().fold(document, |at, part| &at[*part]);
            let value = value.as_str().unwrap_or_default();
            (value == requirement.value) == requirement.is_equal
        })
    }

    /// What a field must be equal to, if it must.
    pub(crate) fn equal(&self, field: &str) -> Option<&str> {
        let mut all = self.0.iter();
        let found = all.find(|it| it.field.0 == field && it.is_equal);
        found.map(|it| it.value.as_str())
    }

    /// In the form that `synod.v1` reads.
    pub(crate) fn text(&self) -> String {
        let parts = self.0.iter().map(|it| {
            let (field, _) = it.field;
            let sign = if it.is_equal { "=" } else { "!=" };
            format!("{field}{sign}{}", it.value)
        });
        parts.collect::<Vec<_>>().join(",")
    }
}

fn split(part: &str) -> Option<(&str, bool, &str)> {
    for (sign, is_equal) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((field, value)) = part.split_once(sign) {
            return Some((field.trim(), is_equal, value.trim()));
        }
    }
    None
}

/// Whether the labels of a document match.
pub(crate) fn labels_match(selector: &LabelSelector, document: &Value) -> bool {
    if selector.is_empty() {
        return true;
    }
    let own = document["metadata"]["labels"].as_object();
    let pairs = own.into_iter().flatten();
    let pairs = pairs.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()));
    Labels::parse(pairs).is_ok_and(|labels| selector.matches(&labels))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_namespaces_are_selected_and_nothing_else() {
        let document = json!({"metadata": {"name": "a", "namespace": "n"}});
        let matches = |text: &str| {
            FieldSelector::parse(text, false)
                .ok()
                .map(|it| it.matches(&document))
        };
        assert_eq!(matches(""), Some(true));
        assert_eq!(matches("metadata.name=a"), Some(true));
        assert_eq!(
            matches("metadata.name==a,metadata.namespace!=n"),
            Some(false)
        );
        assert_eq!(matches("metadata.name!=b"), Some(true));
        assert_eq!(matches("spec.x=1"), None);
        assert_eq!(matches("metadata.name"), None);
        let event = json!({"involvedObject": {"name": "a"}, "type": "Normal"});
        let of_event = "involvedObject.name=a,involvedObject.namespace=,type!=Warning";
        let selector = FieldSelector::parse(of_event, true).ok();
        assert_eq!(selector.as_ref().map(|it| it.matches(&event)), Some(true));
        let name = selector
            .as_ref()
            .and_then(|it| it.equal("involvedObject.name"));
        assert_eq!(name, Some("a"));
        assert_eq!(matches(of_event), None);
        let selector = FieldSelector::parse("metadata.name==a,metadata.namespace!=m", false).ok();
        assert_eq!(
            selector.as_ref().map(FieldSelector::text).as_deref(),
            Some("metadata.name=a,metadata.namespace!=m")
        );
    }
}
