//! The reasons why an action is not safe, and their texts.

use std::fmt;

use synod_model::{
    ApiVersion, GroupResource, LogTime, MemberId, NamespacedName, ResourceScope, StorageVersionHash,
};

/// A reason why an action is not safe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Nothing is known of the resource's store: it was never reported or observed. The known resource with the most similar name
    /// is named if one is similar.
    NoState(Option<GroupResource>),
    /// Nobody ever reported, observed or stored this version of the resource. The known ones are named, the most similar first.
    VersionUnknown(ApiVersion, Vec<ApiVersion>),
    /// Objects may be stored in unknown versions.
    PersistedUnknown,
    /// Objects may be stored in this version.
    Persisted(ApiVersion),
    /// Objects may be stored in an encoding of which only the hash is known, and the version may be this one.
    PersistedHash(StorageVersionHash),
    /// Members are instructed to encode this version.
    Selected(ApiVersion),
    /// A member encodes this version.
    Reported(MemberId, ApiVersion),
    /// A member prefers this version, so it may be selected.
    Voted(MemberId, ApiVersion),
    /// Writes in this version may arrive until this log time.
    Draining(ApiVersion, LogTime),
    /// Writes in an encoding that discovery has shown may arrive until this log time, and the version may be this one.
    DrainingHash(StorageVersionHash, LogTime),
    /// Writes in versions that nobody can name may arrive until this log time.
    DrainingUnknown(LogTime),
    /// A server shows this encoding in discovery, and the version may be this one.
    Observed(StorageVersionHash),
    /// This encoding is stored, may still be written or is shown in discovery, and has the hash of no known kind and version: it
    /// may be any version.
    UnreadableHash(StorageVersionHash),
    /// A server shows an encoding in discovery that no member reports.
    Contradicted,
    /// The observation of the resource's discovery has expired, so what its servers show now is unknown.
    ObservationOver,
    /// The roster asks for this member, which has no entry for the resource.
    Absent(MemberId),
    /// The roster asks for this many more members.
    AbsentMore(u32),
    /// The binary would encode or prefer this version, which this member does not decode.
    NotDecodableBy(MemberId, ApiVersion),
    /// This ControllerRevision, which never changes, is in this version.
    Snapshot(NamespacedName, ApiVersion),
    /// So many members have joined and have not reported, of which this one is the first by id: what they encode and decode is
    /// unknown.
    MemberSilent(MemberId, u32),
    /// A roster asks for resources of this scope, and no such resource is known.
    ScopeUnknown(ResourceScope),
}

impl fmt::Display for Why {
    /// The reason in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoState(None) => {
                f.write_str("nothing is known of its store: nobody ever reported or observed it")
            }
            Self::NoState(Some(nearest)) => write!(
                f,
                "nothing is known of its store: nobody ever reported or observed it; the nearest resource that is known is \
                 {}",
                nearest.qualified()
            ),
            Self::VersionUnknown(version, known) if known.is_empty() => {
                write!(
                    f,
                    "nobody ever reported, observed or stored {version} of it, nor another version"
                )
            }
            Self::VersionUnknown(version, known) => {
                let known: Vec<&str> = known.iter().map(ApiVersion::as_str).collect();
                write!(
                    f,
                    "nobody ever reported, observed or stored {version} of it: known are {}",
                    known.join(", ")
                )
            }
            Self::PersistedUnknown => {
                f.write_str("objects may be stored in versions that nobody can name")
            }
            Self::Persisted(version) => write!(f, "objects may be stored in {version}"),
            Self::PersistedHash(hash) => write!(f, "objects may be stored in the encoding {hash}"),
            Self::Selected(version) => write!(f, "members are instructed to encode {version}"),
            Self::Reported(member, version) => write!(f, "{member} encodes {version}"),
            Self::Voted(member, version) => write!(f, "{member} votes for {version}"),
            Self::Draining(version, _) => write!(f, "writes in {version} may still land"),
            Self::DrainingHash(hash, _) => {
                write!(f, "writes in the encoding {hash} may still land")
            }
            Self::DrainingUnknown(_) => {
                f.write_str("writes in versions that nobody can name may still land")
            }
            Self::Observed(hash) => write!(f, "a server shows the encoding {hash} in discovery"),
            Self::UnreadableHash(hash) => write!(
                f,
                "the encoding {hash} may be any version: no known kind and version explains it"
            ),
            Self::Contradicted => {
                f.write_str("a server shows an encoding in discovery that no member reports")
            }
            Self::ObservationOver => {
                f.write_str("nobody has looked at its discovery for two periods")
            }
            Self::Absent(member) => write!(
                f,
                "the roster asks for {member}, which does not speak for it"
            ),
            Self::AbsentMore(count) => write!(f, "the roster asks for {count} more"),
            Self::NotDecodableBy(member, version) => {
                write!(f, "{member} does not decode {version}")
            }
            Self::Snapshot(key, version) => write!(f, "ControllerRevision {key} is in {version}"),
            Self::MemberSilent(member, count) => f.write_str(&silence(member, *count)),
            Self::ScopeUnknown(scope) => write!(
                f,
                "a roster asks for {}, and no such resource is known",
                scope.qualified()
            ),
        }
    }
}

/// The sentence that so many members have not reported, of which this one is the first.
fn silence(member: &MemberId, count: u32) -> String {
    match count.saturating_sub(1) {
        0 => format!("{member} has joined and has not reported"),
        more => format!("{member} and {more} more have joined and have not reported"),
    }
}
