//! Keys are rotated and a feature is learned by servers that restart with more keys or levels, or fewer, while all goes wrong.
//!
//! The servers encrypt objects by permits, some of whose writes land late, and a worker rewrites. `checkers/readable.rs` looks at
//! every step whether a member lacks what is in use; the ledger whether a key that was called free is used.

mod ledger;
mod operator;
mod server;

use std::time::Duration;

use synod_client::{ApiVersion, ResourceScope, RosterRule, SetRoster, SettingsPatch, Topic};
use synod_machine::State;

use crate::clients::Clients;
use crate::crowd::{Crowd, Person};
use crate::net::Host;
use crate::rollouts::until_done;
use crate::world::World;

pub(crate) use ledger::Ledger;
use ledger::Used;

/// The machines of the servers.
const SERVERS: [Host; 3] = [71, 72, 73];

/// The machine of the operator, who throws keys away.
const OPERATOR: Host = 74;

/// The machine of the worker, which rewrites.
const WORKER: Host = 75;

/// The machine of the client that sets the times.
const FOUNDER: Host = 76;

/// How long a write may be under way: short, so that keys become free within a run.
const GRACE: Duration = Duration::from_secs(4);

/// How long the keys may take to be rotated, in simulated milliseconds.
const PATIENCE: u64 = 120_000;

/// How many keys are thrown away in a run.
const KEYS: u64 = 2;

/// The participants.
pub(crate) struct Rotations(Crowd<Ledger>);

type Participant = Person<Ledger>;

impl Rotations {
    /// Sets the times, and starts the participants.
    pub(crate) fn start(world: &mut World) -> Self {
        let crowd = Crowd::<Ledger>::new();
        crowd.spawn(world, FOUNDER, found);
        crowd.idle(world);
        let Clients::Serving(servers) = &mut world.clients else {
            panic!("consensus alone serves no clients");
        };
        servers.rotated_by(&crowd.ledger);
        for host in SERVERS {
            crowd.spawn(world, host, server::run);
        }
        crowd.spawn(world, WORKER, operator::rewrite);
        crowd.spawn(world, OPERATOR, operator::run);
        Self(crowd)
    }

    /// Lets the servers restart in order until enough keys were thrown away, and ends all. Before, writes of servers that were
    /// killed are nearly always on their way, so that hardly any key becomes free.
    pub(crate) fn finish(&self, world: &mut World) {
        self.0.ledger.calm_down();
        let rotated = world.run_until(PATIENCE, |_| self.0.ledger.oldest() > KEYS);
        let told = self.0.ledger.told();
        assert!(rotated, "keys are not rotated: {told:?}");
        self.0.finish(world);
    }

    /// Checks that a permit names what the member's entry said at the permit's revision, that nothing else went wrong, and that enough happened for that to mean something.
    pub(crate) fn check(&self, world: &World) {
        let told = self.0.ledger.told();
        world.trace.add(format_args!("rotations: {told:?}"));
        assert_eq!(self.0.ledger.faults(), Vec::<String>::new());
        let machine = world.machines.values().next().expect("there are machines");
        let consensus = machine.consensus().expect("everything is healed");
        let checked = self
            .0
            .ledger
            .used()
            .iter()
            .try_for_each(|used| allowed(&consensus.published().state, used));
        checked.unwrap_or_else(|fault| panic!("{fault}"));
        assert!(
            told.is_worth_something(),
            "hardly anything happened: {told:?}"
        );
    }
}

/// Whether the member's entry was in use of the value, at the revision of the permit.
fn allowed(state: &State, used: &Used) -> Result<(), String> {
    let past = state.at(used.revision);
    let past = past.map_err(|gone| format!("the history begins after {used:?}: {gone:?}"))?;
    let view = past.storage_version(&used.topic);
    let entry = view.as_ref().and_then(|view| view.entry(&used.member));
    let encoding = entry.and_then(|entry| entry.encoding.clone());
    let member = past.member(&used.member);
    if member.is_some_and(|member| member.epoch == used.epoch)
        && encoding.as_ref() == Some(&used.value)
    {
        return Ok(());
    }
    Err(format!("{used:?}, and its entry said {encoding:?}"))
}

/// What the servers agree on.
pub(crate) fn topics() -> [Topic; 2] {
    ["keys/secrets", "features/locks"].map(|text| Topic::parse(text).unwrap())
}

fn key(number: u64) -> ApiVersion {
    ApiVersion::parse(&format!("aes/k{number}")).unwrap()
}

fn level(number: u64) -> ApiVersion {
    ApiVersion::parse(&format!("v{number}")).unwrap()
}

/// Sets how long writes take at most, and that two servers must speak before a key is free, and retries until both are set.
async fn found(founder: Participant) {
    let patch = SettingsPatch {
        write_grace: Some(GRACE),
        unreported_grace: Some(GRACE),
        ..SettingsPatch::default()
    };
    until_done(|| founder.client.update_settings(patch.clone(), None)).await;
    let set = SetRoster {
        scope: ResourceScope::Resource(topics()[0].resource().clone()),
        rule: RosterRule {
            least: 2,
            ..RosterRule::default()
        },
        if_revision: None,
    };
    let rosters = founder.client.rosters();
    until_done(|| rosters.set(set.clone())).await;
}
