//! A client that writes objects: some shared by all writers, and its own owners and dependents.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::RngExt;
use synod_client::{
    ApiVersion, Attributes, Compare, Content, CreateObject, DeleteObject, Error, ErrorKind, Fences,
    Kind, MediaType, NamespacedName, ObjectKey, ObjectName, Operation, OwnerReference,
    OwnerReferences, Preconditions, Propagation, ReadOptions, Revision, StoredObject, Transact,
    TtlChange, Uid, UpdateObject, Verdict,
};

use super::history::{Asked, Call, Step, Told};
use super::ledger::Tree;
use super::{User, resource};

/// The objects that all writers share.
const SHARED: [&str; 4] = ["shared-1", "shared-2", "shared-3", "shared-4"];

/// The dependents of an owner: more than one command deletes.
const DEPENDENTS: usize = 150;

/// The limit of creates in one transaction.
const AT_ONCE: usize = 100;

/// The interval of retries of a call that must succeed.
const RETRY: Duration = Duration::from_millis(200);

/// Whether an object of this name is shared by all writers.
pub(super) fn is_shared(name: &str) -> bool {
    SHARED.contains(&name)
}

/// Writes until the run is over.
pub(super) async fn run(user: User) {
    let mut writer = Writer {
        user,
        known: BTreeMap::new(),
        trees: 0,
    };
    while !writer.user.is_over() {
        writer.user.pause(20..300).await;
        let first = writer.user.rng.random_range(0..SHARED.len());
        let (one, other) = (SHARED[first], SHARED[(first + 1) % SHARED.len()]);
        match writer.user.rng.random_range(0..30) {
            0..2 => writer.tree().await,
            2..6 => writer.read(one).await,
            6..12 => writer.change(&[one, other]).await,
            _ => writer.change(&[one]).await,
        }
    }
}

struct Writer {
    user: User,
    /// The revision of each object's last change, as far as it knows; `None` for no object.
    known: BTreeMap<&'static str, Option<Revision>>,
    trees: usize,
}

impl Writer {
    async fn read(&mut self, name: &'static str) {
        let floor = self.user.ledger.newest();
        let objects = self.user.client.raw_objects();
        let told = match objects.get(&key(name), ReadOptions::linearizable()).await {
            Ok(view) => Told::Seen(view.header.revision, Some(seen(&view.object))),
            // This refusal names no revision.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.known.insert(name, None);
                return;
            }
            Err(_) => return,
        };
        if let Told::Seen(_, Some((since, _))) = told {
            self.known.insert(name, Some(since));
        }
        self.note(floor, Asked::Read(name.to_owned()), told);
    }

    /// Creates, changes or deletes objects at once, each if its revision is the known one.
    async fn change(&mut self, names: &[&'static str]) {
        for name in names {
            if !self.known.contains_key(name) {
                self.read(name).await;
            }
        }
        let mut steps = Vec::new();
        for name in names {
            let Some(base) = self.known.remove(name) else {
                return;
            };
            let goes = base.is_some() && self.user.rng.random_ratio(1, 4);
            steps.push(Step {
                name: (*name).to_owned(),
                base,
                value: (!goes).then(|| self.user.ledger.value()),
            });
        }
        let floor = self.user.ledger.newest();
        let told = self.send(&steps).await;
        if let Told::Done(revision) = told {
            for (name, step) in names.iter().zip(&steps) {
                self.known.insert(name, step.value.map(|_| revision));
            }
        }
        self.note(floor, Asked::Change(steps), told);
    }

    async fn send(&self, steps: &[Step]) -> Told {
        let objects = self.user.client.raw_objects();
        let answer = match steps {
            [step] => match operation(step) {
                Operation::Create(create) => objects.create(create).await,
                Operation::Update(update) => objects.update(update).await,
                Operation::Delete(delete) => objects.delete(delete).await,
                other => panic!("no such operation is made: {other:?}"),
            }
            .map(|written| Told::Done(written.header.revision)),
            steps => {
                let transact = Transact {
                    compares: steps.iter().map(compare).collect(),
                    operations: steps.iter().map(operation).collect(),
                    reads: Vec::new(),
                    fences: Fences::default(),
                };
                let transacted = objects.transact(transact).await;
                transacted.map(|transacted| match transacted.succeeded {
                    true => Told::Done(transacted.header.revision),
                    false => Told::Lost,
                })
            }
        };
        answer.unwrap_or_else(|error| failed(&error))
    }

    /// Creates an owner with more dependents than one command deletes, and deletes it.
    async fn tree(&mut self) {
        self.trees += 1;
        let prefix = format!("tree-{}-{}-", self.user.host, self.trees);
        let objects = self.user.client.raw_objects();
        let owner = create(&format!("{prefix}owner"), 0, OwnerReferences::default());
        let Ok(created) = objects.create(owner.clone()).await else {
            return;
        };
        let owners = owned_by(&owner.key, created.result.uid);
        let names: Vec<usize> = (0..DEPENDENTS).collect();
        let mut is_certain = true;
        for names in names.chunks(AT_ONCE) {
            let create = |number: &usize| {
                let create = create(&format!("{prefix}{number}"), 0, owners.clone());
                Operation::Create(create)
            };
            let transact = Transact {
                compares: Vec::new(),
                operations: names.iter().map(create).collect(),
                reads: Vec::new(),
                fences: Fences::default(),
            };
            // A create of unknown outcome may be executed after its owner is gone.
            let created = objects.transact(transact).await;
            is_certain &= !created.is_err_and(|error| error.execution() == Verdict::Unknown);
        }
        let propagation = match self.trees % 2 {
            0 => Propagation::Foreground,
            _ => Propagation::Background,
        };
        self.delete(owner.key, propagation).await;
        self.user.trace.add(format_args!(
            "{} deleted {prefix}, {propagation:?}",
            self.user.host
        ));
        self.user.ledger.note_tree(Tree {
            prefix,
            is_gone: is_certain,
        });
    }

    /// Deletes an object, and retries until it is deleted.
    async fn delete(&self, key: ObjectKey, propagation: Propagation) {
        let objects = self.user.client.raw_objects();
        loop {
            let delete = DeleteObject {
                key: key.clone(),
                propagation: Some(propagation),
                preconditions: Preconditions::default(),
                fences: Fences::default(),
            };
            match objects.delete(delete).await {
                Ok(_) => return,
                Err(error) if error.kind() == ErrorKind::NotFound => return,
                Err(_) => tokio::time::sleep(RETRY).await,
            }
        }
    }

    fn note(&self, floor: Revision, asked: Asked, told: Told) {
        let host = self.user.host;
        self.user
            .trace
            .add(format_args!("{host}: {asked:?}: {told:?}"));
        self.user.ledger.note(Call { floor, asked, told });
    }
}

fn failed(error: &Error) -> Told {
    match (error.execution(), error.kind()) {
        (Verdict::Unknown, _) => Told::Unknown,
        (
            Verdict::Refused,
            ErrorKind::Conflict | ErrorKind::AlreadyExists | ErrorKind::NotFound,
        ) => Told::Lost,
        (Verdict::Refused | Verdict::NotExecuted, _) => Told::NotStored,
    }
}

fn seen(object: &StoredObject) -> (Revision, u64) {
    let data: serde_json::Value = serde_json::from_slice(&object.content.data).unwrap();
    (
        object.metadata.resource_version,
        data["value"].as_u64().unwrap(),
    )
}

fn key(name: &str) -> ObjectKey {
    ObjectKey {
        resource: resource(),
        name: NamespacedName::new(None, &ObjectName::parse(name).unwrap()),
    }
}

fn content(value: u64) -> Content {
    let version = ["example.com/v1", "example.com/v2"][usize::from(value.is_multiple_of(3))];
    Content {
        encoding: ApiVersion::parse(version).unwrap(),
        media_type: MediaType::JSON,
        data: format!(r#"{{"value":{value}}}"#).into_bytes().into(),
    }
}

fn create(name: &str, value: u64, owners: OwnerReferences) -> CreateObject {
    CreateObject {
        key: key(name),
        attributes: Attributes {
            owners,
            ..Attributes::default()
        },
        content: content(value),
        ttl: None,
        fences: Fences::default(),
    }
}

fn owned_by(owner: &ObjectKey, uid: Uid) -> OwnerReferences {
    let reference = OwnerReference {
        api_version: ApiVersion::parse("example.com/v1").unwrap(),
        kind: Kind::parse("Card").unwrap(),
        name: ObjectName::parse(owner.name.name()).unwrap(),
        uid,
        controller: true,
        block_owner_deletion: true,
    };
    OwnerReferences::new(vec![reference]).unwrap()
}

fn preconditions(step: &Step) -> Preconditions {
    Preconditions {
        uid: None,
        resource_version: step.base,
    }
}

fn operation(step: &Step) -> Operation {
    let (key, preconditions) = (key(&step.name), preconditions(step));
    match (step.base, step.value) {
        (None, value) => Operation::Create(create(
            &step.name,
            value.unwrap_or_default(),
            OwnerReferences::default(),
        )),
        (Some(_), Some(value)) => Operation::Update(UpdateObject {
            key,
            attributes: Attributes::default(),
            content: content(value),
            ttl: TtlChange::Keep,
            preconditions,
            fences: Fences::default(),
        }),
        (Some(_), None) => Operation::Delete(DeleteObject {
            key,
            propagation: None,
            preconditions,
            fences: Fences::default(),
        }),
    }
}

fn compare(step: &Step) -> Compare {
    let key = key(&step.name);
    match step.base {
        Some(revision) => Compare::ResourceVersion(key, revision),
        None => Compare::Absent(key),
    }
}
