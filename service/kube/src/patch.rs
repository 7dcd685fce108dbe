//! Patches: read, patched and written back, unless somebody was faster; then again.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use serde_json::Value;
use synod_model::limits::PATCH_OPERATIONS_MAX;
use synod_model::{ApiVersion, ErrorKind, PatchFormat};

use crate::body::{Asks, Written};
use crate::kinds::Source;
use crate::status::{About, Fault};
use crate::{bounded, strategic};

/// What is said of patches in another form.
const ACCEPTED: &str = "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json";

/// The form of a configuration that is applied.
const APPLY: &str = "application/apply-patch+yaml";

/// A change of a document.
pub(crate) struct Patch {
    pub(crate) change: Change,
    /// What of the body the change does not say.
    lost: Vec<String>,
}

/// What is left of a patch.
pub(crate) struct Patched {
    pub(crate) code: u16,
    pub(crate) document: Value,
    pub(crate) warnings: Vec<String>,
}

/// How a document is changed.
pub(crate) enum Change {
    Merge(Value),
    /// Well-formed operations, as they were sent.
    Json(Bytes),
    Strategic(Value),
    /// A configuration that is applied, by who manages which fields.
    Apply(Written),
}

impl Patch {
    /// The patch in a body.
    pub(crate) fn of(asks: &Asks<'_>, about: &About<'_>) -> Result<Self, Fault> {
        let Asks { headers, body, .. } = *asks;
        let media = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim();
        let unreadable =
            |error: serde_json::Error| Fault::bad_request(format!("error decoding patch: {error}"));
        if media != APPLY && asks.query.has("force") {
            let rule = "Forbidden: may not be specified for non-apply patch";
            return Err(Fault::of_options(about.verb, "force", rule));
        }
        // A value that is none is refused, whatever there is to be patched.
        asks.query.field_validation(about.verb)?;
        let read = || -> Result<(Value, Vec<String>), Fault> {
            let document = bounded::json(body).map_err(unreadable)?;
            let lost = bounded::lost(body, &document);
            let lost =
                lost.map_err(|fault| Fault::bad_request(format!("error decoding patch: {fault}")))?;
            Ok((document, lost))
        };
        let (change, lost) = match media {
            "application/merge-patch+json" => {
                let (document, lost) = read()?;
                (Change::Merge(document), lost)
            }
            "application/strategic-merge-patch+json" => {
                let (document, lost) = read()?;
                (Change::Strategic(document), lost)
            }
            "application/json-patch+json" => {
                let (operations, lost) = read()?;
                let patch: json_patch::Patch =
                    serde_json::from_value(operations).map_err(unreadable)?;
                if patch.0.len() > PATCH_OPERATIONS_MAX {
                    let message = format!(
                        "The allowed maximum operations in a JSON patch is {PATCH_OPERATIONS_MAX}"
                    );
                    return Err(Fault::bad_request(message));
                }
                (Change::Json(Bytes::copy_from_slice(body)), lost)
            }
            APPLY if is_applied(about) => {
                if asks.query.get("fieldManager").is_none() {
                    let rule = "Required value: is required for apply patch";
                    return Err(Fault::of_options(about.verb, "fieldManager", rule));
                }
                (Change::Apply(asks.configuration(about)?), Vec::new())
            }
            _ if is_applied(about) => {
                return Err(Fault::unsupported(&format!("{ACCEPTED}, {APPLY}")));
            }
            _ => return Err(Fault::unsupported(ACCEPTED)),
        };
        Ok(Self { change, lost })
    }

    /// What is to be told of the fields that a document loses which was patched.
    ///
    /// # Errors
    ///
    /// The request does not take that.
    pub(crate) fn warnings(
        &self,
        asks: &Asks<'_>,
        patched: &Value,
        about: &About<'_>,
    ) -> Result<Vec<String>, Fault> {
        match &self.change {
            Change::Apply(configuration) => Ok(configuration.warnings.clone()),
            _ => asks.warnings(patched, self.lost.clone(), about),
        }
    }

    /// Applies it.
    pub(crate) fn apply(&self, document: &mut Value, about: &About<'_>) -> Result<(), Fault> {
        match &self.change {
            Change::Merge(patch) => json_patch::merge(document, patch),
            Change::Strategic(patch) => {
                strategic::merge(document, patch).map_err(|rule| invalid(about, rule))?;
            }
            Change::Json(operations) => *document = operated(document, operations, about)?,
            // Objects go by who manages which fields. Of all else nobody is told to, so what it does not say stays.
            Change::Apply(configuration) => {
                strategic::merge(document, &configuration.document)
                    .map_err(|rule| invalid(about, rule))?;
            }
        }
        Ok(())
    }
}

/// Whether configurations are applied to the kind.
const fn is_applied(about: &About<'_>) -> bool {
    matches!(
        about.kind.source,
        Source::Objects | Source::Leases | Source::LeaseCandidates | Source::ControllerRevisions
    )
}

fn invalid(about: &About<'_>, rule: String) -> Fault {
    Fault::invalid(about, &[("patch".to_owned(), rule)])
}

/// The document after these operations, by the machine's own code: it bounds the depth of what is nested, the bytes that
/// are copied, and the work.
fn operated(document: &Value, operations: &Bytes, about: &About<'_>) -> Result<Value, Fault> {
    let encoding =
        ApiVersion::parse(&about.kind.api_version()).map_err(|fault| invalid(about, fault.rule))?;
    let patch = synod_model::Patch {
        encoding,
        format: PatchFormat::Json,
        document: operations.clone(),
    };
    let patched = patch.applied_as_by_kubernetes(&document.to_string().into());
    let patched = patched.map_err(|refusal| match refusal.kind {
        // A test that fails is a fault of the patch, as in Kubernetes: nobody was faster.
        ErrorKind::Conflict => invalid(about, refusal.message),
        _ => Fault::of(&refusal, about),
    })?;
    bounded::json(&patched).map_err(|error| invalid(about, error.to_string()))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::json;

    use super::*;
    use crate::kinds::{KINDS, Verb};
    use crate::parts::Part;
    use crate::request::Query;

    /// A document after a JSON patch, or the code of the fault.
    fn patched(mut document: Value, operations: &Value) -> Result<Value, u16> {
        let about = About {
            kind: &KINDS[0],
            verb: Verb::Patch,
            namespace: None,
            name: "a",
            part: Part::Object,
            user: "",
        };
        let mut headers = HeaderMap::new();
        let media = http::HeaderValue::from_static("application/json-patch+json");
        headers.insert(CONTENT_TYPE, media);
        let body = operations.to_string();
        let asks = Asks {
            query: &Query::of(None),
            headers: &headers,
            body: &body.into(),
        };
        let patch = Patch::of(&asks, &about);
        let applied = patch.and_then(|patch| patch.apply(&mut document, &about));
        applied.map(|()| document).map_err(|fault| fault.code)
    }

    #[test]
    fn operations_are_carried_out_one_after_the_other() {
        let operations = json!([
            {"op": "add", "path": "/b", "value": {"c": [1]}},
            {"op": "copy", "from": "/b/c/0", "path": "/b/c/-"},
            {"op": "move", "from": "/b/c", "path": "/a"},
            {"op": "test", "path": "/a", "value": [1, 1]},
        ]);
        let expected = json!({"a": [1, 1], "b": {}});
        assert_eq!(patched(json!({"a": 0}), &operations), Ok(expected));
    }

    #[test]
    fn a_move_to_nowhere_behind_another_operation_is_refused() {
        let operations = json!([
            {"op": "add", "path": "/x", "value": 1},
            {"op": "move", "from": "/x", "path": "/nope/q"},
        ]);
        assert_eq!(patched(json!({}), &operations), Err(422));
        let test = json!([{"op": "test", "path": "/a", "value": 1}]);
        assert_eq!(patched(json!({"a": 2}), &test), Err(422));
        assert_eq!(patched(json!({}), &test), Err(422));
    }

    #[test]
    fn a_document_is_nested_no_deeper_by_a_patch() {
        // Each pair of operations makes it twice as deep.
        let mut operations = vec![json!({"op": "add", "path": "/a", "value": {}})];
        let mut path = "/a".to_owned();
        for _ in 0..12 {
            operations.push(json!({"op": "copy", "from": "/a", "path": "/b"}));
            operations.push(json!({"op": "move", "from": "/b", "path": format!("{path}/a")}));
            path = format!("{path}{path}");
        }
        assert_eq!(patched(json!({}), &json!(operations)), Err(422));
    }

    #[test]
    fn a_document_is_copied_only_so_often() {
        let copy = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let operations = vec![copy; 40];
        assert_eq!(patched(json!({"a": ["x"]}), &json!(operations)), Err(413));
    }
}
