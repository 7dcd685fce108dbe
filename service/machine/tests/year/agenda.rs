//! What will happen, in its order.

use std::collections::BTreeMap;

use synod_machine::Command;

use crate::process::{Down, Release};
use crate::store::Write;
use crate::worker::Job;

/// Milliseconds of the leader's monotonic clock, from the beginning of the year on.
pub(crate) type Time = u64;

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// All servers are to be brought to another release, one by one.
    Campaign,
    /// Something goes wrong with a server, or with the cluster.
    Trouble,
    /// A custom resource is to be stored in another version, by servers that are not restarted.
    Redefine,
    /// A server is brought down, to come again as this release.
    Restart {
        server: usize,
        release: Release,
        how: Down,
    },
    /// A process dies without a word.
    Dies { process: usize },
    /// A process is started.
    Starts { server: usize, release: Release },
    /// A process that was stopped by the system goes on.
    Resumes { process: usize },
    /// A process has until now to drain, then it leaves as it is.
    Leaves { process: usize, release: Release },
    /// The cluster answers again.
    Returns,
    /// A backup of the cluster is made.
    Backup,
    /// All replicas are lost.
    Lost,
    /// One of the backups goes on as another cluster.
    Restored { backup: usize },
    /// The leader looks for what is past its deadline.
    Expire,
    /// Servers write.
    Burst,
    /// Something that a member has said, and given up or said already, reaches the cluster.
    Arrives(Box<Command>),
    /// A write lands in the store.
    Lands(Write),
    /// What became of a write is known to who sent it, or never will be.
    Answered(Write),
    /// A server begins to take part, or does so no more.
    Rollout,
    /// The observer looks at what every server shows.
    Look,
    /// The observer stops, or is back.
    Observer { is_there: bool },
    /// Somebody has what is stored of a resource taken for unknown, as nobody has looked for too long.
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
