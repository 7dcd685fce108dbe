//! The releases of the demo's API servers: what each one encodes, decodes and votes for.
//!
//! | release | widgets, in report mode | gadgets and trinkets, in vote mode | gizmos, as their definition says |
//! |---|---|---|---|
//! | 1.0 | encodes v1, decodes both | prefers v1, decodes v1 alone | decodes both |
//! | 1.1 | encodes v2, decodes both | prefers v1, decodes v1 alone | decodes both |
//! | 1.2 | encodes v2, decodes both | prefers v2, decodes both | decodes both |
//! | 1.2-reverted | encodes v1, decodes both | prefers v2, decodes both | decodes both |
//! | 2.0 | encodes v2, decodes v2 alone | prefers v2, decodes v2 alone | decodes v2 alone |
//!
//! One server is rolled back to `1.2-reverted` in the midst of a migration. Release 2.0 cannot read anything that
//! release 1.0 wrote: it may not join until all of that is migrated.
//!
//! Trinkets are kept in Synod, in a strict collection, all other objects in the servers' own store.
//!
//! In report mode both releases must decode both versions, since each one writes its own. In vote mode the older
//! release need not know the newer version: nothing is written in it while a member cannot decode it.

use std::collections::BTreeSet;

use synod_client::{ApiVersion, GroupResource, Kind, ReportEntry, Stance, StoredIn, VersionSet};

/// What a binary of this release has compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    /// The version of the release.
    pub(crate) version: &'static str,
    pub(crate) resources: &'static [Resource],
}

/// What a release knows of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
    /// The version that clients use.
    pub(crate) served: &'static str,
    pub(crate) decodable: &'static [&'static str],
    pub(crate) encodes: Encodes,
    /// The servers' own store accepts any encoding, the collection in Synod only the selected version.
    pub(crate) kept: StoredIn,
}

/// How a release chooses the version in which it stores objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encodes {
    /// Always this version (report mode).
    Fixed(&'static str),
    /// The selected version; the release votes for this one (vote mode).
    Selected(&'static str),
    /// The version in the resource's definition, which an administrator changes at run time; this one if there is none.
    Defined(&'static str),
}

const GROUP: &str = "example.io";
const FIRST: &str = "example.io/v1";
const SECOND: &str = "example.io/v2";

const OLD_WIDGETS: Resource = Resource {
    group: GROUP,
    plural: "widgets",
    kind: "Widget",
    served: FIRST,
    decodable: &[FIRST, SECOND],
    encodes: Encodes::Fixed(FIRST),
    kept: StoredIn::Outside,
};

const NEW_WIDGETS: Resource = Resource {
    encodes: Encodes::Fixed(SECOND),
    ..OLD_WIDGETS
};

const OLD_GADGETS: Resource = Resource {
    group: GROUP,
    plural: "gadgets",
    kind: "Gadget",
    served: FIRST,
    decodable: &[FIRST],
    encodes: Encodes::Selected(FIRST),
    kept: StoredIn::Outside,
};

const NEW_GADGETS: Resource = Resource {
    decodable: &[FIRST, SECOND],
    encodes: Encodes::Selected(SECOND),
    ..OLD_GADGETS
};

const OLD_TRINKETS: Resource = Resource {
    plural: "trinkets",
    kind: "Trinket",
    kept: StoredIn::Collection,
    ..OLD_GADGETS
};

const NEW_TRINKETS: Resource = Resource {
    plural: "trinkets",
    kind: "Trinket",
    kept: StoredIn::Collection,
    ..NEW_GADGETS
};

const GIZMOS: Resource = Resource {
    group: GROUP,
    plural: "gizmos",
    kind: "Gizmo",
    served: FIRST,
    decodable: &[FIRST, SECOND],
    encodes: Encodes::Defined(FIRST),
    kept: StoredIn::Outside,
};

const LAST_WIDGETS: Resource = Resource {
    served: SECOND,
    decodable: &[SECOND],
    ..NEW_WIDGETS
};

const LAST_GADGETS: Resource = Resource {
    served: SECOND,
    decodable: &[SECOND],
    ..NEW_GADGETS
};

const LAST_TRINKETS: Resource = Resource {
    served: SECOND,
    decodable: &[SECOND],
    ..NEW_TRINKETS
};

const LAST_GIZMOS: Resource = Resource {
    served: SECOND,
    decodable: &[SECOND],
    encodes: Encodes::Defined(SECOND),
    ..GIZMOS
};

const CHARTS: Resource = Resource {
    group: "metrics.example.io",
    plural: "charts",
    kind: "Chart",
    served: "metrics.example.io/v1beta1",
    decodable: &["metrics.example.io/v1beta1"],
    encodes: Encodes::Fixed("metrics.example.io/v1beta1"),
    kept: StoredIn::Outside,
};

/// The releases of the control plane's servers, oldest first.
pub(crate) const CONTROL_PLANE: [Release; 3] = [
    Release {
        version: "1.0",
        resources: &[OLD_WIDGETS, OLD_GADGETS, OLD_TRINKETS, GIZMOS],
    },
    Release {
        version: "1.1",
        resources: &[NEW_WIDGETS, OLD_GADGETS, OLD_TRINKETS, GIZMOS],
    },
    Release {
        version: "1.2",
        resources: &[NEW_WIDGETS, NEW_GADGETS, NEW_TRINKETS, GIZMOS],
    },
];

/// A release like the newest one, except that it stores widgets as the first one did.
pub(crate) const REVERTED: Release = Release {
    version: "1.2-reverted",
    resources: &[OLD_WIDGETS, NEW_GADGETS, NEW_TRINKETS, GIZMOS],
};

/// A release that no longer knows the first version.
pub(crate) const NEXT: Release = Release {
    version: "2.0",
    resources: &[LAST_WIDGETS, LAST_GADGETS, LAST_TRINKETS, LAST_GIZMOS],
};

/// The version in which all objects of the control plane are stored at the end.
pub(crate) const TARGET: &str = SECOND;

/// The version in which none of them is stored at the end.
pub(crate) const FORGOTTEN: &str = FIRST;

/// The resources of the control plane.
pub(crate) fn upgraded() -> impl Iterator<Item = Resource> {
    CONTROL_PLANE[0].resources.iter().copied()
}

/// The resources whose objects Synod keeps.
pub(crate) fn kept_in_synod() -> impl Iterator<Item = Resource> {
    upgraded().filter(|resource| resource.kept == StoredIn::Collection)
}

/// The only release of the server of another kind, which serves a resource of its own beside the control plane.
pub(crate) const AGGREGATED: Release = Release {
    version: "metrics-0.3",
    resources: &[CHARTS],
};

impl Release {
    /// The release with this version.
    pub(crate) fn of(version: &str) -> Option<Self> {
        let mut releases = CONTROL_PLANE
            .into_iter()
            .chain([REVERTED, NEXT, AGGREGATED]);
        releases.find(|release| release.version == version)
    }

    /// What the release knows of a resource.
    pub(crate) fn resource(&self, group: &str, plural: &str) -> Option<Resource> {
        let mut resources = self.resources.iter();
        resources
            .find(|resource| resource.group == group && resource.plural == plural)
            .copied()
    }
}

impl Resource {
    /// The name, as in `widgets.example.io`.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// The name, as the type that Synod uses.
    pub(crate) fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.group, self.plural).expect("the table above holds legal names")
    }

    /// The entry that a server reports; `defined` is the version in the resource's definition.
    pub(crate) fn entry(&self, defined: Option<&str>) -> ReportEntry {
        let stance = match self.encodes {
            Encodes::Fixed(version) => Stance::Fixed {
                encoding: api_version(version),
            },
            Encodes::Selected(preferred) => Stance::Voting {
                preferred: api_version(preferred),
            },
            Encodes::Defined(first) => Stance::Fixed {
                encoding: api_version(defined.unwrap_or(first)),
            },
        };
        let decodable: VersionSet = self
            .decodable
            .iter()
            .map(|version| api_version(version))
            .collect();
        ReportEntry {
            resource: self.group_resource(),
            kind: Kind::parse(self.kind).expect("the table above holds legal kinds"),
            served: std::iter::once(api_version(self.served)).collect(),
            decodable,
            stance,
            serve_until: None,
            stored: self.kept,
            equivalents: BTreeSet::new(),
        }
    }
}

fn api_version(text: &str) -> ApiVersion {
    ApiVersion::parse(text).expect("the table above holds legal versions")
}

#[cfg(test)]
mod tests {
    use synod_client::Violations;

    use super::*;

    #[test]
    fn every_release_reports_what_the_rules_allow() {
        for release in CONTROL_PLANE
            .into_iter()
            .chain([REVERTED, NEXT, AGGREGATED])
        {
            let mut faults = Violations::new();
            for resource in release.resources {
                resource.entry(None).check(resource.plural, &mut faults);
            }
            assert!(faults.is_empty(), "{}: {faults:?}", release.version);
            assert_eq!(Release::of(release.version), Some(release));
        }
    }

    #[test]
    fn a_definition_says_what_is_encoded() {
        let fixed = |defined| GIZMOS.entry(defined).stance.version().to_string();
        assert_eq!(fixed(None), "example.io/v1");
        assert_eq!(fixed(Some("example.io/v2")), "example.io/v2");
    }
}
