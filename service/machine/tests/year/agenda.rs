//! The planned events of the year, in their order.

use std::collections::BTreeMap;

use synod_machine::Command;

use crate::process::{Down, Release};
use crate::store::Write;
use crate::worker::Job;

/// Milliseconds of the leader's monotonic clock since the beginning of the year.
pub(crate) type Time = u64;

/// A planned event.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// All servers are to get another release, one by one.
    Campaign,
    /// A server or the cluster fails.
    Trouble,
    /// The storage version of a custom resource changes, without a restart of servers.
    Redefine,
    /// A server is stopped, and started again as this release.
    Restart {
        server: usize,
        release: Release,
        how: Down,
    },
    /// A process dies without leaving.
    Dies { process: usize },
    /// A process is started.
    Starts { server: usize, release: Release },
    /// A process that was paused by the system resumes.
    Resumes { process: usize },
    /// The time of a process to drain is over: it leaves.
    Leaves { process: usize, release: Release },
    /// The cluster answers again.
    Returns,
    /// A backup of the cluster is made.
    Backup,
    /// All replicas are lost.
    Lost,
    /// One of the backups continues as another cluster.
    Restored { backup: usize },
    /// The leader proposes what is past its deadline.
    Expire,
    /// Servers write.
    Burst,
    /// A late or repeated statement of a member reaches the cluster.
    Arrives(Box<Command>),
    /// A write lands in the store.
    Lands(Write),
    /// The sender of a write learns its outcome, or never will.
    Answered(Write),
    /// A server begins to take part, or stops doing so.
    Rollout,
    /// The observer looks at the discovery of every server.
    Look,
    /// The observer stops, or returns.
    Observer { is_there: bool },
    /// An operator resets a resource after a gap in its observation.
    Vouch,
    /// A worker looks for a migration.
    Work,
    /// A worker rewrites its next page.
    Page(Job),
}

/// Events by time; those of one time in the order in which they were planned.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    events: BTreeMap<(Time, u64), Event>,
    planned: u64,
}

impl Agenda {
    pub(crate) fn plan(&mut self, at: Time, event: Event) {
        self.planned += 1;
        self.events.insert((at, self.planned), event);
    }

    pub(crate) fn next(&mut self) -> Option<(Time, Event)> {
        let ((at, _), event) = self.events.pop_first()?;
        Some((at, event))
    }
}
