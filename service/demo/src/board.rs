//! The state of members and resources as a watch reports it, shown while the demo runs.

use std::collections::BTreeMap;

use synod_client::{
    ApiVersion, ChangeType, Event, Events, Member, Migration, MigrationPhase, Persisted, Phase,
    StorageVersionChange, StorageVersionEntry, StorageVersionStatus, StoredObject, WatchedObject,
};

/// The members, resources, migrations and stored objects at one revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    pub(crate) revision: u64,
    /// The members by id. A removed member stays, marked as gone.
    pub(crate) members: BTreeMap<String, Seat>,
    /// The resources by name, as in `widgets.example.io`.
    pub(crate) resources: BTreeMap<String, Column>,
    /// The latest migrations of each resource, by the name of the migration.
    pub(crate) migrations: BTreeMap<String, Migration>,
    /// The versions in which objects of each resource may be stored, by the resource's name.
    pub(crate) persisted: BTreeMap<String, Vec<Persisted>>,
    /// The version of each object that Synod keeps, by resource and name.
    pub(crate) kept: BTreeMap<(String, String), ApiVersion>,
}

/// A member that is or was in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) version: String,
    pub(crate) epoch: u64,
    pub(crate) phase: Phase,
    pub(crate) gone: bool,
}

/// A resource, with the entry of each member and the status that follows from them.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// The entries by member.
    pub(crate) entries: BTreeMap<String, StorageVersionEntry>,
    pub(crate) status: StorageVersionStatus,
}

impl Board {
    /// Applies the events, and returns a line for each change worth one.
    pub(crate) fn take(&mut self, events: &Events) -> Vec<String> {
        self.revision = events.revision.get();
        let told = events.events.iter().flat_map(|event| self.take_one(event));
        told.collect()
    }

    /// The version that the members agree on, if they agree.
    pub(crate) fn agreed(&self, resource: &str) -> Option<&ApiVersion> {
        self.resources.get(resource)?.status.agreed.as_ref()
    }

    /// The versions in which objects of a resource may be stored, without their group; `?` for an unknown one.
    pub(crate) fn stored_in(&self, resource: &str) -> String {
        let persisted = self.persisted.get(resource);
        let versions = persisted.into_iter().flatten().map(|one| match one {
            Persisted::Version {
                version: Some(version),
                ..
            } => version.version(),
            Persisted::Version { version: None, .. } | Persisted::Unknown => "?",
        });
        versions.collect::<Vec<&str>>().join(" ")
    }

    fn take_one(&mut self, event: &Event) -> Vec<String> {
        match &event.object {
            Some(WatchedObject::Member(member)) => self.take_member(event.change, member),
            Some(WatchedObject::StorageVersion(change)) => self.take_resource(event.change, change),
            Some(WatchedObject::Stored(object)) => {
                self.take_object(event.change, object);
                Vec::new()
            }
            Some(WatchedObject::Migration(migration)) => {
                self.take_migration(event.change, migration)
            }
            Some(WatchedObject::StorageState(state)) => {
                self.persisted.insert(
                    state.resource.qualified().to_owned(),
                    state.persisted.clone(),
                );
                Vec::new()
            }
            Some(
                WatchedObject::Settings(_)
                | WatchedObject::Collection(_)
                | WatchedObject::Roster(_)
                | WatchedObject::ControllerRevision(_)
                | WatchedObject::Lease(_)
                | WatchedObject::LeaseCandidate(_),
            )
            | None => Vec::new(),
        }
    }

    fn take_object(&mut self, change: ChangeType, object: &StoredObject) {
        let resource = object.key.resource.qualified().to_owned();
        let key = (resource, object.key.name.to_string());
        if change == ChangeType::Removed {
            self.kept.remove(&key);
        } else {
            self.kept.insert(key, object.content.encoding.clone());
        }
    }

    fn take_migration(&mut self, change: ChangeType, migration: &Migration) -> Vec<String> {
        let name = migration.id.to_string();
        if change == ChangeType::Removed {
            self.migrations.remove(&name);
            return Vec::new();
        }
        let before = self.migrations.insert(name.clone(), migration.clone());
        let worker = |migration: &Migration| Some(migration.claim.as_ref()?.worker.clone());
        let was = before.map(|before| (before.phase, worker(&before)));
        let is = (migration.phase, worker(migration));
        if was.as_ref() == Some(&is) {
            return Vec::new();
        }
        let target = migration.target.version.as_ref();
        vec![match is {
            (MigrationPhase::Running, Some(worker)) => {
                format!("{name}: {worker} migrates to {}", short(target))
            }
            (phase, _) => format!("{name} to {} is {phase}", short(target)),
        }]
    }

    fn take_member(&mut self, change: ChangeType, member: &Member) -> Vec<String> {
        let seat = Seat {
            version: member.version.to_string(),
            epoch: member.epoch.get(),
            phase: member.phase,
            gone: change == ChangeType::Removed,
        };
        let (id, epoch, version) = (&member.id, seat.epoch, seat.version.clone());
        let before = self.members.insert(id.to_string(), seat.clone());
        let before = before.filter(|before| !before.gone);
        let told = match before {
            _ if seat.gone => format!("{id} is gone, and its entries with it"),
            None => format!("{id} joined with release {version} as epoch {epoch}"),
            Some(before) if before.epoch != epoch => {
                format!(
                    "{id} joined anew with release {version} as epoch {epoch}: epoch {} is fenced",
                    before.epoch
                )
            }
            Some(_) => return Vec::new(),
        };
        vec![told]
    }

    fn take_resource(&mut self, change: ChangeType, update: &StorageVersionChange) -> Vec<String> {
        let name = update.resource.qualified();
        let before = self.resources.get(name).map(|column| column.status.clone());
        if change == ChangeType::Removed {
            self.resources.remove(name);
            return vec![format!("{name}: nobody reports it any more")];
        }
        let column = self
            .resources
            .entry(name.to_owned())
            .or_insert_with(|| Column {
                entries: BTreeMap::new(),
                status: update.status.clone(),
            });
        for member in &update.removed_members {
            column.entries.remove(member.as_str());
        }
        for entry in &update.changed_entries {
            column
                .entries
                .insert(entry.member.to_string(), entry.clone());
        }
        column.status = update.status.clone();
        moves(name, before.as_ref(), &update.status)
    }
}

/// A line for each field of the status that changed: the selected and the agreed version.
fn moves(
    name: &str,
    before: Option<&StorageVersionStatus>,
    after: &StorageVersionStatus,
) -> Vec<String> {
    let mut told = Vec::new();
    let selected = before.and_then(|before| before.selected.as_ref());
    if selected != after.selected.as_ref() {
        told.push(match (selected, after.selected.as_ref()) {
            (Some(from), Some(to)) => format!(
                "{name}: selected moves from {} to {}",
                from.version(),
                to.version()
            ),
            (_, to) => format!("{name}: selected is {}", short(to)),
        });
    }
    let agreed = before.and_then(|before| before.agreed.as_ref());
    if agreed != after.agreed.as_ref() {
        told.push(match after.agreed.as_ref() {
            Some(version) => format!("{name}: all agree on {}", version.version()),
            None => format!("{name}: no agreement"),
        });
    }
    told
}

/// A version without its group.
pub(crate) fn short(version: Option<&ApiVersion>) -> &str {
    version.map_or("none", ApiVersion::version)
}
