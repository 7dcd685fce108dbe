//! Patches: read, patched and written back, unless somebody was faster; then again.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::Value;

use crate::status::{About, Fault};
use crate::strategic;

/// What is said of patches in another form.
const ACCEPTED: &str = "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json";

/// The most operations of a JSON patch, as in Kubernetes.
const OPERATIONS_MAX: usize = 10_000;

/// A change of a document.
pub(crate) enum Patch {
    Merge(Value),
    Json(json_patch::Patch),
    Strategic(Value),
}

impl Patch {
    /// The patch in a body.
    pub(crate) fn of(headers: &HeaderMap, body: &[u8]) -> Result<Self, Fault> {
        let media = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim();
        let unreadable =
            |error: serde_json::Error| Fault::bad_request(format!("error decoding patch: {error}"));
        match media {
            "application/merge-patch+json" => serde_json::from_slice(body)
                .map(Self::Merge)
                .map_err(unreadable),
            "application/strategic-merge-patch+json" => serde_json::from_slice(body)
                .map(Self::Strategic)
                .map_err(unreadable),
            "application/json-patch+json" => {
                let patch: json_patch::Patch = serde_json::from_slice(body).map_err(unreadable)?;
                if patch.0.len() > OPERATIONS_MAX {
                    let message = format!(
                        "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}"
                    );
                    return Err(Fault::bad_request(message));
                }
                Ok(Self::Json(patch))
            }
            _ => Err(Fault::unsupported(ACCEPTED)),
        }
    }

    /// Applies it.
    pub(crate) fn apply(&self, document: &mut Value, about: &About<'_>) -> Result<(), Fault> {
        let invalid = |rule: String| Fault::invalid(about, &[("patch".to_owned(), rule)]);
        match self {
            Self::Merge(patch) => {
                json_patch::merge(document, patch);
                Ok(())
            }
            Self::Strategic(patch) => strategic::merge(document, patch).map_err(invalid),
            Self::Json(patch) => {
                json_patch::patch(document, patch).map_err(|error| invalid(error.to_string()))
            }
        }
    }
}
