//! Storage versions as tables: the first four columns are those of `kubectl get storageversions`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use synod_client::json;
use synod_client::{
    ApiVersion, Condition, Drain, Drained, GroupResource, Heartbeat, LogTime, Obstacle, Persisted,
    StorageState, StorageVersion, StorageVersionPage, StorageVersionView, StoredIn, WallTime,
};

use super::{SHOWN, all, joined, or_unset, span, yes_or_no};
use crate::output::{Document, Table, UNSET, age};

/// The columns of Kubernetes' own table.
pub(crate) const COLUMNS: [&str; 4] = ["Name", "CommonEncodingVersion", "StorageVersions", "Age"];
const MORE_COLUMNS: [&str; 7] = [
    "Agreed",
    "Selected",
    "SelectedRevision",
    "AgreementRevision",
    "DecodableByAll",
    "ServedByAll",
    "Persisted",
];
const ENTRY_COLUMNS: [&str; 7] = [
    "Member", "Kind", "Encodes", "Prefers", "Adopted", "Decodes", "Serves",
];
const MORE_ENTRY_COLUMNS: [&str; 3] = ["AdoptedRevision", "SinceRevision", "StoredIn"];

/// `synod storage-versions list`.
pub(crate) fn storage_versions(page: &StorageVersionPage, now: WallTime) -> Document {
    let resources = page.items.iter().filter_map(|item| {
        let version = item.storage_version.as_ref();
        Resource::of(version, item.storage_state.as_ref(), &item.reasons)
    });
    summary(json::of(page), &resources.collect::<Vec<_>>(), now)
}

/// `synod storage-versions get`.
pub(crate) fn storage_version(view: &StorageVersionView, now: WallTime) -> Document {
    let version = view.storage_version.as_ref();
    let resource = Resource::of(version, view.storage_state.as_ref(), &view.reasons);
    let resources: Vec<Resource<'_>> = resource.into_iter().collect();
    let mut document = summary(json::of(view), &resources, now);
    if let Some(version) = &view.storage_version {
        let (entries, more) = entries(version);
        document.tables.push(entries);
        document.wide.push(more);
        document.wide.push(conditions(&version.status.conditions));
    }
    if let Some(state) = &view.storage_state {
        document.tables.extend(names(state));
        let look = look(state, view.heartbeat.as_ref(), now);
        document.tables.extend(look.clone());
        document.wide.extend(look);
        document.wide.push(drains(state, view.log_time));
    }
    document
}

/// The names of the store, if it has several.
fn names(state: &StorageState) -> Option<Table> {
    let mut table = Table::new(["KeptUnder", "OtherNames"]);
    let others = state.equivalents.iter().map(GroupResource::qualified);
    table.row([state.resource.qualified().to_owned(), all(others)]);
    (!state.equivalents.is_empty()).then_some(table)
}

/// The last look at the discovery of a resource, and what it showed.
fn look(state: &StorageState, heartbeat: Option<&Heartbeat>, now: WallTime) -> Option<Table> {
    let heartbeat = heartbeat?;
    let mut table = Table::new(["Observed", "LastLook", "Stale"]);
    table.row([
        all(&state.observed),
        age(heartbeat.time.as_millis(), now.as_millis()),
        yes_or_no(heartbeat.stale).to_owned(),
    ]);
    Some(table)
}

/// A resource that members report, or of which only the storage state has stayed.
struct Resource<'a> {
    name: &'a str,
    created: WallTime,
    version: Option<&'a StorageVersion>,
    state: Option<&'a StorageState>,
    reasons: &'a [Obstacle],
}

impl<'a> Resource<'a> {
    fn of(
        version: Option<&'a StorageVersion>,
        state: Option<&'a StorageState>,
        reasons: &'a [Obstacle],
    ) -> Option<Self> {
        let resource = version.map(|version| &version.resource);
        let created = version.map(|version| version.metadata.created);
        Some(Self {
            name: resource.or_else(|| Some(&state?.resource))?.qualified(),
            created: created.or_else(|| Some(state?.metadata.created))?,
            version,
            state,
            reasons,
        })
    }

    fn cells(&self, now: WallTime) -> Vec<String> {
        let common = self
            .version
            .and_then(|version| version.status.common.as_ref());
        let entries = self
            .version
            .map_or(&[][..], |version| &version.entries)
            .iter();
        let encodings = entries.map(|entry| (entry.member.as_str(), entry.encoding.as_ref()));
        let mut cells = first_cells(self.name, common, encodings).to_vec();
        cells.push(age(self.created.as_millis(), now.as_millis()));
        cells
    }

    fn more_cells(&self) -> Vec<String> {
        let status = self.version.map(|version| &version.status);
        let selected = match (status, self.state) {
            (Some(status), _) => Some((&status.selected, status.selected_revision)),
            (None, state) => state.map(|state| (&state.selected, state.selected_revision)),
        };
        let agreement = status
            .map(|status| status.agreement_revision)
            .or_else(|| self.state.map(|state| state.agreement_revision));
        vec![
            or_unset(status.and_then(|status| status.agreed.as_ref())),
            or_unset(selected.and_then(|(version, _)| version.as_ref())),
            or_unset(
                selected
                    .map(|(_, revision)| revision)
                    .filter(|revision| revision.get() > 0),
            ),
            or_unset(agreement.filter(|revision| revision.get() > 0)),
            all(status
                .into_iter()
                .flat_map(|status| &status.decodable_by_all)),
            all(status.into_iter().flat_map(|status| &status.served_by_all)),
            all(self.state.into_iter().flat_map(|state| &state.persisted)),
        ]
    }
}

fn summary(value: Value, resources: &[Resource<'_>], now: WallTime) -> Document {
    let mut table = Table::new(COLUMNS);
    let mut wide = Table::new(COLUMNS.into_iter().chain(MORE_COLUMNS));
    for resource in resources {
        let cells = resource.cells(now);
        table.row(cells.clone());
        wide.row(cells.into_iter().chain(resource.more_cells()));
    }
    let names = resources
        .iter()
        .map(|resource| resource.name.to_owned())
        .collect();
    let (mut tables, mut wide) = (vec![table], vec![wide]);
    let standing = Some(standing(resources)).filter(|table| !table.is_empty());
    tables.extend(standing.clone());
    wide.extend(standing);
    Document {
        value,
        tables,
        wide,
        names,
    }
}

/// Why there is no agreement, in the words of the service.
fn standing(resources: &[Resource<'_>]) -> Table {
    let mut table = Table::new(["Name", "AgainstAgreement"]);
    for resource in resources {
        for reason in resource.reasons {
            table.row([resource.name, &reason.message]);
        }
    }
    table
}

/// The cells that `kubectl get storageversions` prints before the age: the name, the common version, and the first few
/// entries as `member=version`.
pub(crate) fn first_cells<'a>(
    name: &str,
    common: Option<&ApiVersion>,
    encodings: impl Iterator<Item = (&'a str, Option<&'a ApiVersion>)>,
) -> [String; 3] {
    let encodings: Vec<String> = encodings
        .map(|(member, version)| format!("{member}={}", or_unset(version)))
        .collect();
    [name.to_owned(), or_unset(common), joined(&encodings, SHOWN)]
}

fn entries(version: &StorageVersion) -> (Table, Table) {
    let mut table = Table::new(ENTRY_COLUMNS);
    let mut wide = Table::new(ENTRY_COLUMNS.into_iter().chain(MORE_ENTRY_COLUMNS));
    for entry in &version.entries {
        let is_adopted = entry.adopted_revision == Some(version.status.selected_revision);
        // A fixed entry neither prefers nor adopts a version.
        let adopted = entry
            .preferred
            .as_ref()
            .map_or("-", |_| yes_or_no(is_adopted));
        let cells = vec![
            entry.member.to_string(),
            entry.kind.to_string(),
            or_unset(entry.encoding.as_ref()),
            entry
                .preferred
                .as_ref()
                .map_or_else(|| "-".to_owned(), ToString::to_string),
            adopted.to_owned(),
            all(&entry.decodable),
            all(&entry.served),
        ];
        table.row(cells.clone());
        let revision = entry
            .adopted_revision
            .map_or_else(|| "-".to_owned(), |at| at.to_string());
        let stored = match entry.stored {
            Some(StoredIn::Outside) => "outside",
            Some(StoredIn::Collection) => "collection",
            None => "-",
        };
        let more = [
            revision,
            entry.since_revision.to_string(),
            stored.to_owned(),
        ];
        wide.row(cells.into_iter().chain(more));
    }
    (table, wide)
}

pub(super) fn conditions(conditions: &[Condition]) -> Table {
    let mut table = Table::new(["Condition", "Status", "Reason", "SinceRevision", "Message"]);
    for condition in conditions {
        table.row([
            condition.kind.clone(),
            condition.status.to_string(),
            condition.reason.clone(),
            condition.transition_revision.to_string(),
            condition.message.clone(),
        ]);
    }
    table
}

/// The encodings in which objects may be stored or writes may still land, and for how long the latter.
pub(super) fn drains(state: &StorageState, now: LogTime) -> Table {
    let mut table = Table::new(["Encoding", "Hash", "MayBeStored", "MayStillLandFor"]);
    let is_of = |encoding: &Drained, persisted: &Persisted| match encoding {
        Drained::Version(version) => Some(version) == persisted.version(),
        Drained::Hash(hash) => Some(*hash) == persisted.hash(),
        Drained::Unknown => *persisted == Persisted::Unknown,
    };
    let left = |drains: &[&Drain]| {
        let last = drains.iter().map(|drain| drain.until.since(now)).max();
        last.filter(|left| !left.is_zero())
    };
    let words = |left: Option<Duration>| left.map_or_else(|| "-".to_owned(), span);
    for persisted in &state.persisted {
        let drains = state.drains.iter();
        let drains: Vec<&Drain> = drains
            .filter(|drain| is_of(&drain.encoding, persisted))
            .collect();
        let hash = persisted.hash();
        table.row([
            persisted.to_string(),
            hash.map_or_else(|| UNSET.to_owned(), |hash| hash.to_string()),
            yes_or_no(true).to_owned(),
            words(left(&drains)),
        ]);
    }
    let mut others: BTreeMap<String, Vec<&Drain>> = BTreeMap::new();
    for drain in &state.drains {
        let mut stored = state.persisted.iter();
        if !stored.any(|persisted| is_of(&drain.encoding, persisted)) {
            let name = drain.encoding.to_string();
            others.entry(name).or_default().push(drain);
        }
    }
    for (name, drains) in others {
        let left = left(&drains);
        if left.is_some() {
            let hash = UNSET.to_owned();
            table.row([name, hash, yes_or_no(false).to_owned(), words(left)]);
        }
    }
    table
}
