//! A rollout with disorder: the statements of members arrive late, twice and out of order, an operator changes the
//! rosters, and an observer of discovery sees servers that take no part, and stops.

mod ledger;
mod observer;
mod operator;
mod speaker;
mod truth;

use std::time::Duration;

use synod_client::{ApiVersion, Error, GroupResource, Kind, MemberId, SettingsPatch};

use crate::crowd::{Crowd, Person};
use crate::net::Host;
use crate::world::World;

use ledger::Ledger;

/// The machines of the members that report.
const SPEAKERS: [Host; 3] = [61, 62, 63];

/// The machine of the operator, who sets rosters.
const OPERATOR: Host = 64;

/// The machine of the observer of discovery.
const OBSERVER: Host = 65;

/// The machine of the client that sets the period of discovery.
const FOUNDER: Host = 66;

/// The period of discovery: short, so that an observation expires within a run.
const PERIOD: Duration = Duration::from_secs(1);

/// The time until the state reflects the last statements, in simulated milliseconds.
const PATIENCE: u64 = 30_000;

/// The participants of a rollout.
pub(crate) struct Rollout(Crowd<Ledger>);

type Participant = Person<Ledger>;

impl Rollout {
    /// Sets the period of discovery, and starts the participants.
    pub(crate) fn start(world: &mut World) -> Self {
        let crowd = Crowd::new();
        crowd.spawn(world, FOUNDER, found);
        crowd.idle(world);
        for host in SPEAKERS {
            crowd.spawn(world, host, speaker::run);
        }
        crowd.spawn(world, OPERATOR, operator::run);
        crowd.spawn(world, OBSERVER, observer::run);
        Self(crowd)
    }

    /// Lets each make a last statement: all members report, a roster requires all of them, and the observer stops.
    pub(crate) fn finish(&self, world: &mut World) {
        self.0.finish(world);
    }

    /// Checks the replicas' states, and every revision of their history.
    pub(crate) fn check(&self, world: &mut World) {
        let over = world.run_until(PATIENCE, |world| {
            let mut machines = world.machines.values();
            machines.all(|machine| {
                let consensus = machine.consensus();
                consensus.is_some_and(|it| truth::is_as_said_last(it.published().state.present()))
            })
        });
        assert!(over, "what was said last does not come to count");
        for machine in world.machines.values() {
            let consensus = machine.consensus().expect("everything is healed");
            let seen = truth::check(&consensus.published().state, &self.0.ledger);
            let seen = seen.unwrap_or_else(|fault| panic!("{}: {fault}", machine.host));
            let told = self.0.ledger.told();
            world
                .trace
                .add(format_args!("rollout: {seen:?}, told {told:?}"));
            assert!(
                seen.is_worth_something() && told.is_worth_something(),
                "hardly anything went otherwise than planned: {seen:?}, {told:?}"
            );
        }
    }
}

/// The resource that the speakers report.
fn rolls() -> GroupResource {
    GroupResource::new("example.com", "rolls").unwrap()
}

/// The resource that no member reports and the observer looks at.
fn seen() -> GroupResource {
    GroupResource::new("example.com", "seen").unwrap()
}

fn kind() -> Kind {
    Kind::parse("Roll").unwrap()
}

fn version(number: u64) -> ApiVersion {
    ApiVersion::parse(&format!("example.com/v{number}")).unwrap()
}

fn member(host: Host) -> MemberId {
    MemberId::parse(&format!("speaker-{host}")).unwrap()
}

/// Sets the period of discovery, and retries until it is set.
async fn found(founder: Participant) {
    let patch = SettingsPatch {
        discovery_period: Some(PERIOD),
        ..SettingsPatch::default()
    };
    until_done(|| founder.client.update_settings(patch.clone(), None)).await;
}

/// Repeats an action until it succeeds.
async fn until_done<A, F>(act: impl Fn() -> F) -> A
where
    F: Future<Output = Result<A, Error>>,
{
    loop {
        match act().await {
            Ok(answer) => return answer,
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}
