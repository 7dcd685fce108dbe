//! Leaders that were deposed and do not know it: no answer that arrives late makes one answer as if it still led.

use rand::RngExt;
use synod_proto::v1::leases_acquire_response::Result as Acquired;
use synod_proto::v1::leases_renew_response::Result as Renewal;

use crate::checkers::come_together;
use crate::clients::Clients;
use crate::machine::Kind;
use crate::proposals::Ledger;
use crate::seeds::for_each_seed;
use crate::visitor;
use crate::world::{HOSTS, World};

/// A replica that does not vote.
const LEARNER: u64 = 4;

// Guarantee: R-03
#[test]
fn an_answer_to_what_was_sent_before_a_read_does_not_confirm_it() {
    let test = "an_answer_to_what_was_sent_before_a_read_does_not_confirm_it";
    for_each_seed(test, Kind::Bare, 1..21, |world| {
        forms(world);
        let deposed = DeposedLeader::new(world, |world, leader| {
            ledger(world).propose(&world.machines[&leader], &world.trace);
        });
        let before = ledger(world).acknowledged().len();
        ledger(world).propose(&world.machines[&deposed.next], &world.trace);
        let written = rest_until(world, 200, |world| {
            ledger(world).acknowledged().len() > before
        });
        assert!(written, "the new leader acknowledges nothing");
        ledger(world).read(&world.machines[&deposed.old], &world.trace);
        // The checkers look at the answer of the read, if there is one.
        deposed.let_answers_arrive(world);
        deposed.heal(world);
        world.rest(2_000);
    });
}

/// Through the port of the clients: a read that lacks a lease which the new leader has granted, at the old leader and at a learner
/// that still follows it, and a renewal which the new leader does not know, so that it may give the lease away before the
/// renewed TTL has passed.
// Guarantee: R-03, M-02
#[test]
fn no_client_is_answered_by_an_old_answer_to_a_deposed_leader() {
    let test = "no_client_is_answered_by_an_old_answer_to_a_deposed_leader";
    for_each_seed(test, Kind::Whole, 6..9, |world| {
        forms(world);
        world.rest(1_000);
        add_learner(world);
        let leader = world.leader().expect("a quiet world has a leader");
        let kept = visitor::acquire(world, leader, "kept");
        assert!(rest_until(world, 1_000, |_| kept.answer().is_some()));
        let Some(Acquired::Held(held)) = kept.answer().unwrap().unwrap().result else {
            panic!("nobody else wants the lease");
        };
        let deposed = DeposedLeader::new(world, |world, leader| {
            visitor::acquire(world, leader, "unanswered");
        });
        let granted = visitor::acquire(world, deposed.next, "granted");
        let acknowledged = rest_until(world, 1_000, |_| granted.answer().is_some());
        assert!(acknowledged, "the new leader acknowledges nothing");
        granted.answer().unwrap().expect("nobody else wants it");

        let reads = [deposed.old, LEARNER].map(|host| visitor::get_lease(world, host, "granted"));
        let renewal = visitor::renew(world, deposed.old, "kept", held.token);
        world.rest(20);
        let unanswered = reads.iter().all(|read| read.answer().is_none());
        assert!(unanswered && renewal.answer().is_none());
        deposed.let_answers_arrive(world);
        world.rest(300);
        for read in reads {
            // The lease does not exist at the old leader.
            if let Some(answer) = read.answer() {
                let code = answer.expect_err("it was granted elsewhere").code();
                assert_eq!(code, tonic::Code::Unavailable, "a deposed leader answers");
            }
        }
        if let Some(Ok(renewal)) = renewal.answer() {
            let refused = matches!(renewal.result, Some(Renewal::Refusal(_)));
            assert!(refused, "a deposed leader renewed a lease: {renewal:?}");
        }
        deposed.heal(world);
        come_together(world);
    });
}

/// Adds a replica that follows the leader, and does not vote.
fn add_learner(world: &mut World) {
    world.add_machine(LEARNER);
    let leader = world.leader().expect("a quiet world has a leader");
    visitor::add_replica(world, leader, LEARNER);
    let follows = rest_until(world, 10_000, |world| world.applied(LEARNER) > 0);
    assert!(follows, "the learner gets no entries");
    world.rest(1_000);
}

/// The leader is cut off just after a write by chance, until another one leads, again and again, while clients write at the new
/// leader and read at the old one. When the links are healed, every connection resends what was lost at a time of its own.
// Guarantee: R-03
#[test]
fn reads_are_fresh_when_a_leader_is_cut_off_again_and_again() {
    let test = "reads_are_fresh_when_a_leader_is_cut_off_again_and_again";
    for_each_seed(test, Kind::Bare, 1..3, |world| {
        forms(world);
        for _ in 0..20 {
            world.rest(1_500);
            let leading: Vec<u64> = HOSTS
                .into_iter()
                .filter(|host| leads(world, *host))
                .collect();
            let [old] = leading[..] else { continue };
            ledger(world).propose(&world.machines[&old], &world.trace);
            let sent = world.rng.random_range(0..=5) * 2;
            world.rest(sent);
            world.isolate(old, true);
            let length = world.rng.random_range(900..1_400);
            let (heals, ends) = (world.now + length, world.now + length + 500);
            while world.now < ends {
                if world.now >= heals && world.now < heals + 2 {
                    world.isolate(old, false);
                }
                for host in HOSTS.into_iter().filter(|host| *host != old) {
                    if leads(world, host) && world.now % 20 < 2 {
                        ledger(world).propose(&world.machines[&host], &world.trace);
                    }
                }
                if world.now % 8 < 2 {
                    ledger(world).read(&world.machines[&old], &world.trace);
                }
                world.rest(2);
            }
            world.isolate(old, false);
        }
        world.run_for(2_000);
    });
}

/// A leader that was cut off, after the others had stored an entry and answered, and before their answers arrived. They have
/// elected another one since.
struct DeposedLeader {
    old: u64,
    next: u64,
    others: [u64; 2],
    /// The index of the last entry that the old leader had applied.
    held: u64,
}

impl DeposedLeader {
    /// Deposes the leader. `write` has it append an entry.
    fn new(world: &mut World, write: impl FnOnce(&mut World, u64)) -> Self {
        world.rest(1_000);
        let old = world.leader().expect("a quiet world has a leader");
        let mut others = HOSTS.into_iter().filter(|host| *host != old);
        let others = [others.next().unwrap(), others.next().unwrap()];
        for other in others {
            world.net.cut_towards(other, old);
            world.net.set_cut(other, LEARNER, true);
        }
        let held = world.applied(old);
        write(world, old);
        world.rest(24);
        for other in others {
            world.net.set_cut(old, other, true);
        }
        assert_eq!(world.applied(old), held, "an answer has arrived");
        let taken_over = |world: &World| others.into_iter().find(|host| leads(world, *host));
        let next = rest_until(world, 1_500, |world| taken_over(world).is_some());
        assert!(next, "nobody took over");
        let next = taken_over(world).unwrap();
        let begun = rest_until(world, 200, |world| world.applied(next) > held);
        assert!(begun, "the new leader applies nothing");
        assert!(leads(world, old), "the old leader was told of the new one");
        Self {
            old,
            next,
            others,
            held,
        }
    }

    /// Lets the two old answers arrive one after the other, each over the connection that the old leader had opened, and nothing
    /// else. The first commits the entry, and an append without entries tells the other replica of it.
    fn let_answers_arrive(&self, world: &mut World) {
        let [first, second] = self.others;
        world.rest(4);
        world.net.let_answer(first, self.old);
        let committed = rest_until(world, 40, |world| world.applied(self.old) > self.held);
        assert!(committed, "the first answer commits nothing");
        let trace = world.trace.clone();
        trace.add(format_args!("{} has the answer of {first}", self.old));
        world.net.let_answer(second, self.old);
        world.rest(40);
        trace.add(format_args!("{} has the answer of {second}", self.old));
        assert!(leads(world, self.old), "it was told of the other leader");
    }

    fn heal(&self, world: &mut World) {
        for other in self.others {
            world.net.set_cut(self.old, other, false);
            world.net.set_cut(LEARNER, other, false);
        }
    }
}

fn forms(world: &mut World) {
    let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 5);
    assert!(
        formed,
        "hardly anything is acknowledged within five seconds"
    );
}

fn leads(world: &World, host: u64) -> bool {
    world.machines[&host].leads()
}

fn ledger(world: &World) -> &Ledger {
    match &world.clients {
        Clients::Proposing(ledger) => ledger,
        Clients::Serving(_) => unreachable!("consensus alone has clients that propose"),
    }
}

/// Lets time pass, in which clients start no calls, until `condition` holds, at most `millis`. Returns whether it holds.
fn rest_until(world: &mut World, millis: u64, condition: impl Fn(&World) -> bool) -> bool {
    let end = world.now + millis;
    while world.now < end && !condition(world) {
        world.rest(2);
    }
    condition(world)
}
