//! Safety checks: whether a binary may join, and whether a version may be dropped.

use synod_model::{
    ApiVersion, Assumption, GroupResource, LogTime, MemberId, NamespacedName, ResourceScope,
    StorageVersionHash, Violation, Violations,
};

use synod_proto::wire::Wire;
use synod_proto::{messages, v1};

use super::Header;

/// Whether something is safe, at one revision, and what this assumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Safety {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// Every reason why it is not safe; empty if it is safe.
    pub dangers: Vec<Danger>,
    /// How many more reasons there are than the answer names.
    pub omitted: u32,
    /// The log time of the state that was read, to be compared with the ends of drains.
    pub log_time: LogTime,
    /// What a safe answer assumes, listed also if it is not safe. A caller that acts on the answer must ensure it.
    pub assumptions: Vec<Assumed>,
}

impl Safety {
    /// Whether there is no reason against it. The answer may rest on [`Safety::assumptions`].
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.dangers.is_empty()
    }

    /// Whether there is no reason against it, and no assumption that somebody has to vouch for
    /// ([`Assumption::needs_vouching`]).
    #[must_use]
    pub fn is_safe_for_sure(&self) -> bool {
        let mut assumptions = self.assumptions.iter();
        self.is_safe() && !assumptions.any(|it| it.reason.needs_vouching())
    }
}

/// An assumption, and the resources that it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// The assumption.
    pub reason: Assumption,
    /// The same in words, for people.
    pub message: String,
    /// The resources, up to a limit of the answer.
    pub resources: Vec<GroupResource>,
    /// How many more resources there are.
    pub omitted: u32,
}

/// Why something is not safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Danger {
    /// The resource.
    pub resource: GroupResource,
    /// The reason.
    pub reason: DangerReason,
    /// The same in words, for people.
    pub message: String,
}

/// What makes something unsafe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DangerReason {
    /// The resource's stored versions are not known: no member ever reported it, and it was never observed.
    NoState,
    /// Nobody ever reported, observed or stored this version: [`Danger::message`] names those that are known.
    VersionUnknown(ApiVersion),
    /// Objects may be stored in versions that are not known.
    PersistedUnknown,
    /// Objects may be stored in this version.
    Persisted(ApiVersion),
    /// Objects may be stored in an encoding of which only the hash is known.
    PersistedHash(StorageVersionHash),
    /// Members are instructed to encode in this version.
    Selected(ApiVersion),
    /// A member encodes in this version.
    Reported(MemberId, ApiVersion),
    /// A member prefers this version, so it may be selected.
    Voted(MemberId, ApiVersion),
    /// Writes in this version may still land until this log time.
    Draining(ApiVersion, LogTime),
    /// Writes in an encoding that discovery has shown may still land until this log time.
    DrainingHash(StorageVersionHash, LogTime),
    /// Writes in versions that nobody can name may still land until this log time.
    DrainingUnknown(LogTime),
    /// A server shows this encoding in discovery.
    Observed(StorageVersionHash),
    /// An encoding whose hash matches no known kind and version is stored, draining or shown in discovery: it may be any version.
    UnreadableHash(StorageVersionHash),
    /// A server shows an encoding in discovery that no member reports.
    Contradicted,
    /// The resource's discovery was not observed for two periods.
    ObservationExpired,
    /// The roster requires this member, which does not report the resource.
    Absent(MemberId),
    /// The roster requires this many more members.
    AbsentMore(u32),
    /// The binary would encode in this version or vote for it, and this member does not decode it.
    NotDecodable(MemberId, ApiVersion),
    /// This ControllerRevision, which never changes, is in this version.
    Snapshot(NamespacedName, ApiVersion),
    /// So many members have joined and have not reported, of which this one is the first by id.
    MemberSilent(MemberId, u32),
    /// A roster asks for resources of this scope, and no such resource is known.
    ScopeUnknown(ResourceScope),
    /// A reason of a later release, by its number: [`Danger::message`] says it.
    Other(i32),
}

messages! {
    v1::StorageVersionsCheckBinaryResponse, v1::StorageVersionsCheckDropResponse = Safety {
        header = header,
        dangers = dangers,
        omitted = omitted,
        log_time = log_time_ms,
        assumptions = assumptions,
        ; ..Default::default()
    }
}

messages! {
    v1::Assumption = Assumed {
        reason = reason,
        message = message,
        resources = resources,
        omitted = omitted,
    }
}

/// Converts dangers in both directions: each variant with the fields that it names.
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
                    DangerReason::Other(number) => pb.reason = *number,
                }
                pb
            }

            fn of_wire(pb: v1::Danger) -> Result<Self, Violations> {
                let reason = match pb.reason() {
                    $(v1::DangerReason::$variant => DangerReason::$variant $(($(
                        Wire::of_wire(pb.$field.clone())
                            .map_err(|faults: Violations| faults.at(stringify!($field)))?
                    ),+))?,)*
                    v1::DangerReason::Unspecified if pb.reason != 0 => DangerReason::Other(pb.reason),
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
    VersionUnknown(version);
    PersistedUnknown;
    Persisted(version);
    PersistedHash(hash);
    Selected(version);
    Reported(member, version);
    Voted(member, version);
    Draining(version, until_log_time_ms);
    DrainingHash(hash, until_log_time_ms);
    DrainingUnknown(until_log_time_ms);
    Observed(hash);
    UnreadableHash(hash);
    Contradicted;
    ObservationExpired;
    Absent(member);
    AbsentMore(count);
    NotDecodable(member, version);
    Snapshot(snapshot, version);
    MemberSilent(member, count);
    ScopeUnknown(scope);
}

#[cfg(test)]
mod tests {
    use super::super::{Agreement, UpgradeStatus};
    use super::*;

    #[test]
    fn a_reason_of_a_later_release_is_a_danger_with_its_words() {
        let later = v1::Danger {
            resource: Some(v1::GroupResource {
                group: String::new(),
                resource: "pods".to_owned(),
            }),
            reason: 4_711,
            message: "a comet is near".to_owned(),
            ..v1::Danger::default()
        };
        let danger = Danger::of_wire(later.clone()).unwrap();
        assert_eq!(danger.reason, DangerReason::Other(4_711));
        assert_eq!(danger.message, "a comet is near");
        assert_eq!(danger.to_wire(), later);
    }

    #[test]
    fn an_assumption_of_a_later_release_is_to_be_vouched_for_in_every_answer() {
        let header = Some(v1::ResponseHeader {
            cluster_id: "5a3e9c1e-7d41-8b2a-9f00-4c1d2e3f4a5b".to_owned(),
            replica_id: 1,
            revision: 7,
            ..v1::ResponseHeader::default()
        });
        let assumptions = vec![v1::Assumption {
            reason: 4_711,
            message: "no comet comes".to_owned(),
            ..v1::Assumption::default()
        }];
        let of_drop = Safety::of_wire(v1::StorageVersionsCheckDropResponse {
            header: header.clone(),
            safe: true,
            assumptions: assumptions.clone(),
            ..Default::default()
        });
        let of_binary = Safety::of_wire(v1::StorageVersionsCheckBinaryResponse {
            header: header.clone(),
            safe: true,
            assumptions: assumptions.clone(),
            ..Default::default()
        });
        let agreement = Agreement::of_wire(v1::StorageVersionsCheckAgreementResponse {
            header: header.clone(),
            agreed: true,
            assumptions: assumptions.clone(),
            ..Default::default()
        });
        let upgrade = UpgradeStatus::of_wire(v1::StorageVersionsCheckUpgradeResponse {
            header,
            may_go_on: true,
            assumptions,
            ..Default::default()
        });
        let (of_drop, of_binary) = (of_drop.unwrap(), of_binary.unwrap());
        let (agreement, upgrade) = (agreement.unwrap(), upgrade.unwrap());
        assert!(of_drop.is_safe() && !of_drop.is_safe_for_sure());
        assert!(of_binary.is_safe() && !of_binary.is_safe_for_sure());
        assert!(agreement.agreed && !agreement.is_agreed_for_sure());
        assert!(upgrade.may_go_on && !upgrade.may_go_on_for_sure());
        let all = [
            of_drop.assumptions,
            of_binary.assumptions,
            agreement.assumptions,
            upgrade.assumptions,
        ];
        for assumptions in all {
            assert_eq!(assumptions[0].reason, Assumption::Other(4_711));
            assert_eq!(assumptions[0].message, "no comet comes");
        }
    }
}
