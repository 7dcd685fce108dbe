//! The report entry of a server, for scenarios.

use synod_model::{
    ApiVersion, GroupResource, Kind, ReportEntry, Stance, StorageVersionHash, StoredIn, WallTime,
};

/// One resource in a report.
#[derive(Clone, Debug)]
pub(crate) struct Says {
    name: String,
    kind: &'static str,
    decodes: Vec<&'static str>,
    serves: Vec<&'static str>,
    names: &'static str,
    votes: bool,
    until: Option<WallTime>,
    stored: StoredIn,
    equivalents: Vec<String>,
}

/// An entry for a resource: `pods`, or `apps.deployments`. It decodes, serves and encodes v1.
pub(crate) fn of(name: &str) -> Says {
    Says {
        name: name.to_owned(),
        kind: "Widget",
        decodes: vec!["v1"],
        serves: vec!["v1"],
        names: "v1",
        votes: false,
        until: None,
        stored: StoredIn::Outside,
        equivalents: Vec::new(),
    }
}

impl Says {
    /// It decodes and serves these versions: `"v1 v2"`.
    pub(crate) fn decodes(mut self, versions: &'static str) -> Self {
        self.decodes = versions.split(' ').collect();
        self.serves.clone_from(&self.decodes);
        self
    }

    pub(crate) fn serves(mut self, versions: &'static str) -> Self {
        self.serves = versions
            .split(' ')
            .filter(|version| !version.is_empty())
            .collect();
        self
    }

    pub(crate) fn of_kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }

    /// It encodes this fixed version.
    pub(crate) fn encodes(mut self, version: &'static str) -> Self {
        self.names = version;
        self.votes = false;
        self
    }

    /// It votes for this version, and encodes the selected one.
    pub(crate) fn prefers(mut self, version: &'static str) -> Self {
        self.names = version;
        self.votes = true;
        self
    }

    /// Nobody may withdraw the version before this time.
    pub(crate) fn until(mut self, date: WallTime) -> Self {
        self.until = Some(date);
        self
    }

    /// The same objects are stored under these names, too.
    pub(crate) fn equivalent_to(mut self, names: &[&str]) -> Self {
        self.equivalents = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// It stores the objects in the collection of this cluster alone.
    pub(crate) fn in_collection(mut self) -> Self {
        self.stored = StoredIn::Collection;
        self
    }

    pub(crate) fn entry(&self) -> ReportEntry {
        ReportEntry {
            resource: resource(&self.name),
            kind: Kind::parse(self.kind).expect("a legal kind"),
            decodable: self.decodes.iter().copied().map(version).collect(),
            served: self.serves.iter().copied().map(version).collect(),
            stance: if self.votes {
                Stance::Voting {
                    preferred: version(self.names),
                }
            } else {
                Stance::Fixed {
                    encoding: version(self.names),
                }
            },
            serve_until: self.until,
            stored: self.stored,
            equivalents: self.equivalents.iter().map(|name| resource(name)).collect(),
        }
    }
}

/// The releases in the seed's table, for `pods`: from one to the next, all servers understand each other.
pub(crate) mod release {
    use super::{Says, of};

    /// Supports v1.
    pub(crate) fn first() -> Says {
        of("pods").decodes("v1").prefers("v1")
    }

    /// Supports v1 and v2, prefers v1.
    pub(crate) fn second() -> Says {
        of("pods").decodes("v1 v2").prefers("v1")
    }

    /// Supports v1 and v2, prefers v2.
    pub(crate) fn third() -> Says {
        of("pods").decodes("v1 v2").prefers("v2")
    }

    /// Supports v2.
    pub(crate) fn fourth() -> Says {
        of("pods").decodes("v2").prefers("v2")
    }
}

/// The resource of this name: `pods` of the core group, or `<group>.<resource>`.
pub(crate) fn resource(name: &str) -> GroupResource {
    let (group, resource) = name.rsplit_once('.').unwrap_or(("", name));
    GroupResource::new(group, resource).expect("a legal resource")
}

pub(crate) fn version(text: &str) -> ApiVersion {
    ApiVersion::parse(text).expect("a legal version")
}

/// The hash that discovery shows of a version of the kind that all scenarios use.
pub(crate) fn hash(text: &str) -> StorageVersionHash {
    StorageVersionHash::of_version(
        &version(text),
        &Kind::parse("Widget").expect("a legal kind"),
    )
}
