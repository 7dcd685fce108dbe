use std::time::Duration;

use synod_model::{Revision, Violation, Violations};

use crate::limits::STALENESS_MS_MAX;
use crate::v1;
use crate::wire::{Wire, sound};

/// How fresh or how exact the answer to a read must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// The answer contains every change that was acknowledged before the read was asked for.
    #[default]
    Linearizable,
    /// The answer is the state at exactly this revision.
    AtRevision(Revision),
    /// The answer is the replica's own state, if that is new enough: the leader need not be asked.
    Relaxed {
        /// The lowest revision that the answer may have (read your writes). Zero: any.
        min_revision: Revision,
        /// The longest time since the state was confirmed to be current. `None`: any.
        max_staleness: Option<Duration>,
    },
}

impl Wire<Option<v1::ReadOptions>> for Consistency {
    fn to_wire(&self) -> Option<v1::ReadOptions> {
        Some(match *self {
            Self::Linearizable => v1::ReadOptions::default(),
            Self::AtRevision(revision) => v1::ReadOptions {
                at_revision: Some(revision.get()),
                ..Default::default()
            },
            Self::Relaxed {
                min_revision,
                max_staleness,
            } => v1::ReadOptions {
                at_revision: None,
                min_revision: Some(min_revision.get()),
                max_staleness_ms: max_staleness.to_wire(),
            },
        })
    }

    fn of_wire(pb: Option<v1::ReadOptions>) -> Result<Self, Violations> {
        let pb = pb.unwrap_or_default();
        let mut found = Violations::new();
        if let Some(ms) = pb.max_staleness_ms
            && !(1..=STALENESS_MS_MAX).contains(&ms)
        {
            let rule = format_args!("must be between 1 and {STALENESS_MS_MAX} milliseconds");
            found.push(Violation::invalid_number(ms, rule).at("maxStalenessMs"));
        }
        let max_staleness = pb.max_staleness_ms.map(Duration::from_millis);
        let consistency = match (pb.at_revision, pb.min_revision, max_staleness) {
            (None, None, None) => Self::Linearizable,
            (None, min_revision, max_staleness) => Self::Relaxed {
                min_revision: Revision::new(min_revision.unwrap_or_default()),
                max_staleness,
            },
            (Some(revision), min_revision, max_staleness) => {
                if min_revision.is_some() || max_staleness.is_some() {
                    let rule = "must stand without minRevision and maxStalenessMs";
                    found.push(Violation::invalid_number(revision, rule).at("atRevision"));
                } else if revision == 0 {
                    found.push(Violation::invalid_number(0, "must be at least 1").at("atRevision"));
                }
                Self::AtRevision(Revision::new(revision))
            }
        };
        sound(consistency, found)
    }
}
