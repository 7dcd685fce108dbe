use synod_model::{Condition, ConditionStatus, Revision, Violation, Violations, WallTime};

use crate::v1;

impl From<&Condition> for v1::Condition {
    fn from(condition: &Condition) -> Self {
        Self {
            r#type: condition.kind.clone(),
            status: v1::ConditionStatus::from(condition.status).into(),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
            observed_generation: condition.observed_generation,
            last_transition_time_ms: condition.transition.as_millis(),
            last_transition_revision: condition.transition_revision.get(),
        }
    }
}

impl TryFrom<v1::Condition> for Condition {
    type Error = Violations;

    fn try_from(pb: v1::Condition) -> Result<Self, Violations> {
        let status = ConditionStatus::try_from(pb.status()).map_err(|fault| fault.at("status"))?;
        Ok(Self {
            kind: pb.r#type,
            status,
            reason: pb.reason,
            message: pb.message,
            observed_generation: pb.observed_generation,
            transition: WallTime::from_millis(pb.last_transition_time_ms),
            transition_revision: Revision::new(pb.last_transition_revision),
        })
    }
}

impl From<ConditionStatus> for v1::ConditionStatus {
    fn from(status: ConditionStatus) -> Self {
        match status {
            ConditionStatus::True => Self::True,
            ConditionStatus::False => Self::False,
            ConditionStatus::Unknown => Self::Unknown,
        }
    }
}

impl TryFrom<v1::ConditionStatus> for ConditionStatus {
    type Error = Violation;

    fn try_from(pb: v1::ConditionStatus) -> Result<Self, Violation> {
        match pb {
            v1::ConditionStatus::True => Ok(Self::True),
            v1::ConditionStatus::False => Ok(Self::False),
            v1::ConditionStatus::Unknown => Ok(Self::Unknown),
            v1::ConditionStatus::Unspecified => {
                Err(Violation::required("must be true, false or unknown"))
            }
        }
    }
}
