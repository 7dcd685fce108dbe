//! Whether a binary may join, and whether a version may go.

use synod_model::{
    ApiVersion, Assumption, GroupResource, LogTime, MemberId, NamespacedName, StorageVersionHash,
    Violation, Violations,
};

use synod_proto::wire::Wire;
use synod_proto::{messages, v1};

use super::Header;

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

messages! {
    v1::StorageVersionsCheckBinaryResponse = Safety {
        header = header,
        dangers = dangers,
        omitted = omitted,
        log_time = log_time_ms,
        assumptions = assumptions,
        ; ..Default::default()
    }
    v1::StorageVersionsCheckDropResponse = Safety {
        header = header,
        dangers = dangers,
        omitted = omitted,
        log_time = log_time_ms,
        assumptions = assumptions,
        ; ..Default::default()
    }
    v1::Assumption = Assumed {
        reason = reason,
        message = message,
        resources = resources,
        omitted = omitted,
    }
}

/// Both directions of dangers: each variant with the fields that it names.
macro_rules! dangers {
    ($($variant:ident $(($($field:ident),+))?;)*) => {
        impl Wire<v1::Danger> for Danger {
            fn to_wire(&self) -> v1::Danger {
                let mut pb = v1::Danger {
                    resource: self.resource.to_wire(),
                    message: self.message.clone(),
                    ..Default::default()
                };
                match &self.reason {
                    $(DangerReason::$variant $(($($field),+))? => {
                        pb.reason = v1::DangerReason::$variant.into();
                        $($(pb.$field = $field.to_wire();)+)?
                    })*
                }
                pb
            }

            fn of_wire(pb: v1::Danger) -> Result<Self, Violations> {
                let reason = match pb.reason() {
                    $(v1::DangerReason::$variant => DangerReason::$variant $(($(
                        Wire::of_wire(pb.$field.clone())
                            .map_err(|faults: Violations| faults.at(stringify!($field)))?
                    ),+))?,)*
                    v1::DangerReason::Unspecified => {
                        let fault = Violation::required("must be a reason that is known here");
                        return Err(fault.at("reason").into());
                    }
                };
                Ok(Self {
                    resource: Wire::of_wire(pb.resource)?,
                    reason,
                    message: pb.message,
                })
            }
        }
    };
}

dangers! {
    NoState;
    PersistedUnknown;
    Persisted(version);
    PersistedHash(hash);
    Selected(version);
    Reported(member, version);
    Voted(member, version);
    Draining(version, until_log_time_ms);
    DrainingHash(hash, until_log_time_ms);
    Observed(hash);
    ObservationExpired;
    Absent(member);
    AbsentMore(count);
    NotDecodable(member, version);
    Snapshot(snapshot, version);
}
