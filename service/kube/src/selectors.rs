//! Field selectors: requirements on a name and a namespace.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Namespace,
}

impl FieldSelector {
    /// Parses `metadata.name=x,metadata.namespace!=y`.
    ///
    /// # Errors
    ///
    /// It is not of this form, or names another field.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let parts = text.split(',').filter(|part| !part.is_empty());
        let parsed = parts.map(|part| {
            let (field, is_equal, value) = split(part).ok_or_else(|| {
                Fault::bad_request(format!("invalid selector: '{part}'; can't understand"))
            })?;
            let field = match field {
                "metadata.name" => Field::Name,
                "metadata.namespace" => Field::Namespace,
                other => {
                    return Err(Fault::bad_request(format!(
                        "field label not supported: {other}"
                    )));
                }
            };
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
            let field = match requirement.field {
                Field::Name => "name",
                Field::Namespace => "namespace",
            };
            let value = document["metadata"][field].as_str().unwrap_or_default();
            (value == requirement.value) == requirement.is_equal
        })
    }

    /// In the form that `synod.v1` reads.
    pub(crate) fn text(&self) -> String {
        let parts = self.0.iter().map(|it| {
            let field = match it.field {
                Field::Name => "metadata.name",
                Field::Namespace => "metadata.namespace",
            };
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
            FieldSelector::parse(text)
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
        let selector = FieldSelector::parse("metadata.name==a,metadata.namespace!=m").ok();
        assert_eq!(
            selector.as_ref().map(FieldSelector::text).as_deref(),
            Some("metadata.name=a,metadata.namespace!=m")
        );
    }
}
