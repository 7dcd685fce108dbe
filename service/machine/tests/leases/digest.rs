//! Every field of every row of leases is part of the digest.

use std::sync::Arc;

use synod_machine::{Row, State};
use synod_model::{
    Epoch, FencingToken, Hold, Lease, LeaseCandidate, MemberId, Revision, SemanticVersion,
    Strategy, Ticket, Ttl, Uid, Waiter, WallTime,
};

use crate::stage::{Stage, accepted, acquire_as, holder, key, stand};

const OTHER: Revision = Revision::new(987_654);

/// A state with a row of every kind, and every optional field set somewhere.
fn rich() -> Vec<Row> {
    let mut stage = Stage::formed();
    let epoch = stage.joins("m", "one");
    stage.takes("lock", "z");
    accepted(stage.send(acquire_as("lock", "a", "m", epoch)));
    accepted(stage.send(acquire_as("lock", "b", "m", epoch)));
    stage.releases("lock", "z");
    accepted(stage.send(stand("leader", "new", "1.32.0", "1.32.0")));
    accepted(stage.send(stand("leader", "old", "1.31.0", "1.31.0")));
    stage.state.rows().collect()
}

/// Applies each change to each row by itself, and checks that the digest no longer fits.
fn every_change_counts(changes: &[fn(&mut Row)]) {
    let rows = rich();
    State::from_rows(rows.clone()).unwrap();
    for (number, change) in changes.iter().enumerate() {
        let mut changed_some = false;
        for i in 0..rows.len() {
            let mut changed = rows.clone();
            change(&mut changed[i]);
            if changed[i] == rows[i] {
                continue;
            }
            changed_some = true;
            let fault = State::from_rows(changed)
                .map(|_| ())
                .unwrap_err()
                .to_string();
            assert!(fault.contains("its digest is"), "change {number}: {fault}");
        }
        assert!(changed_some, "change {number} changed nothing");
    }
}

fn lease(row: &mut Row, change: fn(&mut Lease)) {
    if let Row::Lease(lease) = row {
        change(Arc::make_mut(lease));
    }
}

fn hold(row: &mut Row, change: fn(&mut Hold)) {
    if let Row::Lease(lease) = row
        && let Some(hold) = &mut Arc::make_mut(lease).hold
    {
        change(hold);
    }
}

fn waiter(row: &mut Row, change: fn(&mut Waiter)) {
    if let Row::LeaseWaiter(_, _, waiter) = row {
        change(Arc::make_mut(waiter));
    }
}

fn candidate(row: &mut Row, change: fn(&mut LeaseCandidate)) {
    if let Row::LeaseCandidate(candidate) = row {
        change(Arc::make_mut(candidate));
    }
}

#[test]
fn of_leases() {
    every_change_counts(&[
        |row| lease(row, |it| it.hold = None),
        |row| lease(row, |it| it.transitions += 1),
        |row| lease(row, |it| it.preferred = None),
        |row| lease(row, |it| it.preferred = Some(holder("x"))),
        |row| lease(row, |it| it.metadata.uid = Uid::from_bytes([9; 16])),
        |row| lease(row, |it| it.metadata.resource_version = OTHER),
        |row| lease(row, |it| it.metadata.create_revision = OTHER),
        |row| lease(row, |it| it.metadata.generation += 1),
        |row| lease(row, |it| it.metadata.created = WallTime::from_millis(1)),
        |row| hold(row, |it| it.holder = holder("x")),
        |row| hold(row, |it| it.token = FencingToken::new(OTHER)),
        |row| hold(row, |it| it.ticket = Some(Ticket::new(OTHER))),
        |row| hold(row, |it| it.ticket = None),
        |row| hold(row, |it| it.ttl = Ttl::MAX),
        |row| hold(row, |it| it.member = None),
        |row| {
            hold(row, |it| {
                it.member = Some((MemberId::parse("m").unwrap(), Epoch::new(OTHER)));
            });
        },
        |row| hold(row, |it| it.acquired = WallTime::from_millis(1)),
    ]);
}

#[test]
fn of_waiters_and_candidates() {
    every_change_counts(&[
        |row| {
            if let Row::LeaseWaiter(_, ticket, _) = row {
                *ticket = Ticket::new(OTHER);
            }
        },
        |row| waiter(row, |it| it.holder = holder("x")),
        |row| waiter(row, |it| it.ttl = Ttl::MAX),
        |row| waiter(row, |it| it.wait = Ttl::MAX),
        |row| waiter(row, |it| it.member = None),
        |row| candidate(row, |it| it.lease = key("x")),
        |row| candidate(row, |it| it.identity = holder("x")),
        |row| {
            candidate(row, |it| {
                it.binary_version = SemanticVersion::parse("1.39.0").unwrap();
            });
        },
        |row| candidate(row, |it| it.emulation_version = None),
        |row| {
            candidate(row, |it| {
                it.strategy = Strategy::parse("example.com/mine").unwrap();
            });
        },
        |row| candidate(row, |it| it.ttl = Ttl::MAX),
        |row| candidate(row, |it| it.metadata.generation += 1),
    ]);
}

#[test]
fn a_waiter_without_its_lease_is_no_state() {
    let mut rows = rich();
    rows.retain(|row| !matches!(row, Row::Lease(_)));
    let fault = State::from_rows(rows).map(|_| ()).unwrap_err();
    assert!(
        fault
            .to_string()
            .contains("a waiter of lease \"default/lock\"")
    );
}
