//! Checks of the agreement: whether the members agree, and what prevents it.

use synod_model::{
    Absent, ApiVersion, GroupResource, MemberId, ResourceScope, Revision, StorageVersionHash,
    Violations,
};

use synod_proto::wire::{self, Wire};
use synod_proto::{messages, v1};

use super::storage_state::unless_empty;
use super::{Assumed, Header};

/// Whether the members agree, at one revision, and what this assumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// Whether there is no obstacle. The answer may rest on [`Agreement::assumptions`].
    pub agreed: bool,
    /// The obstacles that concern the whole cluster.
    pub obstacles: Vec<Obstacle>,
    /// The resources in question: first those without an agreement.
    pub resources: Vec<ResourceAgreement>,
    /// How many more obstacles and resources there are than the answer names.
    pub omitted: u32,
    /// The resources that do not count: of which only what was known before has stayed.
    pub left_over: Vec<GroupResource>,
    /// How many more there are.
    pub left_over_omitted: u32,
    /// The assumptions of a positive answer, listed also if it is negative. A caller that acts on the answer must ensure them.
    pub assumptions: Vec<Assumed>,
}

impl Agreement {
    /// Returns whether there is no obstacle, and no assumption that somebody has to vouch for.
    #[must_use]
    pub fn is_agreed_for_sure(&self) -> bool {
        let mut assumptions = self.assumptions.iter();
        self.agreed && !assumptions.any(|it| it.reason.needs_vouching())
    }
}

/// Whether the members agree on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceAgreement {
    /// The resource.
    pub resource: GroupResource,
    /// Whether there is no obstacle.
    pub agreed: bool,
    /// The version that the members agree on; `None` also if discovery alone shows the encoding.
    pub agreed_version: Option<ApiVersion>,
    /// The encoding that discovery shows while no member reports the resource.
    pub agreed_hash: Option<StorageVersionHash>,
    /// Every obstacle.
    pub obstacles: Vec<Obstacle>,
}

/// An obstacle to an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The kind of obstacle.
    pub reason: ObstacleReason,
    /// The same in words, for people.
    pub message: String,
    /// The members that it concerns, up to a limit of the answer.
    pub groups: Vec<ObstacleGroup>,
    /// How many more members it concerns.
    pub omitted: u32,
    /// The encodings that it concerns, as discovery shows them.
    pub hashes: Vec<StorageVersionHash>,
    /// Whether the observation that contradicts the members has expired.
    pub expired: bool,
    /// The scope of the roster that it concerns.
    pub scope: Option<ResourceScope>,
    /// The known resource whose name is most similar to that of an unknown one.
    pub nearest: Option<GroupResource>,
    /// The selected version that the members do not encode.
    pub selected_version: Option<ApiVersion>,
    /// The revision that selected it; zero if there is none.
    pub selected_revision: Revision,
    /// The members that are missing by the roster.
    pub absent: Absent,
}

/// Members that an obstacle concerns in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObstacleGroup {
    /// The version that they encode or vote for, where the obstacle has versions.
    pub version: Option<ApiVersion>,
    /// The members, by id.
    pub members: Vec<MemberId>,
}

messages! {
    v1::StorageVersionsCheckAgreementResponse = Agreement {
        header = header,
        agreed = agreed,
        obstacles = obstacles,
        resources = resources,
        omitted = omitted,
        left_over = left_over,
        left_over_omitted = left_over_omitted,
        assumptions = assumptions,
    }

    v1::ResourceAgreement = ResourceAgreement {
        resource = resource,
        agreed = agreed,
        agreed_version = agreed_version,
        agreed_hash = agreed_hash,
        obstacles = obstacles,
    }

    v1::Obstacle = Obstacle {
        reason = reason,
        message = message,
        groups = groups,
        omitted = omitted,
        hashes = hashes,
        expired = expired,
        scope = scope,
        nearest = nearest,
        selected_version = selected_version,
        selected_revision = selected_revision,
        absent = absent by unless_empty,
    }

    v1::ObstacleGroup = ObstacleGroup {
        version = version,
        members = members,
    }
}

/// Defines the reasons, and converts them in both directions.
macro_rules! reasons {
    ($($(#[doc = $words:literal])* $variant:ident,)*) => {
        /// The cause that prevents an agreement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ObstacleReason {
            $($(#[doc = $words])* $variant,)*
            /// A reason of a later release, by its number: [`Obstacle::message`] says it.
            Other(i32),
        }

        impl Wire<i32> for ObstacleReason {
            fn to_wire(&self) -> i32 {
                match self {
                    $(Self::$variant => v1::ObstacleReason::$variant.into(),)*
                    Self::Other(number) => *number,
                }
            }

            fn of_wire(pb: i32) -> Result<Self, Violations> {
                match v1::ObstacleReason::try_from(pb) {
                    $(Ok(v1::ObstacleReason::$variant) => Ok(Self::$variant),)*
                    Ok(v1::ObstacleReason::Unspecified) => {
                        let names = [$(v1::ObstacleReason::$variant.as_str_name()),*];
                        Err(wire::unknown(pb, &names))
                    }
                    Err(_) => Ok(Self::Other(pb)),
                }
            }
        }
    };
}

reasons! {
    /// Nothing at all is known: no resource is reported, observed, draining or on a roster.
    NothingKnown,
    /// Members have joined and have not reported since. An empty report counts.
    MemberSilent,
    /// A roster asks for resources of a scope, and no such resource is known.
    ScopeUnknown,
    /// The resource was never reported or observed.
    Unknown,
    /// No member reports the resource, and discovery shows nothing of it.
    Unreported,
    /// Members vote, and no version is selected: they encode nothing.
    NothingSelected,
    /// The members do not all encode one version.
    EncodingsDiffer,
    /// Fixed entries encode another version than the selected one.
    FixedElsewhere,
    /// Voters have not adopted the selected version.
    NotAdopted,
    /// The roster asks for members that do not report the resource.
    Absent,
    /// Discovery shows encodings that no member reports.
    Contradicted,
    /// No member reports the resource, and its discovery was not observed for two periods.
    ObservationExpired,
    /// No member reports the resource, and discovery shows several encodings.
    ObservationsDiffer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_a_later_release_is_an_obstacle_with_its_words() {
        let later = v1::Obstacle {
            reason: 4_711,
            message: "a comet is near".to_owned(),
            ..v1::Obstacle::default()
        };
        let obstacle = Obstacle::of_wire(later.clone()).unwrap();
        assert_eq!(obstacle.reason, ObstacleReason::Other(4_711));
        assert_eq!(obstacle.message, "a comet is near");
        assert_eq!(obstacle.to_wire(), later);
        let none = v1::Obstacle::default();
        let faults = Obstacle::of_wire(none).unwrap_err();
        let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(fields, ["reason"]);
    }
}
