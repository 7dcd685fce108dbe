//! The parts of an object that are written apart: the status, by its subresource, and all the rest, by the object itself.
//!
//! Where a collection has a status subresource, a write of the object keeps the status that there is, and a write of
//! `<name>/status` keeps everything else, as custom resources of Kubernetes do it.

use serde_json::{Value, json};

/// The member of a document that is its status, and the name of its subresource.
pub(crate) const STATUS: &str = "status";

/// What of an object a request is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    #[default]
    Object,
    Status,
}

impl Part {
    /// The subresource; empty for the object itself.
    pub(crate) const fn subresource(self) -> &'static str {
        match self {
            Self::Object => "",
            Self::Status => STATUS,
        }
    }

    /// The resource with this plural, as discovery and the rules of rights name it.
    pub(crate) fn path(self, plural: &str) -> String {
        match self {
            Self::Object => plural.to_owned(),
            Self::Status => format!("{plural}/{STATUS}"),
        }
    }

    /// What is stored of a document that is written in place of what there is, if the kind has a status subresource or not.
    ///
    /// A document in another version than the stored one brings its status along, since nobody but its writer can say it in
    /// that version.
    pub(crate) fn written(self, mut document: Value, live: &Value, has_status: bool) -> Value {
        match self {
            Self::Status => {
                let mut whole = live.clone();
                put(&mut whole, &document[STATUS]);
                whole["metadata"]["managedFields"] = document["metadata"]["managedFields"].take();
                whole
            }
            Self::Object if has_status && document["apiVersion"] == live["apiVersion"] => {
                put(&mut document, &live[STATUS]);
                document
            }
            Self::Object => document,
        }
    }

    /// What counts of a document that is created or applied.
    pub(crate) fn said(self, document: &Value, has_status: bool) -> Value {
        let mut said = document.clone();
        match self {
            Self::Object if has_status => put(&mut said, &Value::Null),
            Self::Object => {}
            Self::Status => {
                let members = document.as_object().into_iter().flatten();
                let named = |name: &str| ["apiVersion", "kind", STATUS].contains(&name);
                said = members
                    .filter(|(name, _)| named(name.as_str()))
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                // What it expects of the object counts, and is no field of it.
                let metadata = &document["metadata"];
                said["metadata"] = json!({});
                for name in ["name", "namespace", "uid", "resourceVersion"] {
                    if !metadata[name].is_null() {
                        said["metadata"][name] = metadata[name].clone();
                    }
                }
            }
        }
        said
    }
}

/// Puts a status into a document; none if it is null.
fn put(document: &mut Value, status: &Value) {
    if let Value::Object(members) = document {
        match status {
            Value::Null => drop(members.shift_remove(STATUS)),
            status => drop(members.insert(STATUS.to_owned(), status.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(spec: u64, status: Option<u64>) -> Value {
        let mut document = json!({"apiVersion": "g/v1", "metadata": {"name": "a"}, "spec": spec});
        put(&mut document, &json!(status));
        document
    }

    #[test]
    fn each_part_is_written_without_the_other() {
        let live = document(1, Some(1));
        let object = Part::Object.written(document(2, Some(2)), &live, true);
        assert_eq!(object, document(2, Some(1)));
        let mut status = Part::Status.written(document(2, Some(2)), &live, true);
        assert_eq!(status["metadata"]["managedFields"].take(), Value::Null);
        assert_eq!((&status["spec"], &status["status"]), (&json!(1), &json!(2)));
        let gone = Part::Status.written(document(2, None), &live, true);
        assert_eq!(gone.get("status"), None);
        let first = Part::Object.written(document(2, Some(2)), &document(1, None), true);
        assert_eq!(first, document(2, None));
    }

    #[test]
    fn without_a_status_subresource_it_is_a_field_as_any_other() {
        let live = document(1, Some(1));
        let written = Part::Object.written(document(2, Some(2)), &live, false);
        assert_eq!(written, document(2, Some(2)));
        assert_eq!(Part::Object.said(&live, false), live);
    }

    #[test]
    fn another_version_brings_its_status_along() {
        let mut live = document(1, Some(1));
        live["apiVersion"] = json!("g/v0");
        let written = Part::Object.written(document(2, Some(2)), &live, true);
        assert_eq!(written, document(2, Some(2)));
    }
}
