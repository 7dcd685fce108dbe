//! The storage state: what is kept of a resource when its last entry is removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use synod_model::{
    Absent, ApiVersion, ClaimToken, Epoch, GroupResource, Kind, LogTime, MemberId, Metadata,
    ObservedServer, ObserverName, Persisted, Revision, ServerLook, StorageVersionHash, Violations,
    WallTime,
};

use synod_proto::wire::Wire;
use synod_proto::{messages, v1};

/// What is known of the stored objects of a resource, even if no member reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageState {
    /// Its name: `<resource>.<group>`, for the core group `<resource>`.
    pub name: String,
    /// Uid, revisions and times.
    pub metadata: Metadata,
    /// The resource.
    pub resource: GroupResource,
    /// The version in which voters are to encode. It stays set when all members are lost.
    pub selected: Option<ApiVersion>,
    /// The revision at which `selected` last changed; zero before it was first set.
    pub selected_revision: Revision,
    /// The revision at which the common or the selected version last changed.
    pub agreement_revision: Revision,
    /// The version that is agreed on. `None`: there is no agreement, so it is not known.
    pub current: Option<ApiVersion>,
    /// The one version in which all entries encode. `None` if they differ, and while no member reports the resource.
    pub common: Option<ApiVersion>,
    /// The hashes that discovery shows. While no member reports the resource, only a single hash is an agreement.
    pub observed: Vec<StorageVersionHash>,
    /// The kind, if an observer has given it.
    pub observed_kind: Option<Kind>,
    /// Whether discovery was not observed for two periods, so that the last observation tells nothing of the present.
    pub observation_expired: bool,
    /// Whether discovery shows, or last showed, an encoding that no member says it uses.
    pub contradicted: bool,
    /// The hash that is agreed on while no member reports the resource.
    pub current_hash: Option<StorageVersionHash>,
    /// The members that the roster of the resource requires and that are missing.
    pub absent: Absent,
    /// The revision since which `persisted` is on trust: a writer that no roster required may have written the resource
    /// in any version. A migration that was created since, and ends under a roster, makes it `None`.
    pub on_trust_since: Option<Revision>,
    /// The versions in which objects may be stored.
    pub persisted: Vec<Persisted>,
    /// The encodings in which writes may still land. A drain that is over may still be listed.
    pub drains: Vec<Drain>,
    /// Of a served version: the latest time that a member has named before which nobody may withdraw it. It stays when the
    /// member goes.
    pub serve_until: Option<WallTime>,
    /// The same in log time, which alone decides.
    pub serve_until_log_time: Option<LogTime>,
    /// The versions that were ever decodable, encoded, selected or stored; the newest 256.
    pub known_versions: Vec<ApiVersion>,
    /// The hashes that discovery has ever shown; the newest 256.
    pub known_hashes: Vec<StorageVersionHash>,
    /// The revision since which what is stored rests on the assumption `ConcludedBefore`.
    pub concluded_before: Option<Revision>,
    /// The evicted members of which somebody said that they have stopped, and that no migration has made irrelevant since.
    pub said_stopped: Vec<MemberId>,
    /// Members of the roster that came back after a short absence, and that no migration has made irrelevant since. Since 0.1.
    pub short_absences: Vec<ShortAbsence>,
    /// Members without a gate that expired or were evicted and have not come back. Since 0.1.
    pub ungated_gone: Vec<UngatedMember>,
    /// Whether there were more of these. Since 0.1.
    pub more_ungated_gone: bool,
    /// Whether objects were ever stored outside of this cluster. Since 0.1.
    pub stored_outside: bool,
    /// The looks of named observers. `observed` is what all looks show together. Since 0.1.
    pub looks: Vec<ObserverLook>,
    /// The other names of the same store, if the resource is the first of several equivalent ones. Since 0.1.
    pub equivalents: BTreeSet<GroupResource>,
}

/// The look of a named observer at discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserverLook {
    /// The observer.
    pub observer: ObserverName,
    /// The encodings that each server shows, or showed when it was last reached.
    pub servers: BTreeMap<ObservedServer, ServerLook>,
    /// The kind, if the observer has given it.
    pub kind: Option<Kind>,
    /// Whether not all of these servers were reached for two periods, so that the look tells nothing of the present.
    pub expired: bool,
}

/// The short absence of a member that came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortAbsence {
    /// The member.
    pub member: MemberId,
    /// How long nobody had renewed its membership when it came back, in log time.
    pub away: Duration,
    /// The log time at which it came back.
    pub returned: LogTime,
}

/// A member without a gate that went without saying so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UngatedMember {
    /// The member.
    pub member: MemberId,
    /// Its last epoch.
    pub epoch: Epoch,
}

/// A drain: writes in an encoding that may still land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drain {
    /// The encoding.
    pub encoding: Drained,
    /// The log time until which they may land.
    pub until: LogTime,
    /// The claim of the migration worker that may write them, which has ended without success. `None`: a server may write them.
    pub claim: Option<ClaimToken>,
    /// Whether a fenced worker need not wait, since the worker of the claim is fenced, too.
    pub fenced: bool,
}

/// An encoding that drains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drained {
    /// A version.
    Version(ApiVersion),
    /// An encoding that discovery has shown, of which only the hash is known.
    Hash(StorageVersionHash),
    /// Versions that nobody can name.
    Unknown,
}

impl fmt::Display for Drained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => version.fmt(f),
            Self::Hash(hash) => hash.fmt(f),
            Self::Unknown => f.pad("Unknown"),
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
        serve_until = serve_until_ms,
        serve_until_log_time = serve_until_log_time_ms,
        stored_outside = stored_outside,
        equivalents = equivalents,
        known_versions = known_versions,
        known_hashes = known_hashes,
        concluded_before = concluded_before by unless_zero,
        said_stopped = said_stopped,
        short_absences = short_absences,
        ungated_gone = ungated_gone,
        more_ungated_gone = more_ungated_gone,
        looks = looks,
    }
    v1::ObserverLook = ObserverLook {
        observer = observer,
        servers = servers,
        kind = kind,
        expired = expired,
    }
    v1::ShortAbsence = ShortAbsence {
        member = member,
        away = away_ms,
        returned = returned_log_time_ms,
    }
    v1::UngatedMember = UngatedMember {
        member = member,
        epoch = epoch,
    }
}

/// The missing members; left out if there are none.
pub(super) mod unless_empty {
    use super::*;

    pub(in crate::values) fn write(absent: &Absent) -> Option<v1::AbsentMembers> {
        (!absent.is_empty()).then(|| absent.into())
    }

    pub(in crate::values) fn read(pb: Option<v1::AbsentMembers>) -> Result<Absent, Violations> {
        let absent: Option<Absent> = Wire::of_wire(pb)?;
        Ok(absent.unwrap_or_default())
    }
}

/// A revision; zero stands for none.
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
        let drain = match &self.encoding {
            Drained::Version(version) => v1::Drain::of(version, self.until),
            Drained::Hash(hash) => v1::Drain::of_hash(*hash, self.until),
            Drained::Unknown => v1::Drain::of_unknown(self.until),
        };
        v1::Drain {
            claim_token: self.claim.map_or(0, ClaimToken::get),
            fenced: self.fenced,
            ..drain
        }
    }

    fn of_wire(pb: v1::Drain) -> Result<Self, Violations> {
        let encoding = if pb.unknown {
            Drained::Unknown
        } else if pb.hash.is_empty() {
            let version = ApiVersion::parse(&pb.version);
            Drained::Version(version.map_err(|fault| fault.at("version"))?)
        } else {
            let hash = StorageVersionHash::parse(&pb.hash);
            Drained::Hash(hash.map_err(|fault| fault.at("hash"))?)
        };
        let token = (pb.claim_token > 0).then(|| ClaimToken::new(Revision::new(pb.claim_token)));
        Ok(Self {
            encoding,
            until: LogTime::from_millis(pb.until_log_time_ms),
            claim: token,
            fenced: pb.fenced,
        })
    }
}
