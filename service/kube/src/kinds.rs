//! The table of kinds, which discovery, OpenAPI, tables and routing follow.

use std::borrow::Cow;
use std::cmp::Reverse;

use synod_proto::v1;

use crate::columns::{
    BINARY_VERSION, COMMON, CONTROLLER, CURRENT, CURRENT_HASH, Column, EMULATION_VERSION,
    ENCODINGS, ENDPOINT, EVENT_TYPE, HOLDER, INVOLVED, LEASE, MEMBER_PHASE, MEMBER_VERSION,
    MESSAGE, PERSISTED, PERSISTED_HASHES, PHASE, REASON, RESOURCE, REVISION, SELECTED,
};
use crate::parts::{Part, STATUS};

/// What a caller may ask of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

/// By which calls a kind is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Agreements,
    ControllerRevisions,
    Events,
    LeaseCandidates,
    Leases,
    Members,
    Migrations,
    Objects,
    Settings,
    StorageStates,
    StorageVersions,
}

/// A kind in one version.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) group: Cow<'static, str>,
    pub(crate) version: Cow<'static, str>,
    pub(crate) plural: Cow<'static, str>,
    pub(crate) singular: Cow<'static, str>,
    pub(crate) kind: Cow<'static, str>,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) namespaced: bool,
    pub(crate) verbs: &'static [Verb],
    pub(crate) source: Source,
    pub(crate) columns: &'static [Column],
    pub(crate) description: &'static str,
    /// What writes must hold to.
    pub(crate) rules: Rules,
}

/// What writes of a kind must hold to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// An update of an object that is not there creates it.
    pub(crate) create_on_update: bool,
    /// An update may leave out the revision.
    pub(crate) unconditional_update: bool,
    /// The status is written by its subresource alone.
    pub(crate) status_subresource: bool,
}

/// The group of what only Synod has.
pub(crate) const OWN_GROUP: &str = "synod.io";

const READ: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch];
const ALL: &[Verb] = &[
    Verb::Create,
    Verb::Delete,
    Verb::DeleteCollection,
    Verb::Get,
    Verb::List,
    Verb::Patch,
    Verb::Update,
    Verb::Watch,
];
/// What a caller may ask of a status.
const OF_STATUS: &[Verb] = &[Verb::Get, Verb::Patch, Verb::Update];
const OF_REPORTS: &[Verb] = &[Verb::Create, Verb::Get, Verb::List, Verb::Watch];
const OF_CANDIDATES: &[Verb] = &[
    Verb::Create,
    Verb::Delete,
    Verb::Get,
    Verb::List,
    Verb::Patch,
    Verb::Update,
    Verb::Watch,
];

impl Verb {
    pub(crate) const EACH: [Self; 8] = [
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Create,
        Self::Update,
        Self::Patch,
        Self::Delete,
        Self::DeleteCollection,
    ];

    /// Its name in discovery.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl Kind {
    /// `group/version`, or the version of the core group.
    pub(crate) fn api_version(&self) -> String {
        match &*self.group {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The version whose hash discovery shows: one for all versions in which an object is served.
    pub(crate) fn stored_version(&self) -> &str {
        match self.source {
            Source::Migrations => MIGRATIONS_STORED,
            _ => &self.version,
        }
    }

    /// `plural.group`, or the plural of the core group.
    pub(crate) fn qualified(&self) -> String {
        match &*self.group {
            "" => self.plural.to_string(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// The collection that its objects are in.
    pub(crate) fn resource(&self) -> v1::GroupResource {
        v1::GroupResource {
            group: self.group.to_string(),
            resource: self.plural.to_string(),
        }
    }

    /// The name of a list of it.
    pub(crate) fn list_kind(&self) -> String {
        format!("{}List", self.kind)
    }

    pub(crate) fn has(&self, verb: Verb) -> bool {
        self.verbs.contains(&verb)
    }

    /// The part of an object that a path names; `None` if it has no such subresource.
    pub(crate) fn part(&self, subresource: Option<&str>) -> Option<Part> {
        match subresource {
            None => Some(Part::Object),
            Some(STATUS) if self.has_status() => Some(Part::Status),
            Some(_) => None,
        }
    }

    /// What a caller may ask of a part of it.
    pub(crate) const fn verbs_of(&self, part: Part) -> &'static [Verb] {
        match part {
            Part::Object => self.verbs,
            Part::Status if self.has_status() => OF_STATUS,
            Part::Status => &[],
        }
    }

    /// Whether its status is a subresource.
    pub(crate) const fn has_status(&self) -> bool {
        self.rules.status_subresource
    }

    /// The kind that a collection has in one version.
    pub(crate) fn of_collection(collection: &v1::Collection, version: &str) -> Self {
        let resource = collection.resource.clone().unwrap_or_default();
        let rules = collection.rules.unwrap_or_default();
        Self {
            singular: collection.kind.to_lowercase().into(),
            group: resource.group.into(),
            version: version.to_owned().into(),
            plural: resource.resource.into(),
            kind: collection.kind.clone().into(),
            short_names: &[],
            namespaced: collection.namespaced,
            verbs: ALL,
            source: Source::Objects,
            columns: &[],
            description: "An object of a declared collection. Synod does not know its fields.",
            rules: Rules {
                create_on_update: rules.create_on_update,
                unconditional_update: rules.unconditional_update,
                status_subresource: rules.status_subresource,
            },
        }
    }
}

/// A row of the table.
#[expect(
    clippy::too_many_arguments,
    reason = "the rows below are read as a table"
)]
const fn row(
    (group, version): (&'static str, &'static str),
    (plural, singular, kind): (&'static str, &'static str, &'static str),
    short_names: &'static [&'static str],
    namespaced: bool,
    verbs: &'static [Verb],
    source: Source,
    columns: &'static [Column],
    description: &'static str,
) -> Kind {
    Kind {
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(version),
        plural: Cow::Borrowed(plural),
        singular: Cow::Borrowed(singular),
        kind: Cow::Borrowed(kind),
        short_names,
        namespaced,
        verbs,
        source,
        columns,
        description,
        rules: Rules {
            create_on_update: false,
            unconditional_update: true,
            // Servers report the status of a StorageVersion, and workers that of a migration.
            status_subresource: matches!(source, Source::StorageVersions | Source::Migrations),
        },
    }
}

/// The kinds that every cluster has, in the order in which discovery lists them.
pub(crate) const KINDS: &[Kind] = &[
    row(
        ("coordination.k8s.io", "v1"),
        ("leases", "lease", "Lease"),
        &[],
        true,
        ALL,
        Source::Leases,
        &[HOLDER],
        "A lease: held by one holder at a time, until its TTL has passed without a renewal.",
    ),
    row(
        ("apps", "v1"),
        (
            "controllerrevisions",
            "controllerrevision",
            "ControllerRevision",
        ),
        &[],
        true,
        ALL,
        Source::ControllerRevisions,
        &[CONTROLLER, REVISION],
        "An immutable snapshot of a controller's state.",
    ),
    row(
        ("internal.apiserver.k8s.io", "v1alpha1"),
        ("storageversions", "storageversion", "StorageVersion"),
        &["sv"],
        false,
        OF_REPORTS,
        Source::StorageVersions,
        &[COMMON, ENCODINGS],
        "What each API server encodes and decodes of a resource, and the version that all of them encode.",
    ),
    migrations("v1"),
    migrations(MIGRATIONS_STORED),
    row(
        ("coordination.k8s.io", "v1beta1"),
        ("leasecandidates", "leasecandidate", "LeaseCandidate"),
        &[],
        true,
        OF_CANDIDATES,
        Source::LeaseCandidates,
        &[LEASE, BINARY_VERSION, EMULATION_VERSION],
        "Who stands for a lease, which goes to the candidate of the oldest version.",
    ),
    row(
        ("migration.k8s.io", "v1alpha1"),
        ("storagestates", "storagestate", "StorageState"),
        &[],
        false,
        READ,
        Source::StorageStates,
        &[CURRENT_HASH, PERSISTED_HASHES],
        "The hash of the version that a resource is stored in, and those of the versions in which it may be.",
    ),
    row(
        (OWN_GROUP, "v1"),
        ("members", "member", "Member"),
        &[],
        false,
        READ,
        Source::Members,
        &[MEMBER_PHASE, MEMBER_VERSION, ENDPOINT],
        "An API server that takes part.",
    ),
    row(
        (OWN_GROUP, "v1"),
        ("agreements", "agreement", "Agreement"),
        &[],
        false,
        READ,
        Source::Agreements,
        &[CURRENT, SELECTED, PERSISTED],
        "What was agreed on for a resource, and the versions in which it may be stored.",
    ),
    row(
        (OWN_GROUP, "v1"),
        ("settings", "setting", "Settings"),
        &[],
        false,
        READ,
        Source::Settings,
        &[],
        "The replicated settings of the cluster. There is one object, named synod.",
    ),
];

/// The version of migrations by which discovery tells in which one they are stored: that of Kubernetes.
const MIGRATIONS_STORED: &str = "v1beta1";

/// A migration, in one of its versions, which differ in nothing but their name.
const fn migrations(version: &'static str) -> Kind {
    row(
        ("storagemigration.k8s.io", version),
        (
            "storageversionmigrations",
            "storageversionmigration",
            "StorageVersionMigration",
        ),
        &["svm"],
        false,
        ALL,
        Source::Migrations,
        &[RESOURCE, PHASE],
        "A migration of what is stored of a resource to the version that was agreed on.",
    )
}

/// The one kind of the core group.
pub(crate) const EVENT: Kind = row(
    ("", "v1"),
    ("events", "event", "Event"),
    &["ev"],
    true,
    READ,
    Source::Events,
    &[EVENT_TYPE, REASON, INVOLVED, MESSAGE],
    "What has happened to an object.",
);

/// Whether a text is a version of an API, as `v1` or `v2beta1`.
pub(crate) fn is_version(text: &str) -> bool {
    rank(text).is_some()
}

/// What versions are ordered by, the preferred one first: stable ones before beta and alpha, newer ones before older ones.
pub(crate) fn preference(version: &str) -> impl Ord + use<> {
    (Reverse(rank(version)), version.to_owned())
}

/// Stable 2, beta 1, alpha 0; then the numbers.
fn rank(text: &str) -> Option<(u8, u32, u32)> {
    let rest = text.strip_prefix('v')?;
    let (major, stage) = match rest.find(|letter: char| !letter.is_ascii_digit()) {
        None => (number(rest)?, (2, 0)),
        Some(end) => {
            let (major, stage) = rest.split_at(end);
            let stage = match (stage.strip_prefix("beta"), stage.strip_prefix("alpha")) {
                (Some(of), _) => (1, number(of)?),
                (_, Some(of)) => (0, number(of)?),
                (None, None) => return None,
            };
            (number(major)?, stage)
        }
    };
    Some((stage.0, major, stage.1))
}

fn number(text: &str) -> Option<u32> {
    text.parse()
        .ok()
        .filter(|number| *number > 0 && !text.starts_with(['0', '+']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_preferred_as_kubernetes_prefers_them() {
        let mut versions = ["v1beta1", "v10", "v1", "v2alpha1", "v2", "v11beta2"];
        versions.sort_by_key(|version| preference(version));
        assert_eq!(
            versions,
            ["v10", "v2", "v1", "v11beta2", "v1beta1", "v2alpha1"]
        );
        for no in [
            "", "v", "1", "v0", "v01", "v1gamma1", "v1beta", "v+1", "version",
        ] {
            assert!(!is_version(no), "{no}");
        }
    }
}
