use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use synod_model::{
    Collection, ControllerRevision, Current, ErrorKind, Lease, Member, Object, Refusal, Roster,
    Settings, Violation, Violations,
};

use super::v1;
use super::v1::refusal::Current as WireCurrent;
use crate::limits::STATUS_DETAILS_BYTES_MAX;
use crate::v1 as public;

impl From<&Refusal> for v1::Refusal {
    fn from(refusal: &Refusal) -> Self {
        let violations = refusal.violations.iter();
        Self {
            reason: refusal.kind.reason().to_owned(),
            message: refusal.message.clone(),
            violations: violations
                .map(|violation| v1::Violation {
                    field: violation.field.clone(),
                    rule: violation.rule.clone(),
                })
                .collect(),
            metadata: refusal.metadata.clone(),
            current: refusal.current.as_deref().and_then(small_enough),
        }
    }
}

/// A reason that this release does not know becomes `UNKNOWN_OUTCOME`, and an object that it cannot read is left out:
/// the replica that refused may be of the next release.
impl From<v1::Refusal> for Refusal {
    fn from(pb: v1::Refusal) -> Self {
        let kind = ErrorKind::from_reason(&pb.reason).unwrap_or(ErrorKind::UnknownOutcome);
        let mut refusal = Self::new(kind, pb.message);
        let violations = pb.violations.into_iter();
        refusal.violations = violations
            .map(|violation| Violation {
                field: violation.field,
                rule: violation.rule,
            })
            .collect();
        refusal.metadata = pb.metadata;
        refusal.current = pb.current.and_then(read_current).map(Box::new);
        refusal
    }
}

/// Many refusals share a message, and no client is told of an object that is larger than a status may carry.
fn small_enough(current: &Current) -> Option<WireCurrent> {
    Some(match current {
        Current::Settings(settings) => {
            WireCurrent::Settings(public::Settings::from(settings).encode_to_vec().into())
        }
        Current::ControllerRevision(revision) => {
            let bytes = public::ControllerRevision::from(revision).encode_to_vec();
            return (bytes.len() <= STATUS_DETAILS_BYTES_MAX)
                .then(|| WireCurrent::ControllerRevision(bytes.into()));
        }
        Current::Member(member) => {
            WireCurrent::Member(public::Member::from(member).encode_to_vec().into())
        }
        Current::Collection(collection) => WireCurrent::Collection(
            public::Collection::from(&**collection)
                .encode_to_vec()
                .into(),
        ),
        Current::Roster(roster) => {
            let bytes = public::Roster::from(&**roster).encode_to_vec();
            return (bytes.len() <= STATUS_DETAILS_BYTES_MAX)
                .then(|| WireCurrent::Roster(bytes.into()));
        }
        Current::Lease(lease) => {
            WireCurrent::Lease(public::Lease::from(lease).encode_to_vec().into())
        }
        Current::Object(object) if object.content.data.len() > STATUS_DETAILS_BYTES_MAX => {
            return None;
        }
        Current::Object(object) => {
            let bytes = public::Object::from(&**object).encode_to_vec();
            return (bytes.len() <= STATUS_DETAILS_BYTES_MAX)
                .then(|| WireCurrent::Object(bytes.into()));
        }
    })
}

fn read_current(current: WireCurrent) -> Option<Current> {
    match current {
        WireCurrent::Settings(bytes) => {
            read::<public::Settings, Settings>(bytes).map(Current::Settings)
        }
        WireCurrent::Roster(bytes) => {
            read::<public::Roster, Roster>(bytes).map(|roster| Current::Roster(Arc::new(roster)))
        }
        WireCurrent::Lease(bytes) => read::<public::Lease, Lease>(bytes).map(Current::Lease),
        WireCurrent::Member(bytes) => read::<public::Member, Member>(bytes).map(Current::Member),
        WireCurrent::Collection(bytes) => read::<public::Collection, Collection>(bytes)
            .map(|collection| Current::Collection(Arc::new(collection))),
        WireCurrent::Object(bytes) => {
            read::<public::Object, Object>(bytes).map(|object| Current::Object(Arc::new(object)))
        }
        WireCurrent::ControllerRevision(bytes) => {
            read::<public::ControllerRevision, ControllerRevision>(bytes)
                .map(Current::ControllerRevision)
        }
    }
}

fn read<M, T>(bytes: Bytes) -> Option<T>
where
    M: Message + Default,
    T: TryFrom<M, Error = Violations>,
{
    T::try_from(M::decode(bytes).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::samples;

    proptest! {
        #[test]
        fn a_refusal_reaches_another_replica_whole(refusal in samples::refusal()) {
            let sent = v1::Refusal::from(&refusal).encode_to_vec();
            let received = v1::Refusal::decode(sent.as_slice()).unwrap();
            prop_assert_eq!(Refusal::from(received), refusal);
        }
    }

    #[test]
    fn what_a_later_release_says_claims_nothing() {
        let later = v1::Refusal {
            reason: "NOT_YET_INVENTED".to_owned(),
            current: Some(WireCurrent::Member(Bytes::from_static(b"\xff"))),
            ..v1::Refusal::default()
        };
        let refusal = Refusal::from(later);
        assert_eq!(refusal.kind, ErrorKind::UnknownOutcome);
        assert_eq!(refusal.current, None);
    }
}
