use synod_model::{LiveMark, LiveMarks, MarkTie, Marker, ObjectKey, Uid, Violation, Violations};

use crate::wire::{Wire, sound};
use crate::{read_fields, v1};

impl Wire<v1::MarkTie> for MarkTie {
    fn to_wire(&self) -> v1::MarkTie {
        use v1::mark_tie::To;
        let to = match self {
            Self::Renewals(ttl) => To::TtlMs(ttl.to_wire()),
            Self::Member(member, epoch) => To::Member((member.clone(), *epoch).to_wire()),
            Self::Object(key, uid) => To::Object(v1::TiedObject {
                key: key.to_wire(),
                uid: uid.to_wire(),
            }),
        };
        v1::MarkTie { to: Some(to) }
    }

    fn of_wire(pb: v1::MarkTie) -> Result<Self, Violations> {
        use v1::mark_tie::To;
        let mut found = Violations::new();
        let tie = match pb.to {
            None => Some(Self::DEFAULT),
            Some(To::TtlMs(ttl)) => found
                .parsed("ttlMs", Wire::of_wire(ttl))
                .map(Self::Renewals),
            Some(To::Member(who)) => found
                .parsed("member", Wire::of_wire(who))
                .map(|(member, epoch)| Self::Member(member, epoch)),
            Some(To::Object(object)) => found
                .parsed("object", tied(object))
                .map(|(key, uid)| Self::Object(key, uid)),
        };
        tie.ok_or(found)
    }
}

fn tied(pb: v1::TiedObject) -> Result<(ObjectKey, Uid), Violations> {
    let mut found = Violations::new();
    read_fields! { pb, found; key = key, uid = uid }
    Ok((key, uid))
}

impl Wire<Option<v1::MarkTie>> for MarkTie {
    fn to_wire(&self) -> Option<v1::MarkTie> {
        Some(self.to_wire())
    }

    fn of_wire(pb: Option<v1::MarkTie>) -> Result<Self, Violations> {
        Self::of_wire(pb.unwrap_or_default())
    }
}

impl Wire<Vec<v1::LiveMark>> for LiveMarks {
    fn to_wire(&self) -> Vec<v1::LiveMark> {
        let marks = self.iter().map(|(mark, tie)| {
            let (kind, marker) = match mark {
                LiveMark::Current => (v1::LiveMarkKind::Current, String::new()),
                LiveMark::Update => (v1::LiveMarkKind::Update, String::new()),
                LiveMark::InUse(marker) => (v1::LiveMarkKind::InUse, marker.to_wire()),
            };
            v1::LiveMark {
                kind: kind.into(),
                marker,
                tie: tie.to_wire(),
            }
        });
        marks.collect()
    }

    fn of_wire(pb: Vec<v1::LiveMark>) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let numbered = pb.into_iter().enumerate();
        let marks = numbered.filter_map(|(i, pb)| found.parsed(format_args!("[{i}]"), mark(pb)));
        let marks = marks.collect();
        sound(marks, found)
    }
}

fn mark(pb: v1::LiveMark) -> Result<(LiveMark, MarkTie), Violations> {
    let kind = pb.kind();
    let named = |marker: String| match kind {
        v1::LiveMarkKind::Current => Ok(LiveMark::Current),
        v1::LiveMarkKind::Update => Ok(LiveMark::Update),
        v1::LiveMarkKind::InUse => Marker::of_wire(marker)
            .map(LiveMark::InUse)
            .map_err(|faults| faults.at("marker")),
        v1::LiveMarkKind::Unspecified => {
            let rule = "must be a mark that is known here";
            Err(Violation::required(rule).at("kind").into())
        }
    };
    let mut found = Violations::new();
    let mark = found.parsed("", named(pb.marker));
    let tie = found.parsed("tie", MarkTie::of_wire(pb.tie));
    mark.zip(tie).ok_or(found)
}
