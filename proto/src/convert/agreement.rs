use synod_model::{AgreementCause, AgreementChange, MemberId, Violations};

use crate::wire::{Wire, required};
use crate::{read_fields, v1};

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
            from_version: change.from.to_wire(),
            to_version: change.to.to_wire(),
            revision: change.revision.to_wire(),
            time_ms: change.at.to_wire(),
            cause_member: member.map(ToString::to_string),
            cause: cause.into(),
            caller: change.caller.to_wire(),
        }
    }
}

impl TryFrom<v1::AgreementChange> for AgreementChange {
    type Error = Violations;

    fn try_from(pb: v1::AgreementChange) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let sent = pb.cause();
        read_fields! { pb, found;
            cause = cause_member => cause(sent, pb.cause_member),
            from = from_version,
            to = to_version,
            revision = revision,
            at = time_ms,
            caller = caller,
        }
        Ok(Self {
            from,
            to,
            revision,
            at,
            cause,
            caller,
        })
    }
}

/// What changed the agreement. The member beside a cause that only a later release knows is ignored.
fn cause(
    sent: v1::AgreementCause,
    member: Option<String>,
) -> Result<Option<AgreementCause>, Violations> {
    Ok(match sent {
        v1::AgreementCause::Unspecified => None,
        v1::AgreementCause::Observed => Some(AgreementCause::Observed),
        v1::AgreementCause::Roster => Some(AgreementCause::Roster),
        v1::AgreementCause::Member => {
            let member: MemberId = Wire::of_wire(required(member, "must name the member")?)?;
            Some(AgreementCause::Member(member))
        }
    })
}
