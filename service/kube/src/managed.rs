//! Managed fields: who has written which fields of an object, and server-side apply by that.
//!
//! They are kept in an annotation of the object, which gRPC shows as any other, and documents of Kubernetes as
//! `metadata.managedFields`. Beside the managers stands a digest of each value: the calls of `synod.v1` name no manager, and
//! by the digests it is found out which fields they have written since. Who takes the annotation away takes the managers
//! away: then whoever applies next finds all fields with one manager before it, as in Kubernetes.
//!
//! Nothing here does I/O or reads a clock.

mod fields;
mod managers;
mod values;

use serde_json::{Map, Value, json};
use synod_model::limits::ANNOTATIONS_BYTES_MAX;

use self::managers::Managers;
pub(crate) use self::managers::{Conflict, Writer};

/// The annotation with the managers.
pub(crate) const MANAGED: &str = "synod.io/managed-fields";

/// The most bytes of the annotation. An object with more fields than that has no managers.
pub(crate) const MANAGED_BYTES_MAX: usize = 64 << 10;

/// The longest path of a managed field, so that what is written can be read again.
const DEPTH_MAX: usize = 100;

/// What of metadata has managers; the rest is Synod's own.
const METADATA: [&str; 4] = ["labels", "annotations", "ownerReferences", "finalizers"];

/// An object, and who manages its fields.
#[derive(Debug, Default)]
pub(crate) struct Managed {
    /// What of its document has managers.
    tracked: Value,
    api_version: String,
    managers: Managers,
    /// The annotation as it is stored.
    stored: Option<String>,
}

/// Why a configuration cannot be applied.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unapplied {
    Conflicts(Vec<Conflict>),
    /// Its managers would take more than is kept.
    TooMany,
}

impl Managed {
    /// The managers of an object, by its document and its annotation. What cannot be read is as if it was not there.
    pub(crate) fn of(document: &Value, stored: Option<&str>) -> Self {
        let tracked = tracked(document);
        let api_version = document["apiVersion"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let kept = stored.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let kept = kept.unwrap_or_default();
        let mut managers = Managers::parse(&kept["managers"]).unwrap_or_default();
        if !managers.are_none() {
            let written = values::written_since(&kept["values"], &tracked);
            managers.overtaken(&values::fields_of(&tracked), written, &api_version);
        }
        Self {
            tracked,
            api_version,
            managers,
            stored: stored.map(str::to_owned),
        }
    }

    /// `metadata.managedFields`; null if there are none.
    pub(crate) fn shown(&self) -> Value {
        match self.managers.are_none() {
            true => Value::Null,
            false => self.managers.to_json(),
        }
    }

    /// The annotation of an object that is created with this document.
    pub(crate) fn created(document: &Value, writer: &Writer) -> Option<String> {
        let nothing = Self {
            tracked: json!({}),
            ..Self::default()
        };
        let mut managers = nothing.asked(document)?;
        let tracked = tracked(document);
        managers.update(&values::compare(&nothing.tracked, &tracked), writer);
        kept(&managers, &tracked, document)
    }

    /// The annotation after somebody has replaced the object by this document. Where nobody manages the object it stays so.
    pub(crate) fn updated(&self, document: &Value, writer: &Writer) -> Option<String> {
        let mut managers = self.asked(document)?;
        if managers.are_none() {
            return None;
        }
        let tracked = tracked(document);
        let changes = values::compare(&self.tracked, &tracked);
        if changes.are_none() && managers == self.managers {
            return self.stored.clone();
        }
        managers.update(&changes, writer);
        kept(&managers, &tracked, document)
    }

    /// The document, and the annotation, after somebody has applied a configuration.
    pub(crate) fn applied(
        &self,
        live: &Value,
        configuration: &Value,
        writer: &Writer,
        is_forced: bool,
    ) -> Result<(Value, String), Unapplied> {
        let mut managers = self.managers.clone();
        if managers.are_none() {
            managers.begin(&self.tracked, &self.api_version, &writer.time);
        }
        let configuration = tracked(configuration);
        let merged = managers.apply(&self.tracked, &configuration, writer, is_forced);
        let merged = merged.map_err(Unapplied::Conflicts)?;
        let document = with(live, &merged);
        if managers == self.managers
            && let Some(stored) = &self.stored
            && values::compare(&self.tracked, &merged).are_none()
        {
            return Ok((document, stored.clone()));
        }
        let kept = kept(&managers, &merged, &document).ok_or(Unapplied::TooMany)?;
        Ok((document, kept))
    }

    /// The managers that a document asks for: its own if they can be read, and none if it takes them away.
    fn asked(&self, document: &Value) -> Option<Managers> {
        let asked = &document["metadata"]["managedFields"];
        // So clients of Kubernetes take all managers away.
        if *asked == json!([{}]) {
            return None;
        }
        let own = Managers::parse(asked).filter(|managers| !managers.are_none());
        Some(own.unwrap_or_else(|| self.managers.clone()))
    }
}

/// A document after a configuration was applied where nothing was.
pub(crate) fn begun(configuration: &Value, writer: &Writer) -> Result<String, Unapplied> {
    let mut managers = Managers::default();
    let tracked = tracked(configuration);
    let merged = managers.apply(&json!({}), &tracked, writer, false);
    let merged = merged.map_err(Unapplied::Conflicts)?;
    kept(&managers, &merged, configuration).ok_or(Unapplied::TooMany)
}

/// The annotation with these managers; `None` if there is no room for it beside the others.
fn kept(managers: &Managers, tracked: &Value, document: &Value) -> Option<String> {
    if managers.are_none() || managers.depth() > DEPTH_MAX {
        return None;
    }
    let text = json!({ "managers": managers.to_json(), "values": values::digests(tracked) });
    let text = text.to_string();
    let others = document["metadata"]["annotations"].as_object();
    let others = others.into_iter().flatten();
    let taken: usize = others
        .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len))
        .sum();
    let room = ANNOTATIONS_BYTES_MAX.saturating_sub(taken + MANAGED.len());
    (text.len() <= room.min(MANAGED_BYTES_MAX)).then_some(text)
}

/// What of a document has managers.
fn tracked(document: &Value) -> Value {
    let mut fields = document.as_object().cloned().unwrap_or_default();
    for own in ["apiVersion", "kind", "metadata"] {
        fields.shift_remove(own);
    }
    let metadata = &document["metadata"];
    let told = METADATA
        .iter()
        .filter(|name| !is_nothing(&metadata[**name]));
    let told: Map<String, Value> = told
        .map(|name| ((*name).to_owned(), metadata[*name].clone()))
        .collect();
    if !told.is_empty() {
        fields.insert("metadata".to_owned(), Value::Object(told));
    }
    Value::Object(fields)
}

/// Nobody can tell an empty part of metadata from one that is missing.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// A document with this in place of what has managers.
fn with(document: &Value, tracked: &Value) -> Value {
    let mut all = Map::new();
    for name in ["apiVersion", "kind"] {
        all.insert(name.to_owned(), document[name].clone());
    }
    let mut metadata = document["metadata"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    for name in METADATA {
        metadata.shift_remove(name);
    }
    let told = tracked["metadata"].as_object().into_iter().flatten();
    metadata.extend(told.map(|(name, value)| (name.clone(), value.clone())));
    all.insert("metadata".to_owned(), Value::Object(metadata));
    let rest = tracked.as_object().into_iter().flatten();
    let rest = rest.filter(|(name, _)| *name != "metadata");
    all.extend(rest.map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(manager: &str) -> Writer {
        Writer {
            manager: manager.to_owned(),
            api_version: "example.io/v1".to_owned(),
            time: "2026-01-01T00:00:00Z".to_owned(),
        }
    }

    fn document(size: u64) -> Value {
        json!({
            "apiVersion": "example.io/v1",
            "kind": "Widget",
            "metadata": {"name": "a", "resourceVersion": "7", "labels": {"x": "y"}},
            "spec": {"size": size},
        })
    }

    #[test]
    fn what_changes_nothing_keeps_the_annotation_to_the_byte() {
        let stored = Managed::created(&document(1), &writer("a")).unwrap();
        let live = Managed::of(&document(1), Some(&stored));
        let mut again = document(1);
        again["metadata"]["managedFields"] = live.shown();
        let later = Writer {
            time: "2026-01-02T00:00:00Z".to_owned(),
            ..writer("b")
        };
        assert_eq!(live.updated(&again, &later).as_ref(), Some(&stored));
        assert_ne!(live.updated(&document(2), &later).as_ref(), Some(&stored));
        // Applied again, too.
        let applied = begun(&document(1), &writer("a")).unwrap();
        let live = Managed::of(&document(1), Some(&applied));
        let again = live.applied(&document(1), &document(1), &writer("a"), false);
        assert_eq!(again, Ok((document(1), applied)));
    }

    #[test]
    fn a_document_may_take_its_managers_away_and_not_lose_them() {
        let stored = Managed::created(&document(1), &writer("a")).unwrap();
        let live = Managed::of(&document(1), Some(&stored));
        let mut next = document(2);
        next["metadata"]["managedFields"] = json!([{}]);
        assert_eq!(live.updated(&next, &writer("b")), None);
        for unreadable in [Value::Null, json!([]), json!("x"), json!([{"manager": 1}])] {
            next["metadata"]["managedFields"] = unreadable;
            let kept = live.updated(&next, &writer("b")).unwrap();
            assert_eq!(
                Managed::of(&next, Some(&kept))
                    .shown()
                    .as_array()
                    .unwrap()
                    .len(),
                2
            );
        }
        // Nobody manages it, and nobody begins to by an update.
        let live = Managed::of(&document(1), None);
        assert_eq!(live.updated(&document(2), &writer("b")), None);
        let (_, kept) = live
            .applied(&document(1), &document(1), &writer("a"), false)
            .unwrap();
        let shown = Managed::of(&document(1), Some(&kept)).shown();
        assert_eq!(shown[1]["manager"], "before-first-apply");
    }

    #[test]
    fn more_managers_than_there_is_room_for_are_not_kept() {
        let mut large = document(1);
        for number in 0..2_000 {
            large["spec"][format!("a-field-with-a-long-name-{number}")] = json!(number);
        }
        assert_eq!(Managed::created(&large, &writer("a")), None);
        assert_eq!(begun(&large, &writer("a")), Err(Unapplied::TooMany));
        // The other annotations keep their room.
        let mut annotated = document(1);
        annotated["metadata"]["annotations"] =
            json!({"x": "x".repeat(ANNOTATIONS_BYTES_MAX - 100)});
        assert_eq!(Managed::created(&annotated, &writer("a")), None);
        // What is nested too deep could not be read again.
        let mut deep = json!(1);
        for _ in 0..DEPTH_MAX {
            deep = json!({ "a": deep });
        }
        let mut nested = document(1);
        nested["spec"] = deep;
        assert_eq!(Managed::created(&nested, &writer("a")), None);
    }

    #[test]
    fn an_annotation_that_cannot_be_read_is_none() {
        for text in [
            "",
            "{",
            "[]",
            "{\"managers\": 1}",
            "{\"managers\": [{}]}",
            "null",
        ] {
            let managed = Managed::of(&document(1), Some(text));
            assert_eq!(managed.shown(), Value::Null, "{text}");
        }
    }
}
