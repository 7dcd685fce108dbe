//! Runs a year: its events in order, and the checks after each.

mod agreed;
mod keys;
mod levels;
mod losses;
mod migrating;
mod rollout;
mod servers;
mod tally;
mod troubles;

use std::collections::BTreeMap;

use synod_machine::State;

use crate::agenda::{Agenda, Event, Time};
use crate::cluster::{Cluster, RESOURCES};
use crate::process::{Process, Release};
use crate::random::Random;
use crate::store::{Resource, Store, Version};

use keys::Asked;
use troubles::SERVERS;

pub(crate) use rollout::Rollout;
use rollout::Sight;
pub(crate) use tally::Tally;

const SECOND: Time = 1_000;
const MINUTE: Time = 60 * SECOND;
const HOUR: Time = 60 * MINUTE;
const YEAR: Time = 365 * 24 * HOUR;

/// How long a write may land after its process's proof, by default: the setting `write_grace` of a new cluster.
const WRITE_GRACE: Time = 70 * SECOND;

/// The assumptions about clocks, delays and servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nature {
    /// How long after the end of its proof a process's write may land.
    pub(crate) lands_within: Time,
    /// How much a process's clock counts while the leader's counts a thousand, at least and at most.
    pub(crate) rates: (u64, u64),
    /// Whether the store has a fence.
    pub(crate) fenced: bool,
    /// Whether every server takes part, and what reveals those that do not.
    pub(crate) rollout: Rollout,
}

impl Nature {
    /// The conditions that are required without a fence.
    pub(crate) const PROMISED: Self = Self {
        lands_within: WRITE_GRACE,
        rates: (910, 1_100),
        fenced: false,
        rollout: Rollout::Over,
    };

    /// Writes land at any time.
    pub(crate) const LATE: Self = Self {
        lands_within: 2 * HOUR,
        ..Self::PROMISED
    };

    /// Not every server takes part, and a roster asks for all of them.
    pub(crate) const UNDER_ROSTER: Self = Self {
        rollout: Rollout::UnderRoster,
        ..Self::PROMISED
    };

    /// Not every server takes part, and a roster asks for all of them after some days.
    pub(crate) const ROSTER_LATER: Self = Self {
        rollout: Rollout::RosterLater,
        ..Self::PROMISED
    };

    /// Not every server takes part, and an observer looks at all of them, except for some days.
    pub(crate) const OBSERVED: Self = Self {
        rollout: Rollout::Observed,
        ..Self::PROMISED
    };

    /// Some clocks are very slow.
    pub(crate) const APART: Self = Self {
        rates: (10, 1_100),
        ..Self::PROMISED
    };
}

/// A completed year.
#[derive(Debug)]
pub(crate) struct Year {
    pub(crate) seed: u64,
    /// The first broken promise, if there was one. It ended the year.
    pub(crate) fault: Option<String>,
    pub(crate) tally: Tally,
}

impl Year {
    pub(crate) fn simulate(seed: u64, nature: Nature) -> Self {
        let mut world = World::new(seed, nature);
        world.begin();
        let fault = world.run();
        Self {
            seed,
            fault,
            tally: world.tally,
        }
    }
}

/// The whole simulation.
struct World {
    nature: Nature,
    random: Random,
    agenda: Agenda,
    now: Time,
    cluster: Cluster,
    /// The backups of the cluster, the oldest first.
    backups: Vec<State>,
    store: Store,
    /// The number of writes that have not landed, by what they write.
    flights: BTreeMap<(Resource, Version), u32>,
    /// Every process so far; a server's newest one comes last.
    processes: Vec<Process>,
    /// The places of those that live. Most have died long ago, and whoever is looked for at every event is among these.
    living: Vec<usize>,
    /// The release that the servers are to run now.
    wanted: Release,
    /// Whether a worker is planned to look for a migration.
    is_awaited: bool,
    /// The servers that take part, or will from their next start.
    takes_part: [bool; SERVERS],
    /// The servers that have taken part since what is stored was last unknown.
    has_taken_part: [bool; SERVERS],
    sight: Sight,
    /// The last key of the server that is given no more keys than it needs; `None`: it is given all of its release.
    late_key: Option<Version>,
    /// What was last asked about free keys.
    asked: Option<Asked>,
    /// The level that was selected last, in a year of levels.
    level: Option<Version>,
    tally: Tally,
}

impl World {
    fn new(seed: u64, nature: Nature) -> Self {
        Self {
            nature,
            random: Random::new(seed),
            agenda: Agenda::default(),
            now: 0,
            cluster: Cluster::formed(),
            backups: Vec::new(),
            store: Store::new(nature.fenced),
            flights: BTreeMap::new(),
            processes: Vec::new(),
            living: Vec::new(),
            wanted: Release {
                about: 4,
                encodes: 4,
            },
            is_awaited: false,
            takes_part: [true; SERVERS],
            has_taken_part: [false; SERVERS],
            sight: Sight::default(),
            late_key: None,
            asked: None,
            level: None,
            tally: Tally::default(),
        }
    }

    /// Runs all events; returns the first broken promise.
    fn run(&mut self) -> Option<String> {
        while let Some((at, event)) = self.agenda.next() {
            if at > YEAR {
                return None;
            }
            self.now = at;
            self.cluster.advance(at);
            // A process that resumes after a pause acts before it renews. Events of the store and its answers concern
            // no other process.
            if !matches!(
                event,
                Event::Resumes { .. } | Event::Lands(_) | Event::Answered(_) | Event::Look
            ) {
                self.tick();
            }
            let is_time = matches!(event, Event::Look | Event::Rollout);
            // Half of all events: a server learns that a write has landed, which changes nothing of what is looked at.
            let is_nothing = matches!(event, Event::Answered(_));
            let told = self.happen(event);
            if is_nothing {
                continue;
            }
            self.living.retain(|place| self.processes[*place].is_alive);
            let told = told.or_else(|| self.missed());
            let told = told.or_else(|| self.misreads_what_is_agreed());
            if let Some(fault) = told.or_else(|| self.called_safe(is_time)) {
                return Some(format!("at {at} ms, {fault}"));
            }
        }
        None
    }

    /// Runs one event; returns what is wrong after it.
    fn happen(&mut self, event: Event) -> Option<String> {
        match event {
            Event::Campaign => self.campaign(),
            Event::Trouble => self.trouble(),
            Event::Redefine => self.redefine(),
            Event::Restart {
                server,
                release,
                how,
            } => self.restart(server, release, how),
            Event::Dies { process } => self.processes[process].is_alive = false,
            Event::Starts { server, release } => self.start(server, release),
            Event::Resumes { process } => self.resume(process),
            Event::Leaves { process, release } => self.leave(process, release),
            Event::Returns => self.cluster.returns(),
            Event::Backup => self.back_up(),
            Event::Lost => self.lose(),
            Event::Restored { backup } => self.restore(backup),
            Event::Expire => self.expire(),
            Event::Burst => self.burst(),
            Event::Arrives(statement) => self.hear_late(*statement),
            Event::Lands(write) => {
                self.landed((write.resource, write.version));
                if !self.store.land(&write) {
                    self.tally.fenced_off += 1;
                }
            }
            Event::Answered(write) => {
                let gate = &mut self.processes[write.process].gates[write.resource];
                gate.answered(write.version);
            }
            Event::Rollout => self.roll_out(),
            Event::Look => self.look(),
            Event::Observer { is_there } => self.observer(is_there),
            Event::Vouch => self.vouch(),
            Event::Work => self.work(),
            Event::Page(job) => return self.page(job),
        }
        None
    }

    /// A stored version that is impossible as far as the machine knows.
    fn missed(&self) -> Option<String> {
        for (of, name) in RESOURCES.iter().enumerate() {
            let stored = self.store.versions_but(of, self.excused(of));
            if let Some(version) = self.cluster.not_stored(of, &stored) {
                return Some(format!(
                    "{name} is stored in v{version}, and persisted is {:?}",
                    self.cluster.persisted(of)
                ));
            }
        }
        None
    }

    /// The processes that live, the oldest first.
    fn living(&self) -> impl DoubleEndedIterator<Item = &Process> {
        self.living.iter().map(|place| &self.processes[*place])
    }

    /// One write less is under way.
    fn landed(&mut self, what: (Resource, Version)) {
        let left = self.flights.get_mut(&what).expect("it was sent");
        *left -= 1;
        if *left == 0 {
            self.flights.remove(&what);
        }
    }

    fn soon(&mut self, from: Time, to: Time) -> Time {
        self.now + self.random.between(from, to)
    }
}
