//! A resource that members report.

use std::collections::BTreeSet;

use synod_model::{
    ApiVersion, Condition, GroupResource, Kind, MemberId, Metadata, Revision, StoredIn, VersionSet,
    Violations, WallTime,
};
use synod_proto::wire::Wire;
use synod_proto::{messages, v1};

/// A resource that at least one member reports: what each of them encodes, decodes and serves, and what follows from
/// all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersion {
    /// Its name: `<group>.<resource>`, the core group written `core`.
    pub name: String,
    /// Uid, revisions and times.
    pub metadata: Metadata,
    /// The resource.
    pub resource: GroupResource,
    /// One entry for each member that reports the resource, ordered by member.
    pub entries: Vec<StorageVersionEntry>,
    /// The status that follows from the entries.
    pub status: StorageVersionStatus,
}

impl StorageVersion {
    /// The entry of a member, if it reports the resource.
    #[must_use]
    pub fn entry(&self, member: &MemberId) -> Option<&StorageVersionEntry> {
        let place = self
            .entries
            .binary_search_by(|entry| entry.member.cmp(member));
        place.ok().and_then(|place| self.entries.get(place))
    }
}

/// What one member reports of one resource, and in which version it encodes as a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionEntry {
    /// The member.
    pub member: MemberId,
    /// The kind that the resource stores.
    pub kind: Kind,
    /// The versions that the member can decode.
    pub decodable: VersionSet,
    /// The versions that it serves.
    pub served: VersionSet,
    /// The version that it votes for. `None`: the entry is fixed.
    pub preferred: Option<ApiVersion>,
    /// The version in which it encodes. `None`: it votes and nothing was selected yet.
    pub encoding: Option<ApiVersion>,
    /// The `selected_revision` that it took or adopted last. `None` for a fixed entry.
    pub adopted_revision: Option<Revision>,
    /// The revision at which the member's entry first appeared as a fixed or as a voting one.
    pub since_revision: Revision,
    /// The time that the member names before which nobody may withdraw a served version.
    pub serve_until: Option<WallTime>,
    /// The place where the member stores the objects. `None`: an older release answered.
    pub stored: Option<StoredIn>,
    /// The other names of the objects' store, as the member told them. Since 0.1.
    pub equivalents: BTreeSet<GroupResource>,
}

/// The status that follows from all entries of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionStatus {
    /// The one version in which all entries encode, if they do.
    pub common: Option<ApiVersion>,
    /// The version in which voters are instructed to encode. `None` if nothing was ever selected.
    pub selected: Option<ApiVersion>,
    /// The revision at which `selected` last changed; zero before it was first set.
    pub selected_revision: Revision,
    /// The revision at which `common` or `selected` last changed.
    pub agreement_revision: Revision,
    /// The version that is agreed on: it is common, selected if any version is, and taken by every voter.
    pub agreed: Option<ApiVersion>,
    /// The versions that every entry decodes, sorted.
    pub decodable_by_all: Vec<ApiVersion>,
    /// The versions that every entry serves, sorted.
    pub served_by_all: Vec<ApiVersion>,
    /// `AllEncodingVersionsEqual` and `DecodableByAll`.
    pub conditions: Vec<Condition>,
}

messages! {
    v1::StorageVersion = StorageVersion {
        (name, metadata) = metadata,
        resource = resource,
        entries = entries by by_member,
        status = status,
    }
    v1::StorageVersionEntry = StorageVersionEntry {
        member = member,
        kind = kind,
        decodable = decodable_versions,
        served = served_versions,
        preferred = preferred_version,
        encoding = encoding_version,
        adopted_revision = adopted_revision,
        since_revision = since_revision,
        serve_until = serve_until_ms,
        stored = stored,
        equivalents = equivalents,
    }
    v1::StorageVersionStatus = StorageVersionStatus: "every replica sets it" {
        common = common_encoding_version,
        selected = selected_version,
        selected_revision = selected_revision,
        agreement_revision = agreement_revision,
        agreed = agreed_version,
        decodable_by_all = decodable_by_all,
        served_by_all = served_by_all,
        conditions = conditions,
    }
}

/// The entries in the order of their members. Replicas send them so, and lookups depend on it.
mod by_member {
    use super::*;

    pub(super) fn write(entries: &[StorageVersionEntry]) -> Vec<v1::StorageVersionEntry> {
        entries.iter().map(Wire::to_wire).collect()
    }

    pub(super) fn read(
        pb: Vec<v1::StorageVersionEntry>,
    ) -> Result<Vec<StorageVersionEntry>, Violations> {
        let mut entries: Vec<StorageVersionEntry> = Wire::of_wire(pb)?;
        entries.sort_by(|a, b| a.member.cmp(&b.member));
        Ok(entries)
    }
}
