//! Keys that are rotated, versions that come and go, and a feature that rises, while everything goes wrong: servers encrypt
//! what they store with the key that their gate names, show a version while it says so, and use the level that it names;
//! they get new keys, releases and levels one after the other, are cut off, killed, rolled back and replaced, and writes
//! land late; workers rewrite.
//!
//! The store knows nothing of Synod. What is in it, and what every process may write and show at the moment, is compared
//! with what the replicas say of the topics.

mod feature;
mod ledger;
mod maintainer;
mod operator;
mod release;
mod server;
mod worker;

use std::sync::LazyLock;
use std::time::Duration;

use synod_client::{
    ApiVersion, Error, GroupResource, MemberId, ResourceScope, RosterRule, SetRoster,
    SettingsPatch, Topic, Ttl,
};
use synod_machine::{State, check_drop};
use synod_model::SERVED;

use crate::clients::Clients;
use crate::crowd::{Crowd, Person};
use crate::net::Host;
use crate::world::World;

pub(crate) use feature::{Level, gadgets, level};
pub(crate) use ledger::{Key, Ledger, Named, Pen, Scene, Sign, Use};

/// The machines of the servers.
const SERVERS: [Host; 3] = [71, 72, 73];

/// The machines of the workers.
const WORKERS: [Host; 2] = [75, 76];

/// The machine of the operator, who hands out keys.
const OPERATOR: Host = 77;

/// The machine of the maintainer, who makes releases.
const MAINTAINER: Host = 78;

/// The machine of the client that sets the rules.
const FOUNDER: Host = 79;

/// How long a server is a member after its last renewal.
const TTL: Duration = Duration::from_millis(1_500);

/// How long a write may take that was sent by a member. Far above the TTL: a write of a killed server is then still on its
/// way when nothing but this waits for it.
const GRACE: Duration = Duration::from_secs(4);

/// The time in which a rotation ends once nothing goes wrong any more, in simulated milliseconds.
const PATIENCE: u64 = 60_000;

/// The servers and their operator, and the workers.
pub(crate) struct Rotation {
    crowd: Crowd<Ledger>,
    workers: Crowd<Ledger>,
}

type Participant = Person<Ledger>;

impl Rotation {
    /// Sets the rules, and starts the participants.
    pub(crate) fn start(world: &mut World) -> Self {
        let (crowd, mut workers) = (Crowd::<Ledger>::new(), Crowd::<Ledger>::new());
        workers.ledger = crowd.ledger.clone();
        if let Clients::Serving(servers) = &mut world.clients {
            servers.rotated_by(&crowd.ledger);
        }
        crowd.spawn(world, FOUNDER, found);
        crowd.idle(world);
        crowd.spawn(world, OPERATOR, operator::run);
        crowd.spawn(world, MAINTAINER, maintainer::run);
        for host in SERVERS {
            crowd.spawn(world, host, server::run);
        }
        for host in WORKERS {
            workers.spawn(world, host, worker::run);
        }
        Self { crowd, workers }
    }

    /// Has a version come and go once more, and every server start with the last key and without the version, and stay.
    pub(crate) fn finish(&self, world: &mut World) {
        self.crowd.finish(world);
    }

    /// Checks that the last rotation comes to its end, and that enough has happened.
    pub(crate) fn check(&self, world: &mut World) {
        let ledger = &self.crowd.ledger;
        let last = ledger.last().expect("the operator has handed it out");
        let is_over =
            |state: &State| (1..last).all(|key| is_free(state, key)) && may_be_removed(state);
        let over = world.run_until(PATIENCE, |world| {
            world.machines.values().all(|machine| {
                let consensus = machine.consensus();
                consensus.is_some_and(|it| is_over(&it.published().state))
            })
        });
        assert!(over, "the last rotation does not end: {:?}", ledger.scene());
        self.workers.finish(world);
        let scene = ledger.scene();
        assert!(
            scene.stored.iter().all(|key| *key == last) && !scene.stored.is_empty(),
            "all is rewritten with {last}: {scene:?}"
        );
        let writes: Vec<Key> = scene.pens.iter().map(Pen::key).collect();
        assert_eq!(writes, [last; SERVERS.len()], "everybody writes with it");
        let told = ledger.told();
        world
            .trace
            .add(format_args!("rotation: {last} keys, {told:?}"));
        assert!(
            told.is_worth_something(),
            "hardly anything went wrong: {told:?}"
        );
    }
}

/// Whether a replica says that a key may be thrown away.
pub(crate) fn is_free(state: &State, key: Key) -> bool {
    let now = state.log_time();
    check_drop(&state.present(), now, &secrets(), &name(key)).is_safe()
}

/// Whether a replica says that the code of the version may be removed.
pub(crate) fn may_be_removed(state: &State) -> bool {
    let (now, served) = (state.log_time(), release::value(SERVED));
    check_drop(&state.present(), now, &widgets(), &served).is_safe()
}

/// The topic of the version that comes and goes.
pub(crate) fn widgets() -> GroupResource {
    static TOPIC: LazyLock<Topic> =
        LazyLock::new(|| Topic::parse("served/v1beta1.widgets.example.io").unwrap());
    TOPIC.resource().clone()
}

/// The topic of the key.
pub(crate) fn secrets() -> GroupResource {
    static TOPIC: LazyLock<Topic> = LazyLock::new(|| Topic::parse("keys/secrets").unwrap());
    TOPIC.resource().clone()
}

/// The name of a key.
pub(crate) fn name(key: Key) -> ApiVersion {
    ApiVersion::parse(&format!("k{key}")).unwrap()
}

/// The key of this name.
pub(crate) fn number(name: &ApiVersion) -> Key {
    let number = name.as_str().strip_prefix('k').map(str::parse);
    number.expect("all keys are named so").unwrap()
}

fn member(host: Host) -> MemberId {
    MemberId::parse(&format!("encrypts-{host}")).unwrap()
}

fn ttl() -> Ttl {
    Ttl::from_millis(u64::try_from(TTL.as_millis()).unwrap()).unwrap()
}

/// Sets how long writes take, and asks for two servers: without the others one alone would decide.
async fn found(founder: Participant) {
    let patch = SettingsPatch {
        write_grace: Some(GRACE),
        ..SettingsPatch::default()
    };
    until_done(|| founder.client.update_settings(patch.clone(), None)).await;
    let rosters = founder.client.rosters();
    for topic in [secrets(), widgets()] {
        let set = SetRoster {
            scope: ResourceScope::group(topic.group()).unwrap(),
            rule: RosterRule {
                least: 2,
                complete: true,
                ..RosterRule::default()
            },
            if_revision: None,
        };
        until_done(|| rosters.set(set.clone())).await;
    }
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
