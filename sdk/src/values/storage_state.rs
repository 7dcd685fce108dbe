//! What stays of a resource when its last entry goes.

use std::fmt;

use synod_model::{
    Absent, ApiVersion, GroupResource, Kind, LogTime, Metadata, Persisted, Revision,
    StorageVersionHash, Violation, Violations,
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
    /// The hashes that discovery shows. While nobody reports the resource, one is an agreement and several are none.
    pub observed: Vec<StorageVersionHash>,
    /// The kind, if an observer said it.
    pub observed_kind: Option<Kind>,
    /// Whether nobody has looked at discovery for two periods, so that what it showed says nothing of the present.
    pub observation_expired: bool,
    /// Whether discovery shows, or last showed, what no member says that it encodes.
    pub contradicted: bool,
    /// The hash that is agreed on while nobody reports the resource.
    pub current_hash: Option<StorageVersionHash>,
    /// Who is missing by the roster of the resource.
    pub absent: Absent,
    /// Since which revision what is persisted is on trust: whoever writes the resource and was not asked for by a roster may
    /// have written any version. A migration that was created since, and ends under a roster, makes it `None`.
    pub on_trust_since: Option<Revision>,
    /// The versions in which objects may be stored.
    pub persisted: Vec<Persisted>,
    /// The encodings in which writes may still land. One that is over may still be listed.
    pub drains: Vec<Drain>,
}

/// Writes in an encoding may still land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drain {
    /// The encoding.
    pub encoding: Drained,
    /// Until which log time.
    pub until: LogTime,
}

/// An encoding that drains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drained {
    /// A version.
    Version(ApiVersion),
    /// What discovery has shown, of which only the hash is known.
    Hash(StorageVersionHash),
}

impl fmt::Display for Drained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => version.fmt(f),
            Self::Hash(hash) => hash.fmt(f),
        }
    }
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
        let kind = Some(pb.observed_kind.as_str()).filter(|kind| !kind.is_empty());
        let observed_kind = found.parsed("observedKind", kind.map(Kind::parse).transpose());
        let current_hash = pb.current_hash.as_deref().map(StorageVersionHash::parse);
        let current_hash = found.parsed("currentHash", current_hash.transpose());
        let absent = pb.absent.map(Absent::try_from).transpose();
        let absent = found.parsed("absent", absent);
        let (
            Some((name, metadata)),
            Some(resource),
            Some(selected),
            Some(current),
            Some(common),
            Some(persisted),
            Some(observed),
            Some(drains),
            Some(observed_kind),
            Some(current_hash),
            Some(absent),
        ) = (
            named,
            resource,
            selected,
            current,
            common,
            persisted,
            observed,
            drains,
            observed_kind,
            current_hash,
            absent,
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
            observed_kind,
            observation_expired: pb.observation_expired,
            contradicted: pb.contradicted,
            current_hash,
            absent: absent.unwrap_or_default(),
            on_trust_since: (pb.on_trust_since > 0).then(|| Revision::new(pb.on_trust_since)),
            persisted,
            drains,
        })
    }
}

impl Drain {
    fn read(pb: v1::Drain) -> Result<Self, Violation> {
        let encoding = if pb.hash.is_empty() {
            let version = ApiVersion::parse(&pb.version);
            Drained::Version(version.map_err(|fault| fault.at("version"))?)
        } else {
            let hash = StorageVersionHash::parse(&pb.hash);
            Drained::Hash(hash.map_err(|fault| fault.at("hash"))?)
        };
        Ok(Self {
            encoding,
            until: LogTime::from_millis(pb.until_log_time_ms),
        })
    }
}
