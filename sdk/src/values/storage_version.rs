//! A resource that members report.

use synod_model::{
    ApiVersion, Condition, GroupResource, Kind, MemberId, Metadata, Revision, VersionSet,
    Violations,
};
use synod_proto::v1;

use super::FromWire;
use super::wire::{list, required, version, versions};

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
    /// What follows from the entries.
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

/// What one member says of one resource, and what follows for its encoding.
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
    /// The version that it would like to encode, if it votes. `None`: the entry is fixed.
    pub preferred: Option<ApiVersion>,
    /// The version that it encodes. `None`: it votes and nothing was selected yet.
    pub encoding: Option<ApiVersion>,
    /// The `selected_revision` that it took or adopted last. `None` for a fixed entry.
    pub adopted_revision: Option<Revision>,
    /// The revision at which the member's entry first appeared as a fixed or as a voting one.
    pub since_revision: Revision,
}

/// What follows from all entries of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionStatus {
    /// The one version that all entries encode, if they do.
    pub common: Option<ApiVersion>,
    /// The version that voters shall encode: an instruction. `None` if nothing was ever selected.
    pub selected: Option<ApiVersion>,
    /// The revision at which `selected` last changed; zero before it was first set.
    pub selected_revision: Revision,
    /// The revision at which `common` or `selected` last changed.
    pub agreement_revision: Revision,
    /// The version that is agreed on: common, selected if anything is, and taken by every voter.
    pub agreed: Option<ApiVersion>,
    /// The versions that every entry decodes, sorted.
    pub decodable_by_all: Vec<ApiVersion>,
    /// The versions that every entry serves, sorted.
    pub served_by_all: Vec<ApiVersion>,
    /// `AllEncodingVersionsEqual` and `DecodableByAll`.
    pub conditions: Vec<Condition>,
}

impl FromWire<v1::StorageVersion> for StorageVersion {
    fn from_wire(pb: v1::StorageVersion) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let named = found.parsed("metadata", named(pb.metadata));
        let resource = found.parsed("resource", resource(pb.resource));
        let entries = found.parsed("entries", list(pb.entries, StorageVersionEntry::from_wire));
        let status = found.parsed("status", StorageVersionStatus::from_wire(pb.status));
        let (Some((name, metadata)), Some(resource), Some(mut entries), Some(status)) =
            (named, resource, entries, status)
        else {
            return Err(found);
        };
        // They arrive so, and lookups depend on it.
        entries.sort_by(|a, b| a.member.cmp(&b.member));
        Ok(Self {
            name,
            metadata,
            resource,
            entries,
            status,
        })
    }
}

impl FromWire<v1::StorageVersionEntry> for StorageVersionEntry {
    fn from_wire(pb: v1::StorageVersionEntry) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let member = found.parsed("member", MemberId::parse(&pb.member));
        let kind = found.parsed("kind", Kind::parse(&pb.kind));
        let decodable = found.parsed("decodableVersions", versions(pb.decodable_versions));
        let served = found.parsed("servedVersions", versions(pb.served_versions));
        let preferred = found.parsed("preferredVersion", version(pb.preferred_version.as_deref()));
        let encoding = found.parsed("encodingVersion", version(pb.encoding_version.as_deref()));
        let (
            Some(member),
            Some(kind),
            Some(decodable),
            Some(served),
            Some(preferred),
            Some(encoding),
        ) = (member, kind, decodable, served, preferred, encoding)
        else {
            return Err(found);
        };
        Ok(Self {
            member,
            kind,
            decodable: decodable.into_iter().collect(),
            served: served.into_iter().collect(),
            preferred,
            encoding,
            adopted_revision: pb.adopted_revision.map(Revision::new),
            since_revision: Revision::new(pb.since_revision),
        })
    }
}

impl FromWire<Option<v1::StorageVersionStatus>> for StorageVersionStatus {
    fn from_wire(pb: Option<v1::StorageVersionStatus>) -> Result<Self, Violations> {
        let pb = required(pb)?;
        let mut found = Violations::new();
        let common = found.parsed(
            "commonEncodingVersion",
            version(pb.common_encoding_version.as_deref()),
        );
        let selected = found.parsed("selectedVersion", version(pb.selected_version.as_deref()));
        let agreed = found.parsed("agreedVersion", version(pb.agreed_version.as_deref()));
        let decodable_by_all = found.parsed("decodableByAll", versions(pb.decodable_by_all));
        let served_by_all = found.parsed("servedByAll", versions(pb.served_by_all));
        let conditions = found.parsed("conditions", list(pb.conditions, Condition::try_from));
        let (
            Some(common),
            Some(selected),
            Some(agreed),
            Some(decodable_by_all),
            Some(served_by_all),
            Some(conditions),
        ) = (
            common,
            selected,
            agreed,
            decodable_by_all,
            served_by_all,
            conditions,
        )
        else {
            return Err(found);
        };
        Ok(Self {
            common,
            selected,
            selected_revision: Revision::new(pb.selected_revision),
            agreement_revision: Revision::new(pb.agreement_revision),
            agreed,
            decodable_by_all,
            served_by_all,
            conditions,
        })
    }
}

/// The name of an object, and its metadata without it.
pub(crate) fn named(pb: Option<v1::Metadata>) -> Result<(String, Metadata), Violations> {
    let pb = required(pb)?;
    let metadata = Metadata::try_from(&pb)?;
    Ok((pb.name, metadata))
}

/// The resource in a field that every replica sets.
pub(crate) fn resource(pb: Option<v1::GroupResource>) -> Result<GroupResource, Violations> {
    GroupResource::try_from(required(pb)?)
}
