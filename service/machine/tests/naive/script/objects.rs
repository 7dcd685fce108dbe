//! Commands on collections and objects.

use bytes::Bytes;
use synod_machine::{CollectGarbage, Command, State};
use synod_model::{
    ApiVersion, Attributes, CollectionRules, Compare, Content, CreateCollection, CreateObject,
    DeleteCollection, DeleteObject, Fences, Finalizers, Kind, Labels, MediaType, Metadata,
    MetadataPatch, Namespace, Object, ObjectKey, ObjectName, Operation, OwnerReference,
    OwnerReferences, Patch, PatchFormat, PatchObject, Preconditions, Propagation, Revision,
    Transact, Ttl, TtlChange, Uid, UpdateCollection, UpdateObject,
};

use super::{LEGAL, Script, member, resource, version};
use crate::calls::{Asks, Change, Deed, Expects, KEYS, Keeps, Notes, Said};

impl Script {
    pub(super) fn keeps(&self, keeps: &Keeps, state: &State) -> Command {
        match keeps {
            Keeps::Declare {
                resource: of,
                rules,
            } => Command::CreateCollection(CreateCollection {
                resource: resource(*of),
                kind: kind(*of % 2),
                namespaced: *of == 0,
                rules: CollectionRules {
                    strict_storage_version: rules.strict,
                    create_on_update: rules.creates,
                    unconditional_update: rules.unconditional,
                    status_subresource: rules.status,
                },
            }),
            Keeps::Rules {
                resource: of,
                strict,
                status,
                kind: of_kind,
                expects,
            } => Command::UpdateCollection(UpdateCollection {
                resource: resource(*of),
                strict_storage_version: *strict,
                create_on_update: Some(true),
                unconditional_update: None,
                status_subresource: *status,
                kind: of_kind.map(|second| match second {
                    true => Kind::parse("Corrected").expect(LEGAL),
                    false => kind(*of),
                }),
                preconditions: of_collection(*of, *expects, state),
            }),
            Keeps::Remove {
                resource: of,
                expects,
            } => Command::DeleteCollection(DeleteCollection {
                resource: resource(*of),
                preconditions: of_collection(*of, *expects, state),
            }),
            Keeps::Object(deed) => one(operation(deed, state, Fences::default())),
            Keeps::Fenced(deed, who, epoch) => {
                let fences = Fences {
                    if_member: Some((member(*who), self.epoch(*who, *epoch))),
                    ..Fences::default()
                };
                one(operation(deed, state, fences))
            }
            Keeps::Transact { compares, deeds } => Command::Transact(Transact {
                compares: compares.iter().map(|asks| compare(*asks, state)).collect(),
                operations: deeds
                    .iter()
                    .map(|deed| operation(deed, state, Fences::default()))
                    .collect(),
                reads: Vec::new(),
                fences: Fences::default(),
            }),
            Keeps::Collect => Command::CollectGarbage(CollectGarbage {}),
        }
    }
}

/// The key of a deed.
fn place(deed: &Deed, state: &State) -> ObjectKey {
    let is_apt = |which: &usize| match (&deed.what, state.present().object(&key(*which))) {
        (Change::Create(_), present) => present.is_none(),
        (Change::Finalize(_), present) => present.is_some_and(|object| object.deletion.is_some()),
        (Change::DeleteAgain(_), present) => present.is_some_and(|object| {
            object.deletion.is_some() && (0..KEYS).any(|which| names(&key(which), &object, state))
        }),
        (_, present) => present.is_some(),
    };
    let mut all = (deed.key..KEYS).chain(0..deed.key);
    key(match deed.apt {
        true => all.find(is_apt).unwrap_or(deed.key),
        false => deed.key,
    })
}

/// Whether the dependent exists and names the owner.
fn names(dependent: &ObjectKey, owner: &Object, state: &State) -> bool {
    let dependent = state.present().object(dependent);
    dependent.is_some_and(|object| object.attributes.owners.get(&owner.metadata.uid).is_some())
}

fn one(operation: Operation) -> Command {
    match operation {
        Operation::Create(create) => Command::CreateObject(create),
        Operation::Update(update) => Command::UpdateObject(update),
        Operation::Patch(patch) => Command::PatchObject(patch),
        Operation::Delete(delete) => Command::DeleteObject(delete),
    }
}

fn operation(deed: &Deed, state: &State, fences: Fences) -> Operation {
    let key = place(deed, state);
    let present = state.present().object(&key);
    let preconditions = expected(
        deed.expects,
        present.as_deref().map(|object| &object.metadata),
    );
    match &deed.what {
        Change::Create(said) => Operation::Create(CreateObject {
            attributes: attributes(said, &key, state),
            content: content(said),
            ttl: said.ttl.map(ttl),
            key,
            fences,
        }),
        Change::Update(said, new_ttl) => Operation::Update(UpdateObject {
            attributes: attributes(said, &key, state),
            content: content(said),
            ttl: ttl_change(*new_ttl),
            key,
            preconditions,
            fences,
        }),
        Change::Finalize(bits) => Operation::Update(finalized(
            key,
            present.as_deref(),
            *bits,
            preconditions,
            fences,
        )),
        Change::Patch {
            by_operations,
            number,
            version: named,
            says,
            ttl: new_ttl,
        } => Operation::Patch(PatchObject {
            data: Some(patch(*by_operations, *number, *named, present.as_deref())),
            metadata: says.map(|says| metadata_patch(says, present.as_deref())),
            ttl: ttl_change(*new_ttl),
            key,
            preconditions,
            fences,
        }),
        Change::Say(says) => Operation::Patch(PatchObject {
            data: None,
            metadata: Some(metadata_patch(*says, present.as_deref())),
            ttl: TtlChange::Keep,
            key,
            preconditions,
            fences,
        }),
        Change::Delete(propagation) | Change::DeleteAgain(propagation) => {
            Operation::Delete(DeleteObject {
                key,
                propagation: [
                    None,
                    Some(Propagation::Background),
                    Some(Propagation::Foreground),
                    Some(Propagation::Orphan),
                ][*propagation],
                preconditions,
                fences,
            })
        }
    }
}

fn finalized(
    key: ObjectKey,
    present: Option<&Object>,
    bits: u8,
    preconditions: Preconditions,
    fences: Fences,
) -> UpdateObject {
    let mut attributes = present
        .map(|object| object.attributes.clone())
        .unwrap_or_default();
    // Of an object that is being deleted, only present finalizers: it takes no new ones.
    let wanted = finalizers(bits);
    attributes.finalizers = match present {
        Some(object) if object.deletion.is_some() => {
            let kept = object.attributes.finalizers.iter();
            let kept = kept.filter(|kept| wanted.contains(kept.as_str()));
            Finalizers::parse(kept.map(|kept| kept.as_str())).expect(LEGAL)
        }
        _ => wanted,
    };
    UpdateObject {
        key,
        attributes,
        content: present.map_or_else(|| data(0, 0), |object| object.content.clone()),
        ttl: TtlChange::Keep,
        preconditions,
        fences,
    }
}

fn patch(by_operations: bool, number: u8, named: Option<usize>, present: Option<&Object>) -> Patch {
    let document = if by_operations {
        format!(
            r#"[{{"op":"test","path":"/a","value":{number}}},{{"op":"add","path":"/status","value":{number}}}]"#
        )
    } else {
        format!(r#"{{"a":{number},"status":null}}"#)
    };
    let stored = present.map(|object| object.content.encoding.clone());
    Patch {
        encoding: named.map(version).or(stored).unwrap_or_else(|| version(0)),
        format: if by_operations {
            PatchFormat::Json
        } else {
            PatchFormat::Merge
        },
        document: Bytes::from(document),
    }
}

fn metadata_patch(says: Notes, present: Option<&Object>) -> MetadataPatch {
    let document = match says {
        Notes::Labels(Some(number)) => format!(r#"{{"labels":{{"b":"{number}","c":null}}}}"#),
        Notes::Labels(None) => r#"{"labels":null}"#.to_owned(),
        Notes::Finalizers(bits) => {
            let wanted = finalizers(bits);
            let kept = |name: &str| {
                present.is_none_or(|object| {
                    object.deletion.is_none() || object.attributes.finalizers.contains(name)
                })
            };
            let names = wanted.iter().map(|name| name.as_str());
            // Sometimes one that is no longer allowed.
            let names = names.filter(|name| kept(name) || bits == 15);
            let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
            format!(r#"{{"finalizers":[{}]}}"#, names.join(","))
        }
        Notes::NoOwners => r#"{"ownerReferences":null}"#.to_owned(),
        Notes::Tests(number) => format!(
            r#"[{{"op":"test","path":"/labels/b","value":"{number}"}},{{"op":"remove","path":"/labels/b"}}]"#
        ),
        Notes::Name(own) => {
            let name = present.map_or("one", |object| object.key.name.name());
            let name = if own { name } else { "other" };
            format!(r#"{{"name":"{name}"}}"#)
        }
        Notes::Version(right) => {
            let version = present.map_or(7, |object| object.metadata.resource_version.get());
            let version = if right { version } else { version - 1 };
            format!(r#"{{"resourceVersion":"{version}","labels":{{"b":"1"}}}}"#)
        }
    };
    MetadataPatch {
        format: match says {
            Notes::Tests(_) => PatchFormat::Json,
            _ => PatchFormat::Merge,
        },
        document: Bytes::from(document),
    }
}

fn compare(asks: Asks, state: &State) -> Compare {
    match asks {
        Asks::Version(which, right) => {
            let object = state.present().object(&key(which));
            let present =
                object.map_or(Revision::new(7), |object| object.metadata.resource_version);
            let revision = if right { present } else { present.next() };
            Compare::ResourceVersion(key(which), revision)
        }
        Asks::Exists(which) => Compare::Exists(key(which)),
        Asks::Absent(which) => Compare::Absent(key(which)),
        Asks::Selected(of, which) => Compare::Selected(resource(of), which.map(version)),
    }
}

fn of_collection(of: usize, expects: Expects, state: &State) -> Preconditions {
    let present = state.present().collection(&resource(of));
    expected(expects, present.as_deref().map(|row| &row.metadata))
}

fn expected(expects: Expects, present: Option<&Metadata>) -> Preconditions {
    let another = Uid::from_bytes([9; 16]);
    let (uid, version) = present.map_or((another, Revision::new(7)), |metadata| {
        (metadata.uid, metadata.resource_version)
    });
    match expects {
        Expects::Any => Preconditions::default(),
        Expects::ThePresent => Preconditions {
            uid: Some(uid),
            resource_version: Some(version),
        },
        Expects::AnOlder => Preconditions {
            uid: None,
            resource_version: Some(Revision::new(version.get() - 1)),
        },
        Expects::Another => Preconditions {
            uid: Some(another),
            resource_version: None,
        },
    }
}

fn attributes(said: &Said, of: &ObjectKey, state: &State) -> Attributes {
    let label = |bit: u8| if said.labels & bit != 0 { "1" } else { "0" };
    let labels = (said.labels & 1 != 0).then(|| [("b", label(2)), ("c", label(4))]);
    let owners = (0..KEYS).filter(|which| said.owners & (1 << which) != 0);
    let owners = owners.filter(|which| said.ghosts || can_own(&key(*which), of, state));
    let owners = owners.map(|which| OwnerReference {
        name: name_of((which + usize::from(said.misnames)) % KEYS),
        ..owner(which, state)
    });
    let owners = owners.collect();
    Attributes {
        labels: Labels::parse(labels.into_iter().flatten()).expect(LEGAL),
        owners: OwnerReferences::new(owners).expect(LEGAL),
        finalizers: finalizers(said.finalizers),
        ..Attributes::default()
    }
}

fn can_own(owner: &ObjectKey, of: &ObjectKey, state: &State) -> bool {
    let namespace = owner.name.namespace();
    state.present().object(owner).is_some()
        && (namespace.is_none() || namespace == of.name.namespace())
}

/// A reference to the object of this key, or to a missing object.
fn owner(which: usize, state: &State) -> OwnerReference {
    let key = key(which);
    let of = usize::from(key.name.namespace().is_none());
    let present = state.present().object(&key);
    let nobody = Uid::from_bytes([which as u8; 16]);
    let collection = state.present().collection(&key.resource);
    OwnerReference {
        api_version: ApiVersion::parse(["v1", "apps/v9"][of]).expect(LEGAL),
        kind: collection.map_or_else(|| kind(of), |collection| collection.kind.clone()),
        name: name_of(which),
        uid: present.map_or(nobody, |object| object.metadata.uid),
        controller: false,
        block_owner_deletion: which % 3 != 2,
    }
}

fn name_of(which: usize) -> ObjectName {
    ObjectName::parse(key(which).name.name()).expect(LEGAL)
}

fn finalizers(bits: u8) -> Finalizers {
    let names = [
        "example.io/a",
        "example.io/b",
        "foregroundDeletion",
        "orphan",
    ];
    let chosen = (0..4).filter(|i| bits & (1 << i) != 0).map(|i| names[i]);
    Finalizers::parse(chosen).expect(LEGAL)
}

fn content(said: &Said) -> Content {
    data(said.version, said.number)
}

fn data(which: usize, number: u8) -> Content {
    // Written in another form than a patch would write.
    let text = match number {
        0 => "{ }".to_owned(),
        number => format!(r#"{{ "status": 7, "a": {number} }}"#),
    };
    Content {
        encoding: version(which),
        media_type: MediaType::JSON,
        data: Bytes::from(text),
    }
}

fn ttl(which: usize) -> Ttl {
    Ttl::from_millis([1_000, 3_000, 30_000][which]).expect(LEGAL)
}

fn ttl_change(said: Option<Option<usize>>) -> TtlChange {
    match said {
        None => TtlChange::Keep,
        Some(None) => TtlChange::Remove,
        Some(Some(which)) => TtlChange::Set(ttl(which)),
    }
}

fn kind(of: usize) -> Kind {
    Kind::parse(["Pod", "Deployment"][of]).expect(LEGAL)
}

/// Four keys with a namespace, of one resource; two without, of the other.
pub(super) fn key(which: usize) -> ObjectKey {
    let (namespace, name) = [
        (Some("x"), "one"),
        (Some("x"), "two"),
        (Some("x"), "three"),
        (Some("y"), "one"),
        (None, "one"),
        (None, "two"),
    ][which];
    let of = usize::from(namespace.is_none());
    let namespace = namespace.map(|namespace| Namespace::parse(namespace).expect(LEGAL));
    let name = ObjectName::parse(name).expect(LEGAL);
    ObjectKey::new(resource(of), namespace.as_ref(), &name)
}
