use synod_model::{Assumption, Violations};

use crate::v1::AssumptionReason as Sent;
use crate::wire::{self, Wire};

/// Every assumption that this release knows, with its number on the wire.
const KNOWN: [(Assumption, Sent); 8] = [
    (Assumption::NoRoster, Sent::NoRoster),
    (
        Assumption::SnapshotVersionUnknown,
        Sent::SnapshotVersionUnknown,
    ),
    (Assumption::LeftToOthers, Sent::LeftToOthers),
    (Assumption::ConcludedBefore, Sent::ConcludedBefore),
    (Assumption::SaidStopped, Sent::SaidStopped),
    (Assumption::RosterMayMiss, Sent::RosterMayMiss),
    (Assumption::ShortAbsence, Sent::ShortAbsence),
    (Assumption::UngatedGone, Sent::UngatedGone),
];

impl Wire<i32> for Assumption {
    fn to_wire(&self) -> i32 {
        if let Self::Other(number) = self {
            return i32::try_from(*number).unwrap_or(i32::MAX);
        }
        let known = KNOWN.iter().find(|(known, _)| known == self);
        let (_, sent) = known.expect("the table has every assumption that has a name");
        (*sent).into()
    }

    /// Reads an assumption of a later release as [`Assumption::Other`]: an answer that rests on it never reads as one that
    /// rests on nothing.
    fn of_wire(pb: i32) -> Result<Self, Violations> {
        let known = KNOWN.iter().find(|(_, sent)| i32::from(*sent) == pb);
        if let Some((known, _)) = known {
            return Ok(*known);
        }
        match u32::try_from(pb) {
            Ok(number) if number > 0 => Ok(Self::Other(number)),
            Ok(_) | Err(_) => {
                let names = KNOWN.map(|(_, sent)| sent.as_str_name());
                Err(wire::unknown(pb, &names))
            }
        }
    }
}
