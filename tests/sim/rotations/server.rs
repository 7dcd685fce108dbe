//! A server that encrypts what it stores with the key that its gate names.

use std::collections::BTreeSet;

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::RngExt;
use synod_client::{
    Error, ErrorKind, Gate, GroupResource, JoinOptions, Kind, MemberId, Membership, Permit,
    ReportEntry, Stance, StoredIn, VersionSet,
};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::ledger::{Allowed, Named, Ring};
use super::release::Release;
use super::{
    GRACE, Key, Ledger, Level, Participant, Pen, Sign, TTL, Use, feature, gadgets, member, name,
    secrets, ttl, widgets,
};
use crate::world::HOSTS;

/// The number of objects.
const OBJECTS: usize = 12;

/// The keys and the release of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setup {
    ring: Ring,
    release: Release,
}

impl Setup {
    /// What the server is to start with.
    fn wanted(server: &Participant) -> Self {
        let (ledger, host) = (&server.ledger, server.host);
        Self {
            ring: ledger.ring(host),
            release: ledger.release(host),
        }
    }

    fn entries(self, level: Level) -> Vec<ReportEntry> {
        vec![
            entry(self.ring),
            self.release.entry(),
            feature::entry(level),
        ]
    }
}

/// Starts and ends, again and again, without faults once the run is over. At the end it starts with what was handed out last,
/// and stays.
pub(super) async fn run(mut server: Participant) {
    let mut setup = Setup::wanted(&server);
    while !server.ledger.is_over() {
        let before = setup;
        setup = Setup::wanted(&server);
        if before != setup && !server.is_over() && server.rng.random_ratio(1, 4) {
            server.ledger.count(|told| told.rolled_back += 1);
            setup = before;
        }
        match join(&server).await {
            Ok(membership) => setup = live(&mut server, membership, setup).await,
            Err(_) => server.pause(100..500).await,
        }
    }
    let setup = Setup::wanted(&server);
    // What it says may come when its membership has run out: another one says it then.
    let (membership, level) = loop {
        if let Ok(membership) = join(&server).await {
            if let Some(level) = begins(&server, &membership, setup).await {
                break (membership, level);
            }
            drop(membership.leave(Duration::from_millis(500)).await);
        }
        server.pause(100..500).await;
    };
    // The task that looks goes on, and so does the membership, until the run ends.
    let _process = Process::of(&server, &membership, setup, level);
    server.ledger.keep(membership);
}

async fn join(server: &Participant) -> Result<Membership, Error> {
    let options = JoinOptions::new(member(server.host)).ttl(ttl());
    server.client.join(options).await
}

/// One process: reports, writes, gets new keys, and ends. Returns what it had in the end.
async fn live(server: &mut Participant, membership: Membership, mut setup: Setup) -> Setup {
    let Some(level) = begins(server, &membership, setup).await else {
        drop(membership.leave(Duration::from_millis(500)).await);
        server.pause(100..600).await;
        return setup;
    };
    let process = Process::of(server, &membership, setup, level);
    for _ in 0..server.rng.random_range(15..60) {
        if server.ledger.is_over() {
            break;
        }
        server.pause(20..200).await;
        if server.rng.random_ratio(2, 3) {
            write(server, &membership, 5..400);
        }
        if !server.is_over() && server.rng.random_ratio(1, 60) {
            cut_off(server, 200..4_000).await;
        }
        if server.rng.random_ratio(1, 12) {
            raise(server, &membership, &process).await;
        }
        let wanted = Setup::wanted(server);
        if wanted == setup || server.rng.random_ratio(1, 2) {
            continue;
        }
        if wanted.release != setup.release || server.rng.random_ratio(1, 4) {
            break;
        }
        setup.ring = bring(server, &membership, &process, setup.ring, wanted.ring).await;
    }
    let is_killed = !server.is_over() && server.rng.random_ratio(1, 4);
    if is_killed {
        kill(server, membership, process).await;
    } else {
        drop(membership.leave(Duration::from_secs(1)).await);
        process.end();
    }
    setup
}

/// Reports for the first time. Returns the level with which that was taken, if it was.
async fn begins(server: &Participant, membership: &Membership, setup: Setup) -> Option<Level> {
    let (host, at, level) = (server.host, server.net.now(), server.ledger.level());
    match membership.report(setup.entries(level)).await {
        Ok(reported) => {
            if let Release::Serves { until } = setup.release {
                let revision = reported.header.revision;
                server.ledger.name(Named {
                    revision,
                    at,
                    until,
                });
            }
            Some(level)
        }
        Err(error) => {
            if error.kind() == ErrorKind::NotDecodable {
                server.ledger.count(|told| told.refused += 1);
            }
            server
                .trace
                .add(format_args!("{host} with {setup:?} is refused: {error}"));
            None
        }
    }
}

/// Brings other keys to a running server. Sometimes it is cut off right after that, so that what it says next comes late.
async fn bring(
    server: &mut Participant,
    membership: &Membership,
    process: &Process,
    before: Ring,
    wanted: Ring,
) -> Ring {
    process.holds(before.with(wanted));
    let reported = membership.report_change(entry(wanted)).await;
    let (host, is_done) = (server.host, reported.is_ok());
    server.trace.add(format_args!(
        "{host} has brought {wanted:?}: {}",
        if is_done { "done" } else { "not told" }
    ));
    server.ledger.count(|told| told.brought += 1);
    if !is_done {
        // Whether it counts is not known, so it goes on holding the keys of both.
        return before;
    }
    process.holds(wanted);
    if !server.is_over() && server.rng.random_ratio(1, 2) {
        cut_off(server, 200..1_500).await;
    }
    wanted
}

/// Brings a level to a running server that no other one has yet. It has that also if nobody is told of it.
async fn raise(server: &Participant, membership: &Membership, process: &Process) {
    let Some(level) = server.ledger.next_level() else {
        return;
    };
    process.has(level);
    if membership
        .report_change(feature::entry(level))
        .await
        .is_ok()
    {
        server.ledger.count(|told| told.raised += 1);
    }
}

/// Cuts the links between the server and all replicas for so many milliseconds.
async fn cut_off(server: &mut Participant, millis: Range<u64>) {
    server.ledger.count(|told| told.cut_off += 1);
    let (net, host) = (server.net.clone(), server.host);
    let set = |cut| {
        for replica in HOSTS {
            net.set_cut(host, replica, cut);
        }
    };
    set(true);
    server.trace.add(format_args!("{host} is cut off"));
    server.pause(millis).await;
    set(false);
}

/// Ends the process without a word. A write that it has just sent lands later.
async fn kill(server: &mut Participant, membership: Membership, process: Process) {
    let (host, told) = (server.host, &server.ledger);
    server.trace.add(format_args!("{host} is killed"));
    told.count(|told| told.killed += 1);
    let grace = u64::try_from(GRACE.as_millis()).unwrap();
    // Clocks differ by a tenth, and the grace is counted by that of the leader.
    if write(server, &membership, grace / 2..grace * 22 / 25) {
        server.ledger.count(|told| told.late += 1);
    }
    // The write has been sent before the process ends.
    sleep(Duration::from_millis(1)).await;
    process.end();
    drop(membership);
    // Another process takes its place, or it expires.
    if server.rng.random_ratio(1, 2) {
        let ttl = u64::try_from(TTL.as_millis()).unwrap();
        server.pause(ttl..ttl * 2).await;
    }
}

/// Writes an object if the gate is open; the store has it after so many milliseconds. Returns whether it was sent.
fn write(server: &mut Participant, membership: &Membership, millis: Range<u64>) -> bool {
    let Ok(permit) = membership.gate().try_permit(&secrets()) else {
        return false;
    };
    if permit.check().is_err() {
        return false;
    }
    let object = server.rng.random_range(0..OBJECTS);
    let takes = Duration::from_millis(server.rng.random_range(millis));
    let ledger = server.ledger.clone();
    let flight = ledger.sends(pen(membership.id(), &permit));
    tokio::spawn(async move {
        sleep(takes).await;
        ledger.lands(flight, object);
        permit.done();
    });
    true
}

fn pen(member: &MemberId, permit: &Permit) -> Pen {
    Pen {
        member: member.clone(),
        epoch: permit.epoch(),
        value: permit.encoding().clone(),
        revision: permit.revision(),
    }
}

fn entry(ring: Ring) -> ReportEntry {
    ReportEntry {
        resource: secrets(),
        kind: Kind::parse("Secret").unwrap(),
        decodable: ring.keys().map(name).collect(),
        served: VersionSet::default(),
        stance: Stance::Voting {
            preferred: name(ring.newest),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}

/// The keys that a process holds, and the level that it has.
#[derive(Clone, Copy)]
struct Held {
    ring: Ring,
    level: Level,
}

/// A running process, and the task that looks at what it may do.
struct Process {
    number: u64,
    held: Arc<Mutex<Held>>,
    ledger: Ledger,
    looks: JoinHandle<()>,
}

impl Process {
    fn of(server: &Participant, membership: &Membership, setup: Setup, level: Level) -> Self {
        let (number, ledger) = (server.ledger.number(), server.ledger.clone());
        let ring = setup.ring;
        let held = Arc::new(Mutex::new(Held { ring, level }));
        let look = Look {
            process: number,
            member: membership.id().clone(),
            gate: membership.gate(),
            release: setup.release,
            held: Arc::clone(&held),
            ledger: ledger.clone(),
        };
        Self {
            number,
            held,
            ledger,
            looks: tokio::spawn(look.run()),
        }
    }

    /// It holds these keys from now on.
    fn holds(&self, ring: Ring) {
        self.held.lock().unwrap().ring = ring;
    }

    /// It has this level from now on.
    fn has(&self, level: Level) {
        self.held.lock().unwrap().level = level;
    }

    fn end(self) {
        self.looks.abort();
        self.ledger.may(self.number, Allowed::default());
    }
}

/// Looks at what a process may do.
struct Look {
    process: u64,
    member: MemberId,
    gate: Gate,
    release: Release,
    held: Arc<Mutex<Held>>,
    ledger: Ledger,
}

impl Look {
    /// Records at every moment what the gate lets the process write, show and use, and checks that it can read what is stored:
    /// while its gate is open, it is a member with a report.
    async fn run(self) {
        loop {
            let held = *self.held.lock().unwrap();
            let pen = self.allowed(&secrets());
            let sign = self.allowed(&widgets()).map(|pen| Sign {
                pen,
                can: self.release.can(),
            });
            let uses = self.allowed(&gadgets()).map(|pen| Use {
                pen,
                has: held.level,
            });
            if let Some(pen) = &pen {
                self.check_keys(held.ring, pen.key());
            }
            let allowed = Allowed { pen, sign, uses };
            self.ledger.may(self.process, allowed);
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// What the gate allows for a topic now.
    fn allowed(&self, topic: &GroupResource) -> Option<Pen> {
        let permit = self.gate.try_permit(topic).ok()?;
        let pen = pen(&self.member, &permit);
        permit.done();
        Some(pen)
    }

    fn check_keys(&self, held: Ring, writes: Key) {
        let member = &self.member;
        assert!(
            held.keys().contains(&writes),
            "{member} holds {held:?}, and is to write with {writes}"
        );
        let lacking = self.ledger.unreadable(held);
        assert_eq!(
            lacking, None,
            "{member} holds {held:?}, and cannot read what is stored with that"
        );
    }
}
