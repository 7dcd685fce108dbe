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

use self::fields::Fields;
pub(crate) use self::managers::{Conflict, MANAGER_BYTES_MAX, Writer, is_name};
use self::managers::{Force, Managers};
use crate::bounded;

/// The annotation with the managers.
pub(crate) const MANAGED: &str = "synod.io/managed-fields";

/// The most bytes of the annotation. An object with more fields than that has no managers.
pub(crate) const MANAGED_BYTES_MAX: usize = 64 << 10;

/// The longest path of a managed field, so that what is written can be read again.
const DEPTH_MAX: usize = 100;

/// The manager of `kubectl apply --server-side`, and the annotation in which `kubectl apply` keeps what it has said.
const KUBECTL: &str = "kubectl";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The members of an owner reference; Synod keeps no others.
const OWNER: [&str; 6] = [
    "apiVersion",
    "kind",
    "name",
    "uid",
    "controller",
    "blockOwnerDeletion",
];

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
        // gRPC takes longer ones.
        let stored = stored.filter(|text| text.len() <= MANAGED_BYTES_MAX);
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
        kept(&managers, &tracked, document).ok().flatten()
    }

    /// The annotation after somebody has replaced the object by this document. Where nobody manages the object it stays so.
    pub(crate) fn updated(&self, document: &Value, writer: &Writer) -> Option<String> {
        let mut managers = self.asked(document)?;
        if managers.are_none() {
            return None;
        }
        let tracked = tracked(document);
        let changes = values::compare(&self.tracked, &tracked);
        if changes.are_none() && managers.have_what(&self.managers) {
            return self.stored.clone();
        }
        managers.update(&changes, writer);
        kept(&managers, &tracked, document).ok().flatten()
    }

    /// The document, and the annotation, after somebody has applied a configuration. Who says nothing any more and was the
    /// only manager leaves none.
    pub(crate) fn applied(
        &self,
        live: &Value,
        configuration: &Value,
        writer: &Writer,
        is_forced: bool,
    ) -> Result<(Value, Option<String>), Unapplied> {
        let mut managers = self.managers.clone();
        if managers.are_none() {
            managers.begin(&self.tracked, &self.api_version, &writer.time);
        }
        let configuration = tracked(configuration);
        let force = match is_forced {
            true => Force::All,
            false => Force::These(self.applied_before(live, writer)),
        };
        let merged = managers.apply(&self.tracked, &configuration, writer, &force);
        let merged = merged.map_err(Unapplied::Conflicts)?;
        let document = with(live, &merged);
        if managers == self.managers
            && let Some(stored) = &self.stored
            && values::compare(&self.tracked, &merged).are_none()
        {
            return Ok((document, Some(stored.clone())));
        }
        let kept = kept(&managers, &merged, &document)?;
        Ok((document, kept))
    }

    /// The fields that `kubectl apply` has said and that are still as it said: they are kubectl's, whoever else has them, when
    /// it goes over to apply on the side of the server.
    fn applied_before(&self, live: &Value, writer: &Writer) -> Fields {
        let said = &live["metadata"]["annotations"][LAST_APPLIED];
        let said = said.as_str().filter(|_| writer.manager == KUBECTL);
        let said = said.and_then(|said| bounded::json(said.as_bytes()).ok());
        match said {
            Some(said) if said["apiVersion"] == writer.api_version => {
                let said = tracked(&said);
                let changes = values::compare(&said, &self.tracked);
                let fields = values::fields_of(&said).difference(&changes.modified);
                fields
                    .difference(&changes.added)
                    .difference(&changes.removed)
            }
            _ => Fields::default(),
        }
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
pub(crate) fn begun(configuration: &Value, writer: &Writer) -> Result<Option<String>, Unapplied> {
    let mut managers = Managers::default();
    let tracked = tracked(configuration);
    // Nobody else has anything.
    let merged = managers.apply(&json!({}), &tracked, writer, &Force::All);
    let merged = merged.map_err(Unapplied::Conflicts)?;
    kept(&managers, &merged, configuration)
}

/// What is wrong with the managers that a document of a client asks for.
pub(crate) fn fault(document: &Value) -> Option<String> {
    Managers::fault(&document["metadata"]["managedFields"])
}

/// The annotation with these managers; `None` if there are none.
///
/// # Errors
///
/// There is no room for it beside the others.
fn kept(
    managers: &Managers,
    tracked: &Value,
    document: &Value,
) -> Result<Option<String>, Unapplied> {
    if managers.are_none() {
        return Ok(None);
    }
    if managers.depth() > DEPTH_MAX {
        return Err(Unapplied::TooMany);
    }
    let text = json!({ "managers": managers.to_json(), "values": values::digests(tracked) });
    let text = text.to_string();
    let others = document["metadata"]["annotations"].as_object();
    let others = others.into_iter().flatten();
    let taken: usize = others
        .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len))
        .sum();
    let room = ANNOTATIONS_BYTES_MAX.saturating_sub(taken + MANAGED.len());
    match text.len() <= room.min(MANAGED_BYTES_MAX) {
        true => Ok(Some(text)),
        false => Err(Unapplied::TooMany),
    }
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
        .map(|name| {
            let value = match (*name, &metadata[*name]) {
                ("ownerReferences", Value::Array(items)) => items.iter().map(owner).collect(),
                (_, value) => value.clone(),
            };
            ((*name).to_owned(), value)
        })
        .collect();
    if !told.is_empty() {
        fields.insert("metadata".to_owned(), Value::Object(told));
    }
    Value::Object(fields)
}

/// An owner reference as it is kept: what is not so is not said.
fn owner(item: &Value) -> Value {
    let Value::Object(members) = item else {
        return item.clone();
    };
    let kept = OWNER.iter().filter_map(|name| members.get_key_value(*name));
    let kept = kept.filter(|(_, value)| !value.is_null() && **value != false);
    let kept = kept.map(|(name, value)| (name.clone(), value.clone()));
    Value::Object(kept.collect())
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
            subresource: "",
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
        again["metadata"]["managedFields"][0]["time"] = json!("2026-01-03T00:00:00Z");
        assert_eq!(live.updated(&again, &later).as_ref(), Some(&stored));
        assert_ne!(live.updated(&document(2), &later).as_ref(), Some(&stored));
        // Applied again, too.
        let applied = begun(&document(1), &writer("a")).unwrap().unwrap();
        let live = Managed::of(&document(1), Some(&applied));
        let again = live.applied(&document(1), &document(1), &writer("a"), false);
        assert_eq!(again, Ok((document(1), Some(applied))));
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
        let shown = Managed::of(&document(1), kept.as_deref()).shown();
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
    fn who_says_nothing_manages_nothing() {
        let bare =
            json!({"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "a"}});
        assert_eq!(begun(&bare, &writer("a")), Ok(None));
        let stored = begun(&document(1), &writer("a")).unwrap();
        let live = Managed::of(&document(1), stored.as_deref());
        let (left, kept) = live
            .applied(&document(1), &bare, &writer("a"), false)
            .unwrap();
        assert_eq!((&left["spec"], kept), (&Value::Null, None));
        let (_, kept) = Managed::of(&bare, None)
            .applied(&bare, &bare, &writer("a"), false)
            .unwrap();
        assert_eq!(kept, None);
    }

    #[test]
    fn owners_that_control_nothing_are_applied_once() {
        let mut said = document(1);
        said["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "K", "name": "o", "uid": "1", "controller": false, "blockOwnerDeletion": true,
        }]);
        let stored = begun(&said, &writer("a")).unwrap();
        let mut live = said.clone();
        live["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "K", "name": "o", "uid": "1", "blockOwnerDeletion": true,
        }]);
        let managed = Managed::of(&live, stored.as_deref());
        let later = Writer {
            time: "2026-01-02T00:00:00Z".to_owned(),
            ..writer("a")
        };
        let again = managed.applied(&live, &said, &later, false);
        assert_eq!(again, Ok((live, stored)));
    }

    // Guarantee: K-05
    #[test]
    fn kubectl_takes_over_what_it_has_applied_on_its_own_side() {
        let said = document(1);
        let mut live = said.clone();
        live["spec"]["color"] = json!("red");
        live["metadata"]["annotations"] = json!({LAST_APPLIED: said.to_string()});
        let stored = Managed::created(&live, &writer("kubectl-client-side-apply"));
        let managed = Managed::of(&live, stored.as_deref());
        let apply = |manager: &str, next: &Value| {
            let applied = managed.applied(&live, next, &writer(manager), false);
            applied.map(|(document, _)| document["spec"].clone())
        };
        let next = document(2);
        let conflict = |path: &str| Conflict {
            manager: "\"kubectl-client-side-apply\" using example.io/v1".to_owned(),
            path: path.to_owned(),
        };
        assert_eq!(
            apply("kubectl", &next),
            Ok(json!({"size": 2, "color": "red"}))
        );
        let refused = Err(Unapplied::Conflicts(vec![conflict(".spec.size")]));
        assert_eq!(apply("other", &next), refused);
        // Of what it never said it takes nothing.
        let mut more = next.clone();
        more["spec"]["color"] = json!("blue");
        let refused = Err(Unapplied::Conflicts(vec![conflict(".spec.color")]));
        assert_eq!(apply("kubectl", &more), refused);
        // Nor of what is not any more as it said.
        let mut other = live.clone();
        other["spec"]["size"] = json!(7);
        let stored = managed.updated(&other, &writer("x"));
        let managed = Managed::of(&other, stored.as_deref());
        let refused = managed.applied(&other, &next, &writer("kubectl"), false);
        assert!(
            matches!(refused, Err(Unapplied::Conflicts(_))),
            "{refused:?}"
        );
    }

    #[test]
    fn a_longer_annotation_than_is_written_is_not_read() {
        let stored = Managed::created(&document(1), &writer("a")).unwrap();
        let padded = format!("{stored}{}", " ".repeat(MANAGED_BYTES_MAX));
        let managed = Managed::of(&document(1), Some(&padded));
        assert_eq!(managed.shown(), Value::Null);
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
