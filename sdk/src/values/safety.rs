//! Whether a binary may join, and whether a version may go.

use synod_model::{
    ApiVersion, Assumption, GroupResource, LogTime, MemberId, Namespace, NamespacedName,
    ObjectName, StorageVersionHash, Violation, Violations,
};
use synod_proto::v1;

use super::storage_version::resource;
use super::wire::list;
use super::{FromWire, Header};

/// Whether something is safe, at one revision, and what that assumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Safety {
    /// Who answered, and at which revision.
    pub header: Header,
    /// Every reason why it is not; none: it is.
    pub dangers: Vec<Danger>,
    /// How many more reasons there are than an answer names.
    pub omitted: u32,
    /// The log time of the state that was read, to hold against the drains.
    pub log_time: LogTime,
    /// What a safe answer assumes, also while it is not safe. Whoever acts on the answer vouches for it.
    pub assumptions: Vec<Assumed>,
}

impl Safety {
    /// Whether nothing speaks against it. It may rest on [`Safety::assumptions`].
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.dangers.is_empty()
    }

    /// Whether nothing speaks against it, and it rests on nothing but what is known.
    #[must_use]
    pub fn is_safe_for_sure(&self) -> bool {
        self.is_safe() && self.assumptions.is_empty()
    }
}

/// What is assumed, and of which resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// What.
    pub reason: Assumption,
    /// The same in words, for people.
    pub message: String,
    /// Of which resources, as many as are named.
    pub resources: Vec<GroupResource>,
    /// Of how many more.
    pub omitted: u32,
}

/// Why something is not safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Danger {
    /// The resource.
    pub resource: GroupResource,
    /// What about it.
    pub reason: DangerReason,
    /// The same in words, for people.
    pub message: String,
}

/// What makes something unsafe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DangerReason {
    /// Nothing is known of the resource's store: nobody ever reported or observed it.
    NoState,
    /// Objects may be stored in versions that nobody can name.
    PersistedUnknown,
    /// Objects may be stored in this version.
    Persisted(ApiVersion),
    /// Objects may be stored in an encoding of which only the hash is known.
    PersistedHash(StorageVersionHash),
    /// Members are instructed to encode this version.
    Selected(ApiVersion),
    /// A member encodes this version.
    Reported(MemberId, ApiVersion),
    /// A member prefers this version, so it may be selected.
    Voted(MemberId, ApiVersion),
    /// Writes in this version may still land until then.
    Draining(ApiVersion, LogTime),
    /// Writes in an encoding that discovery has shown may still land until then.
    DrainingHash(StorageVersionHash, LogTime),
    /// A server shows this encoding in discovery.
    Observed(StorageVersionHash),
    /// Nobody has looked at the resource's discovery for two periods.
    ObservationExpired,
    /// The roster asks for this member, which does not speak for the resource.
    Absent(MemberId),
    /// The roster asks for so many more.
    AbsentMore(u32),
    /// The binary would encode or vote for this version, which this member does not decode.
    NotDecodable(MemberId, ApiVersion),
    /// This ControllerRevision, which never changes, is in this version.
    Snapshot(NamespacedName, ApiVersion),
}

macro_rules! safety_from {
    ($($answer:ident),+ $(,)?) => {
        $(impl FromWire<v1::$answer> for Safety {
            fn from_wire(pb: v1::$answer) -> Result<Self, Violations> {
                Ok(Self {
                    header: Header::from_wire(pb.header)?,
                    dangers: list(pb.dangers, Danger::from_wire)?,
                    omitted: pb.omitted,
                    log_time: LogTime::from_millis(pb.log_time_ms),
                    assumptions: list(pb.assumptions, Assumed::from_wire)?,
                })
            }
        })+
    };
}

safety_from!(
    StorageVersionsCheckBinaryResponse,
    StorageVersionsCheckDropResponse,
);

impl FromWire<v1::Assumption> for Assumed {
    fn from_wire(pb: v1::Assumption) -> Result<Self, Violations> {
        let Some(reason) = Option::<Assumption>::from(pb.reason()) else {
            let fault = Violation::required("must be a reason that is known here");
            return Err(fault.at("reason").into());
        };
        Ok(Self {
            reason,
            message: pb.message,
            resources: list(pb.resources, GroupResource::try_from)?,
            omitted: pb.omitted,
        })
    }
}

impl FromWire<v1::Danger> for Danger {
    fn from_wire(pb: v1::Danger) -> Result<Self, Violations> {
        Ok(Self {
            resource: resource(pb.resource.clone())?,
            reason: reason(&pb)?,
            message: pb.message,
        })
    }
}

fn reason(pb: &v1::Danger) -> Result<DangerReason, Violations> {
    use v1::DangerReason as Pb;
    let version = || ApiVersion::parse(&pb.version).map_err(|fault| fault.at("version"));
    let hash = || StorageVersionHash::parse(&pb.hash).map_err(|fault| fault.at("hash"));
    let member = || MemberId::parse(&pb.member).map_err(|fault| fault.at("member"));
    let snapshot = || named(&pb.snapshot).map_err(|fault| fault.at("snapshot"));
    let until = LogTime::from_millis(pb.until_log_time_ms);
    Ok(match pb.reason() {
        Pb::NoState => DangerReason::NoState,
        Pb::PersistedUnknown => DangerReason::PersistedUnknown,
        Pb::Persisted => DangerReason::Persisted(version()?),
        Pb::PersistedHash => DangerReason::PersistedHash(hash()?),
        Pb::Selected => DangerReason::Selected(version()?),
        Pb::Reported => DangerReason::Reported(member()?, version()?),
        Pb::Voted => DangerReason::Voted(member()?, version()?),
        Pb::Draining => DangerReason::Draining(version()?, until),
        Pb::DrainingHash => DangerReason::DrainingHash(hash()?, until),
        Pb::Observed => DangerReason::Observed(hash()?),
        Pb::ObservationExpired => DangerReason::ObservationExpired,
        Pb::Absent => DangerReason::Absent(member()?),
        Pb::AbsentMore => DangerReason::AbsentMore(pb.count),
        Pb::NotDecodable => DangerReason::NotDecodable(member()?, version()?),
        Pb::Snapshot => DangerReason::Snapshot(snapshot()?, version()?),
        Pb::Unspecified => {
            let fault = Violation::required("must be a reason that is known here");
            return Err(fault.at("reason").into());
        }
    })
}

/// The name `<namespace>/<name>`.
fn named(text: &str) -> Result<NamespacedName, Violation> {
    let (namespace, name) = text.split_once('/').unwrap_or(("", text));
    let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
    let namespace = namespace.map(Namespace::parse).transpose()?;
    Ok(NamespacedName::new(
        namespace.as_ref(),
        &ObjectName::parse(name)?,
    ))
}
