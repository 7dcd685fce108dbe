//! Assumptions: what the answer "safe" or the success of a migration rests on that the cluster cannot know.

/// An assumption that an answer rests on, since the cluster cannot know whether it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// No roster says which members must have an entry for the resource, or no migration was created and completed
    /// under one since.
    NoRoster,
    /// ControllerRevisions that may be of the resource's kind do not say in which version their data is.
    SnapshotVersionUnknown,
    /// The binary leaves the resource to other binaries, and objects of the resource may be stored.
    LeftToOthers,
    /// The resource was migrated before machine version 3, whose rules count what workers and evicted members may still write.
    ConcludedBefore,
    /// Somebody said that the process of an evicted member has stopped.
    SaidStopped,
    /// The roster cannot notice a server that never joins.
    RosterMayMiss,
    /// A member came back after a short absence, in which it may have run without a membership.
    ShortAbsence,
    /// A member without a gate expired or was evicted, and has not come back.
    UngatedGone,
    /// An assumption that only a later release names, by its number on the wire. No replica of this release makes it.
    Other(u32),
}

impl Assumption {
    /// The name of the assumption, for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoRoster => "no-roster",
            Self::SnapshotVersionUnknown => "snapshot-version-unknown",
            Self::LeftToOthers => "left-to-others",
            Self::ConcludedBefore => "concluded-before",
            Self::SaidStopped => "said-stopped",
            Self::RosterMayMiss => "roster-may-miss",
            Self::ShortAbsence => "short-absence",
            Self::UngatedGone => "ungated-gone",
            Self::Other(_) => "other",
        }
    }

    /// Whether an answer that rests on it is no plain yes before somebody vouches for it. A short absence is only told.
    pub const fn needs_vouching(self) -> bool {
        !matches!(self, Self::ShortAbsence)
    }

    /// The assumption as a sentence. `observed`: an observer looks at the discovery of such a resource now.
    pub const fn sentence(self, observed: bool) -> &'static str {
        match (self, observed) {
            (Self::NoRoster, false) => {
                "no roster says which members must report, or no migration was created and completed under one; \
                 assumed: only reporting members write the resource"
            }
            (Self::NoRoster, true) => {
                "no roster says which members must report, or no migration was created and completed under one; \
                 assumed: only reporting members and observed servers write the resource"
            }
            (Self::SnapshotVersionUnknown, _) => {
                "ControllerRevisions that may be of its kind do not say in which version their data is, so it is assumed \
                 that it is in none that would no longer be decoded"
            }
            (Self::LeftToOthers, _) => {
                "this binary leaves the resource to other binaries and it was not checked; assumed: they decode its \
                 stored objects"
            }
            (Self::ConcludedBefore, _) => {
                "it was last migrated by replicas that did not count what a worker may write after it has lost its claim; \
                 assumed: no such write has landed. The next migration makes an end of this: \
                 `synod migrations start`"
            }
            (Self::SaidStopped, _) => {
                "somebody said that the process of an evicted member has stopped; assumed: it had, and it wrote nothing since"
            }
            (Self::RosterMayMiss, _) => {
                "its roster asks by labels, or for more members than it names, so it cannot notice a server that never joins; \
                 assumed: there is none. Whoever knows that says so: `synod rosters set --complete`"
            }
            (Self::ShortAbsence, _) => {
                "a member came back after a short absence; assumed: it did not run without its membership meanwhile. The next \
                 migration that is claimed later makes an end of this"
            }
            (Self::UngatedGone, _) => {
                "a member without a gate expired or was evicted; assumed: its process has stopped. Whoever knows that says so: \
                 `synod members evict --stopped`"
            }
            (Self::Other(_), _) => {
                "a later release names this assumption: upgrade this program to read what it is"
            }
        }
    }
}
