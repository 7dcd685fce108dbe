use synod_model::{
    Epoch, LiveMark, LiveMarks, MarkTie, Marker, MemberId, ObjectKey, Revision, Ttl, Uid,
    Violation, Violations,
};

use crate::fields::{list, required, sound};
use crate::v1;

impl From<&MarkTie> for v1::MarkTie {
    fn from(tie: &MarkTie) -> Self {
        use v1::mark_tie::To;
        let to = match tie {
            MarkTie::Renewals(ttl) => To::TtlMs(ttl.as_millis()),
            MarkTie::Member(member, epoch) => To::Member(v1::MemberEpoch {
                member: member.to_string(),
                epoch: epoch.get(),
                cluster_id: String::new(),
            }),
            MarkTie::Object(key, uid) => To::Object(v1::TiedObject {
                key: Some(key.into()),
                uid: uid.to_string(),
            }),
        };
        Self { to: Some(to) }
    }
}

impl TryFrom<v1::MarkTie> for MarkTie {
    type Error = Violations;

    fn try_from(pb: v1::MarkTie) -> Result<Self, Violations> {
        use v1::mark_tie::To;
        let mut found = Violations::new();
        let tie = match pb.to {
            None => Some(Self::DEFAULT),
            Some(To::TtlMs(ttl)) => found
                .parsed("ttlMs", Ttl::from_millis(ttl))
                .map(Self::Renewals),
            Some(To::Member(who)) => {
                let member = found.parsed("member.member", MemberId::parse(&who.member));
                let epoch = Epoch::new(Revision::new(who.epoch));
                found.parsed("member.epoch", epoch.check());
                member.map(|member| Self::Member(member, epoch))
            }
            Some(To::Object(object)) => {
                let key = required(object.key, "must name an object")
                    .map_err(Violations::from)
                    .and_then(ObjectKey::try_from);
                let key = found.parsed("object.key", key);
                let uid = found.parsed("object.uid", Uid::parse(&object.uid));
                key.zip(uid).map(|(key, uid)| Self::Object(key, uid))
            }
        };
        match tie {
            Some(tie) => sound(tie, found),
            None => Err(found),
        }
    }
}

pub(super) fn marks_to_wire(marks: &LiveMarks) -> Vec<v1::LiveMark> {
    let marks = marks.iter().map(|(mark, tie)| {
        let (kind, marker) = match mark {
            LiveMark::Current => (v1::LiveMarkKind::Current, String::new()),
            LiveMark::Update => (v1::LiveMarkKind::Update, String::new()),
            LiveMark::InUse(marker) => (v1::LiveMarkKind::InUse, marker.to_string()),
        };
        v1::LiveMark {
            kind: kind.into(),
            marker,
            tie: Some(tie.into()),
        }
    });
    marks.collect()
}

pub(super) fn marks_from_wire(marks: Vec<v1::LiveMark>) -> Result<LiveMarks, Violations> {
    let marks: Vec<_> = list(marks, mark_from_wire)?;
    Ok(marks.into_iter().collect())
}

fn mark_from_wire(pb: v1::LiveMark) -> Result<(LiveMark, MarkTie), Violations> {
    let mut found = Violations::new();
    let mark = match pb.kind() {
        v1::LiveMarkKind::Current => Some(LiveMark::Current),
        v1::LiveMarkKind::Update => Some(LiveMark::Update),
        v1::LiveMarkKind::InUse => found
            .parsed("marker", Marker::parse(&pb.marker))
            .map(LiveMark::InUse),
        v1::LiveMarkKind::Unspecified => {
            let rule = "must be a mark that is known here";
            found.push(Violation::required(rule).at("kind"));
            None
        }
    };
    let tie = found.parsed("tie", MarkTie::try_from(pb.tie.unwrap_or_default()));
    match mark.zip(tie) {
        Some(tied) => sound(tied, found),
        None => Err(found),
    }
}
