use synod_model::{
    AgreementCause, AgreementChange, ApiVersion, MemberId, Revision, Violations, WallTime,
};

use crate::fields::required;
use crate::v1;

impl From<&AgreementChange> for v1::AgreementChange {
    fn from(change: &AgreementChange) -> Self {
        let cause = match &change.cause {
            None => v1::AgreementCause::Unspecified,
            Some(AgreementCause::Member(_)) => v1::AgreementCause::Member,
            Some(AgreementCause::Observed) => v1::AgreementCause::Observed,
            Some(AgreementCause::Roster) => v1::AgreementCause::Roster,
        };
        let member = change.cause.as_ref().and_then(AgreementCause::member);
        Self {
            from_version: change.from.as_ref().map(ToString::to_string),
            to_version: change.to.as_ref().map(ToString::to_string),
            revision: change.revision.get(),
            time_ms: change.at.as_millis(),
            cause_member: member.map(ToString::to_string),
            cause: cause.into(),
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
        let member = pb.cause_member.as_deref().map(MemberId::parse).transpose();
        let member = found.parsed("causeMember", member).flatten();
        let cause = match pb.cause() {
            v1::AgreementCause::Unspecified => Some(None),
            v1::AgreementCause::Observed => Some(Some(AgreementCause::Observed)),
            v1::AgreementCause::Roster => Some(Some(AgreementCause::Roster)),
            v1::AgreementCause::Member => found
                .parsed("causeMember", required(member, "must name the member"))
                .map(|member| Some(AgreementCause::Member(member))),
        };
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
