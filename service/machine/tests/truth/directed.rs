//! Directed schedules. Each leads to an untrue answer where a rule is missing.

mod servers;
mod workers;

use crate::draws::{CLAIM_TTL, MEMBERS, TTL};
use crate::machine::WRITE_GRACE;
use crate::schedule::{
    Action, Binary, ClaimTerms, ResourceName, Roster, Server, Version, WorkerName,
};
use crate::world::Setup;

/// A schedule with a name.
pub(crate) struct DirectedSchedule {
    pub(crate) name: &'static str,
    pub(crate) setup: Setup,
    pub(crate) schedule: Vec<Action>,
}

impl DirectedSchedule {
    /// A schedule in a world with a roster that names both members.
    fn new(name: &'static str, parts: impl IntoIterator<Item = Vec<Action>>) -> Self {
        let roster = Some(Roster::Named(&MEMBERS));
        Self {
            name,
            setup: Setup {
                roster,
                ..Setup::default()
            },
            schedule: parts.into_iter().flatten().collect(),
        }
    }

    fn with_roster(mut self, roster: Option<Roster>) -> Self {
        self.setup.roster = roster;
        self
    }

    fn before_raise(mut self) -> Self {
        self.setup.is_before_raise = true;
        self
    }

    fn in_one_store(mut self) -> Self {
        self.setup.is_one_store = true;
        self
    }
}

/// Every directed schedule.
pub(crate) fn all() -> Vec<DirectedSchedule> {
    let mut all = workers::all();
    all.extend(servers::all());
    all
}

fn start(server: Server, binary: Binary) -> Action {
    start_for(server, binary, TTL)
}

fn start_for(server: Server, binary: Binary, ttl: u64) -> Action {
    Action::Start(server, binary, ttl)
}

fn start_both(binary: Binary) -> Vec<Action> {
    MEMBERS.map(|server| start(server, binary)).to_vec()
}

fn reencode_both(version: Version) -> Vec<Action> {
    MEMBERS
        .map(|server| Action::Reencode(server, version))
        .to_vec()
}

fn claim(worker: WorkerName, ttl: u64) -> Action {
    claim_widgets(worker, ttl, false)
}

fn claim_widgets(worker: WorkerName, ttl: u64, is_fenced: bool) -> Action {
    Action::Claim(worker, ResourceName::Widgets, ClaimTerms { ttl, is_fenced })
}

fn migrate(worker: WorkerName) -> Vec<Action> {
    vec![claim(worker, CLAIM_TTL), Action::Run(worker)]
}

/// Both members run this binary, and everything is in its version.
fn settle(binary: Binary) -> Vec<Action> {
    let mut settled = start_both(binary);
    settled.push(Action::Pass(WRITE_GRACE));
    settled.extend(migrate("w"));
    settled
}
