//! What a safe answer or a success rests on beside what is known.

/// What an answer rests on beside what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// No roster says who must speak for the resource.
    NoRoster,
    /// ControllerRevisions that may be of the resource's kind do not say in which version their data is.
    SnapshotVersionUnknown,
    /// The resource was left to other binaries though something of it is stored.
    LeftToOthers,
}

impl Assumption {
    /// Its name, as programs read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoRoster => "no-roster",
            Self::SnapshotVersionUnknown => "snapshot-version-unknown",
            Self::LeftToOthers => "left-to-others",
        }
    }

    /// What is assumed, in words; `observed`: somebody looks at the discovery of such a resource now.
    pub const fn sentence(self, observed: bool) -> &'static str {
        match (self, observed) {
            (Self::NoRoster, false) => {
                "no roster says who must speak, or nothing was migrated since one does, so it is assumed that nobody else \
                 writes than those who take part"
            }
            (Self::NoRoster, true) => {
                "no roster says who must speak, or nothing was migrated since one does, so it is assumed that nobody else \
                 writes than those who take part or are observed"
            }
            (Self::SnapshotVersionUnknown, _) => {
                "ControllerRevisions that may be of its kind do not say in which version their data is, so it is assumed \
                 that it is in none that would no longer be decoded"
            }
            (Self::LeftToOthers, _) => {
                "it was left to other binaries and not looked at, so it is assumed that they decode what is stored of it"
            }
        }
    }
}
