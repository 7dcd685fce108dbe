use synod_model::{AgreementChange, ApiVersion, MemberId, Revision, Violations, WallTime};

use crate::v1;

impl From<&AgreementChange> for v1::AgreementChange {
    fn from(change: &AgreementChange) -> Self {
        Self {
            from_version: change.from.as_ref().map(ToString::to_string),
            to_version: change.to.as_ref().map(ToString::to_string),
            revision: change.revision.get(),
            time_ms: change.at.as_millis(),
            cause_member: change.cause.as_ref().map(ToString::to_string),
        }
    }
}

impl TryFrom<v1::AgreementChange> for AgreementChange {
    type Error = Violations;

    fn try_from(pb: v1::AgreementChange) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let from = found.parsed(
            "fromVersion",
            pb.from_version
                .as_deref()
                .map(ApiVersion::parse)
                .transpose(),
        );
        let to = found.parsed(
            "toVersion",
            pb.to_version.as_deref().map(ApiVersion::parse).transpose(),
        );
        let cause = found.parsed(
            "causeMember",
            pb.cause_member.as_deref().map(MemberId::parse).transpose(),
        );
        let (Some(from), Some(to), Some(cause)) = (from, to, cause) else {
            return Err(found);
        };
        Ok(Self {
            from,
            to,
            revision: Revision::new(pb.revision),
            at: WallTime::from_millis(pb.time_ms),
            cause,
        })
    }
}
