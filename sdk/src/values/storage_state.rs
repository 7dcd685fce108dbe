//! What stays of a resource when its last entry goes.

use std::fmt;

use synod_model::{
    Absent, ApiVersion, GroupResource, Kind, LogTime, Metadata, Persisted, Revision,
    StorageVersionHash, Violations,
};

use synod_proto::wire::Wire;
use synod_proto::{messages, v1};

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

messages! {
    v1::StorageState = StorageState {
        (name, metadata) = metadata,
        resource = resource,
        selected = selected_version,
        selected_revision = selected_revision,
        agreement_revision = agreement_revision,
        current = current_version,
        common = common_encoding_version,
        observed = observed_hashes,
        observed_kind = observed_kind,
        observation_expired = observation_expired,
        contradicted = contradicted,
        current_hash = current_hash,
        absent = absent by unless_empty,
        on_trust_since = on_trust_since by unless_zero,
        persisted = persisted,
        drains = drains,
    }
}

/// Who is missing: left out where nobody is.
mod unless_empty {
    use super::*;

    pub(super) fn write(absent: &Absent) -> Option<v1::AbsentMembers> {
        (!absent.is_empty()).then(|| absent.into())
    }

    pub(super) fn read(pb: Option<v1::AbsentMembers>) -> Result<Absent, Violations> {
        let absent: Option<Absent> = Wire::of_wire(pb)?;
        Ok(absent.unwrap_or_default())
    }
}

/// A revision: zero is none.
mod unless_zero {
    use super::*;

    pub(super) fn write(revision: &Option<Revision>) -> u64 {
        revision.map_or(0, Revision::get)
    }

    pub(super) fn read(pb: u64) -> Result<Option<Revision>, Violations> {
        Ok((pb > 0).then(|| Revision::new(pb)))
    }
}

impl Wire<v1::Drain> for Drain {
    fn to_wire(&self) -> v1::Drain {
        match &self.encoding {
            Drained::Version(version) => v1::Drain::of(version, self.until),
            Drained::Hash(hash) => v1::Drain::of_hash(*hash, self.until),
        }
    }

    fn of_wire(pb: v1::Drain) -> Result<Self, Violations> {
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
