//! What stays of a resource when its last entry goes.

use synod_model::{
    ApiVersion, GroupResource, LogTime, Metadata, Persisted, Revision, StorageVersionHash,
    Violation, Violations,
};
use synod_proto::v1;

use super::FromWire;
use super::storage_version::{named, resource};
use super::wire::{list, version};

/// What is known of the stored objects of a resource, also when no member reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageState {
    /// Its name: `<resource>.<group>`, for the core group `<resource>`.
    pub name: String,
    /// Uid, revisions and times.
    pub metadata: Metadata,
    /// The resource.
    pub resource: GroupResource,
    /// The version that voters shall encode. Losing every member does not unset it.
    pub selected: Option<ApiVersion>,
    /// The revision at which `selected` last changed; zero before it was first set.
    pub selected_revision: Revision,
    /// The revision at which the common or the selected version last changed.
    pub agreement_revision: Revision,
    /// The version that is agreed on. `None`: unknown, since there is no agreement.
    pub current: Option<ApiVersion>,
    /// The one version that all entries encode. `None` if they do not, and while nobody reports the resource.
    pub common: Option<ApiVersion>,
    /// The hashes that discovery shows while nobody reports the resource: one is an agreement, several are none.
    pub observed: Vec<StorageVersionHash>,
    /// The versions in which objects may be stored.
    pub persisted: Vec<Persisted>,
    /// The versions in which writes may still land. One that is over may still be listed.
    pub drains: Vec<Drain>,
}

/// Writes in a version may still land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drain {
    /// The version.
    pub version: ApiVersion,
    /// Until which log time.
    pub until: LogTime,
}

impl FromWire<v1::StorageState> for StorageState {
    fn from_wire(pb: v1::StorageState) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let named = found.parsed("metadata", named(pb.metadata));
        let resource = found.parsed("resource", resource(pb.resource));
        let selected = found.parsed("selectedVersion", version(pb.selected_version.as_deref()));
        let current = found.parsed("currentVersion", version(pb.current_version.as_deref()));
        let common = found.parsed(
            "commonEncodingVersion",
            version(pb.common_encoding_version.as_deref()),
        );
        let persisted = found.parsed("persisted", list(pb.persisted, Persisted::try_from));
        let observed = list(pb.observed_hashes, |hash| StorageVersionHash::parse(&hash));
        let observed = found.parsed("observedHashes", observed);
        let drains = found.parsed("drains", list(pb.drains, Drain::read));
        let (
            Some((name, metadata)),
            Some(resource),
            Some(selected),
            Some(current),
            Some(common),
            Some(persisted),
            Some(observed),
            Some(drains),
        ) = (
            named, resource, selected, current, common, persisted, observed, drains,
        )
        else {
            return Err(found);
        };
        Ok(Self {
            name,
            metadata,
            resource,
            selected,
            selected_revision: Revision::new(pb.selected_revision),
            agreement_revision: Revision::new(pb.agreement_revision),
            current,
            common,
            observed,
            persisted,
            drains,
        })
    }
}

impl Drain {
    fn read(pb: v1::Drain) -> Result<Self, Violation> {
        Ok(Self {
            version: ApiVersion::parse(&pb.version).map_err(|fault| fault.at("version"))?,
            until: LogTime::from_millis(pb.until_log_time_ms),
        })
    }
}
