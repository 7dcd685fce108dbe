//! Collections and objects of a scenario's cluster, with methods that make scenarios readable.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use synod_machine::{Answer, CollectGarbage, Command, Outcome, Written, WrittenHow};
use synod_model::{
    ApiVersion, Attributes, Collection, CollectionRules, Content, CreateCollection, CreateObject,
    DeleteObject, ErrorKind, Fences, Finalizers, Kind, Labels, MediaType, MetadataPatch, Namespace,
    Object, ObjectKey, ObjectName, OwnerReference, OwnerReferences, Patch, PatchFormat,
    PatchObject, Preconditions, Propagation, Refusal, Ttl, TtlChange, UpdateObject,
};

use crate::cluster::{Cluster, accepted, refused};
use crate::entry::resource;

const LEGAL: &str = "the story uses legal names and numbers";

/// The collection of most scenarios: namespaced, with the loosest rules.
pub(crate) const WIDGETS: &str = "example.io.widgets";

/// The key of a widget: `"namespace/name"`.
pub(crate) fn widget(name: &str) -> ObjectKey {
    key(WIDGETS, name)
}

/// The key `"namespace/name"`, or `"name"`, in a resource.
pub(crate) fn key(of: &str, name: &str) -> ObjectKey {
    let (namespace, name) = match name.split_once('/') {
        Some((namespace, name)) => (Some(Namespace::parse(namespace).expect(LEGAL)), name),
        None => (None, name),
    };
    let name = ObjectName::parse(name).expect(LEGAL);
    ObjectKey::new(resource(of), namespace.as_ref(), &name)
}

pub(crate) fn content(version: &str, data: &str) -> Content {
    Content {
        encoding: ApiVersion::parse(version).expect(LEGAL),
        media_type: MediaType::JSON,
        data: Bytes::copy_from_slice(data.as_bytes()),
    }
}

pub(crate) fn labelled(labels: &[(&str, &str)]) -> Attributes {
    Attributes {
        labels: Labels::parse(labels.iter().copied()).expect(LEGAL),
        ..Attributes::default()
    }
}

pub(crate) fn finalized(finalizers: &[&str]) -> Attributes {
    Attributes {
        finalizers: Finalizers::parse(finalizers).expect(LEGAL),
        ..Attributes::default()
    }
}

/// Attributes that name these owners, each blocked by the object.
pub(crate) fn owned_by(owners: &[&Object]) -> Attributes {
    let references = owners.iter().map(|owner| OwnerReference {
        api_version: ApiVersion::parse("example.io/v1").expect(LEGAL),
        kind: kind(&owner.key),
        name: ObjectName::parse(owner.key.name.name()).expect(LEGAL),
        uid: owner.metadata.uid,
        controller: false,
        block_owner_deletion: true,
    });
    Attributes {
        owners: OwnerReferences::new(references.collect()).expect(LEGAL),
        ..Attributes::default()
    }
}

fn kind(key: &ObjectKey) -> Kind {
    let plural = key.resource.resource();
    let (first, rest) = plural.trim_end_matches('s').split_at(1);
    Kind::parse(&format!("{}{rest}", first.to_uppercase())).expect(LEGAL)
}

pub(crate) fn declare(of: &str, namespaced: bool, rules: CollectionRules) -> CreateCollection {
    let any = key(of, "x");
    CreateCollection {
        kind: kind(&any),
        resource: any.resource,
        namespaced,
        rules,
    }
}

/// The loosest rules.
pub(crate) const LOOSE: CollectionRules = CollectionRules {
    strict_storage_version: false,
    create_on_update: true,
    unconditional_update: true,
    status_subresource: false,
};

pub(crate) fn create(key: &ObjectKey, attributes: Attributes, content: Content) -> CreateObject {
    CreateObject {
        key: key.clone(),
        attributes,
        content,
        ttl: None,
        fences: Fences::default(),
    }
}

pub(crate) fn update(key: &ObjectKey, attributes: Attributes, content: Content) -> UpdateObject {
    UpdateObject {
        key: key.clone(),
        attributes,
        content,
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    }
}

pub(crate) fn patch(key: &ObjectKey, document: &str) -> PatchObject {
    PatchObject {
        key: key.clone(),
        data: Some(Patch {
            encoding: ApiVersion::parse("v1").expect(LEGAL),
            format: PatchFormat::Merge,
            document: Bytes::copy_from_slice(document.as_bytes()),
        }),
        metadata: None,
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    }
}

/// A merge patch of an object's metadata.
pub(crate) fn patch_metadata(key: &ObjectKey, document: &str) -> PatchObject {
    PatchObject {
        data: None,
        metadata: Some(MetadataPatch {
            format: PatchFormat::Merge,
            document: Bytes::copy_from_slice(document.as_bytes()),
        }),
        ..patch(key, "")
    }
}

pub(crate) fn delete(key: &ObjectKey, propagation: Option<Propagation>) -> DeleteObject {
    DeleteObject {
        key: key.clone(),
        propagation,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    }
}

/// What was written by a command that no rule refused.
pub(crate) fn written(outcome: Outcome) -> Written {
    match accepted(outcome) {
        Answer::Wrote(written) => written,
        other => panic!("a write answers what was written, not {other:?}"),
    }
}

impl Cluster {
    /// A cluster with a collection of widgets.
    pub(crate) fn with_widgets() -> Self {
        let mut cluster = Self::formed();
        cluster.declares(WIDGETS, LOOSE);
        cluster
    }

    /// Declares a namespaced collection.
    pub(crate) fn declares(&mut self, of: &str, rules: CollectionRules) {
        let declared = self.send(Command::CreateCollection(declare(of, true, rules)));
        assert_eq!(written(declared).how, WrittenHow::Created);
    }

    pub(crate) fn collection(&self, of: &str) -> Option<Arc<Collection>> {
        self.state.present().collection(&resource(of))
    }

    /// Stores an object in version v1.
    pub(crate) fn stores(&mut self, key: &ObjectKey, attributes: Attributes) -> Arc<Object> {
        let create = create(key, attributes, content("v1", "{}"));
        let written = written(self.send(Command::CreateObject(create)));
        assert_eq!(written.how, WrittenHow::Created);
        self.object(key)
    }

    /// Stores an object with a TTL.
    pub(crate) fn stores_for(&mut self, key: &ObjectKey, ttl: Duration) {
        let millis = u64::try_from(ttl.as_millis()).expect(LEGAL);
        let create = CreateObject {
            ttl: Some(Ttl::from_millis(millis).expect(LEGAL)),
            ..create(key, Attributes::default(), content("v1", "{}"))
        };
        written(self.send(Command::CreateObject(create)));
    }

    /// Replaces the object's attributes and content.
    pub(crate) fn updates(
        &mut self,
        key: &ObjectKey,
        attributes: Attributes,
        content: Content,
    ) -> Written {
        written(self.send(Command::UpdateObject(update(key, attributes, content))))
    }

    pub(crate) fn refuses_update(
        &mut self,
        key: &ObjectKey,
        content: Content,
        kind: ErrorKind,
    ) -> Refusal {
        let update = update(key, Attributes::default(), content);
        refused(self.send(Command::UpdateObject(update)), kind)
    }

    pub(crate) fn deletes(
        &mut self,
        key: &ObjectKey,
        propagation: Option<Propagation>,
    ) -> WrittenHow {
        written(self.send(Command::DeleteObject(delete(key, propagation)))).how
    }

    /// The leader proposes garbage collection until none is left. Returns the number of commands.
    pub(crate) fn collects(&mut self) -> usize {
        let mut commands = 0;
        while self.state.has_garbage() {
            accepted(self.send(Command::CollectGarbage(CollectGarbage {})));
            commands += 1;
            assert!(commands < 10_000, "it comes to an end");
        }
        commands
    }

    pub(crate) fn find(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.state.present().object(key)
    }

    pub(crate) fn object(&self, key: &ObjectKey) -> Arc<Object> {
        self.find(key).expect("the object is there")
    }

    pub(crate) fn has(&self, key: &ObjectKey) -> bool {
        self.find(key).is_some()
    }

    /// The number of objects of the resource in each version.
    pub(crate) fn counts(&self, of: &str) -> Vec<(String, u64)> {
        let counts = self.state.present().object_counts(&resource(of));
        let counts = counts.into_iter();
        counts
            .map(|(version, count)| (version.to_string(), count))
            .collect()
    }
}
