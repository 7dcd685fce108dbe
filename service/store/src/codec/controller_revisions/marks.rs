//! Marks of snapshots, and what they go with.

use synod_model::{LiveMark, LiveMarks, MarkTie, NamespacedName, Ttl};
use synod_proto::storage::v1 as pb;

use super::values::{key_from_pb, key_to_pb, marker};
use crate::codec::CodecError;
use crate::codec::objects;
use crate::codec::values::{epoch, member_id, parsed, required, uid};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn tie_to_pb(tie: &MarkTie) -> pb::MarkTie {
    use pb::mark_tie::To;
    let to = match tie {
        MarkTie::Renewals(ttl) => To::TtlMs(ttl.as_millis()),
        MarkTie::Member(id, epoch) => To::Member(pb::MemberEpoch {
            member: id.to_string(),
            epoch: epoch.get(),
        }),
        MarkTie::Object(key, uid) => To::Object(pb::TiedObject {
            key: Some(objects::key_to_pb(key)),
            uid: uid.as_bytes().to_vec().into(),
        }),
    };
    pb::MarkTie { to: Some(to) }
}

pub(super) fn tie_from_pb(tie: Option<pb::MarkTie>) -> Result<MarkTie> {
    use pb::mark_tie::To;
    let tie = required("tie", tie)?;
    Ok(match required("tie.to", tie.to)? {
        To::TtlMs(ttl) => MarkTie::Renewals(parsed("tie.ttl_ms", Ttl::from_millis(ttl))?),
        To::Member(who) => {
            let member = member_id("tie.member", &who.member)?;
            MarkTie::Member(member, epoch(who.epoch))
        }
        To::Object(object) => {
            let key = objects::key_from_pb(object.key).map_err(|fault| fault.within("tie"))?;
            MarkTie::Object(key, uid("tie.uid", &object.uid)?)
        }
    })
}

pub(super) fn marks_to_pb(marks: &LiveMarks) -> Vec<pb::TiedMark> {
    let marks = marks.iter().map(|(mark, tie)| pb::TiedMark {
        mark: Some(mark_to_pb(mark)),
        tie: Some(tie_to_pb(tie)),
    });
    marks.collect()
}

pub(super) fn marks_from_pb(marks: Vec<pb::TiedMark>) -> Result<LiveMarks> {
    let marks = marks
        .into_iter()
        .map(|tied| Ok((mark_from_pb(tied.mark)?, tie_from_pb(tied.tie)?)));
    marks.collect()
}

pub(in crate::codec) fn renewed_to_pb(key: &NamespacedName, mark: &LiveMark) -> pb::RenewedMark {
    let (namespace, name) = key_to_pb(key);
    pb::RenewedMark {
        namespace,
        name,
        mark: Some(mark_to_pb(mark)),
    }
}

pub(in crate::codec) fn renewed_from_pb(
    renewed: pb::RenewedMark,
) -> Result<(NamespacedName, LiveMark)> {
    let key = key_from_pb(&renewed.namespace, &renewed.name)?;
    Ok((key, mark_from_pb(renewed.mark)?))
}

fn mark_to_pb(mark: &LiveMark) -> pb::LiveMark {
    let (kind, marker) = match mark {
        LiveMark::Current => (pb::LiveMarkKind::Current, String::new()),
        LiveMark::Update => (pb::LiveMarkKind::Update, String::new()),
        LiveMark::InUse(marker) => (pb::LiveMarkKind::InUse, marker.to_string()),
    };
    pb::LiveMark {
        kind: kind.into(),
        marker,
    }
}

fn mark_from_pb(mark: Option<pb::LiveMark>) -> Result<LiveMark> {
    let mark = required("mark", mark)?;
    match mark.kind() {
        pb::LiveMarkKind::Current => Ok(LiveMark::Current),
        pb::LiveMarkKind::Update => Ok(LiveMark::Update),
        pb::LiveMarkKind::InUse => Ok(LiveMark::InUse(marker(&mark.marker)?)),
        pb::LiveMarkKind::Unspecified => {
            Err(CodecError::new("mark.kind", "this build does not know it"))
        }
    }
}
