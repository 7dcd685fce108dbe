//! How fresh or how exact a read must be.

use std::time::Duration;

use synod_model::Revision;
use synod_proto::v1;
use synod_proto::wire::Wire as _;

/// How fresh or how exact a read must be. By default it is linearizable: on whichever replica, it sees every change
/// that was acknowledged before it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    at_revision: Option<Revision>,
    min_revision: Option<Revision>,
    max_staleness: Option<Duration>,
}

/// The options that every list has: how to read it, and how much of it at a time.
macro_rules! list_options {
    ($list:ident) => {
        impl $list {
            /// How to read.
            #[must_use]
            pub fn with_read(mut self, read: ReadOptions) -> Self {
                self.read = read;
                self
            }

            /// How many to ask for at a time; at most 5,000.
            #[must_use]
            pub fn with_page_size(mut self, page_size: u32) -> Self {
                self.page_size = Some(page_size);
                self
            }
        }
    };
}

pub(crate) use list_options;

impl ReadOptions {
    /// Sees every change that was acknowledged before it was sent.
    #[must_use]
    pub fn linearizable() -> Self {
        Self::default()
    }

    /// The state as it was at exactly this revision. Below the window that is kept: `COMPACTED`; above the present
    /// revision: `FUTURE_REVISION`.
    #[must_use]
    pub fn at_revision(revision: Revision) -> Self {
        Self {
            at_revision: Some(revision),
            ..Self::default()
        }
    }

    /// The replica's own state once it has reached at least this revision: one's own writes can be read on any replica,
    /// without the leader.
    #[must_use]
    pub fn min_revision(revision: Revision) -> Self {
        Self {
            min_revision: Some(revision),
            ..Self::default()
        }
    }

    /// The replica's own state if it was confirmed to be current at most this long ago; whole milliseconds count.
    #[must_use]
    pub fn max_staleness(staleness: Duration) -> Self {
        Self {
            max_staleness: Some(staleness),
            ..Self::default()
        }
    }

    pub(crate) fn to_wire(self) -> Option<v1::ReadOptions> {
        Some(v1::ReadOptions {
            at_revision: self.at_revision.to_wire(),
            min_revision: self.min_revision.to_wire(),
            max_staleness_ms: self.max_staleness.to_wire(),
        })
    }
}
