//! Tokens and sessions are of use only to whom they were given.

use std::sync::Arc;

use synod_machine::{Answer, Command, Envelope, Outcome};
use synod_model::{
    AbortMigration, AcquireLease, Actor, CloseSession, ErrorKind, FailureClass, Fences,
    FencingToken, HolderIdentity, Identity, LeaseKey, NamePattern, OpenSession, ReleaseLease,
    ReleaseMigration, RenewLease, RequestId, SessionId, Transact, Ttl, WorkerStop,
};

use crate::cluster::{
    Cluster, Work, accepted, claim, complete, fail, join, progress, refused, request,
};
use crate::entry::of;
use crate::releases::gives_back;

const LEGAL: &str = "the story uses legal names";

/// Applies one command of this caller, as the request of a session if there is one.
fn send_by(
    cluster: &mut Cluster,
    actor: &Actor,
    request: Option<RequestId>,
    command: Command,
) -> Outcome {
    let envelope = Envelope {
        actor: Some(Arc::new(actor.clone())),
        request,
        command: Arc::new(command),
    };
    cluster.apply(vec![envelope]).outcomes.remove(0)
}

/// A member, under its own name alone.
fn member(id: &str) -> Actor {
    Actor {
        identity: Identity::parse(&format!("spiffe://synod/member/{id}")).expect(LEGAL),
        names: Some(vec![NamePattern::parse(id).expect(LEGAL)]),
    }
}

fn admin() -> Actor {
    Actor {
        identity: Identity::parse("spiffe://synod/admin").expect(LEGAL),
        names: None,
    }
}

/// The caller takes a lease under this name, and gets its token.
fn acquires(cluster: &mut Cluster, actor: &Actor, holder: &str) -> (LeaseKey, FencingToken) {
    let key = LeaseKey::parse("default/leader").expect(LEGAL);
    let acquire = AcquireLease {
        key: key.clone(),
        holder: HolderIdentity::parse(holder).expect(LEGAL),
        ttl: Ttl::DEFAULT,
        wait: None,
        if_member: None,
    };
    let held = send_by(cluster, actor, None, Command::AcquireLease(acquire));
    match accepted(held) {
        Answer::LeaseHeld { token, .. } => (key, token),
        other => panic!("the lease is free: {other:?}"),
    }
}

/// A transaction that does nothing, behind the fence of a lease.
fn fenced(key: &LeaseKey, token: FencingToken) -> Command {
    Command::Transact(Transact {
        fences: Fences {
            if_member: None,
            if_lease: Some((key.clone(), token)),
        },
        compares: Vec::new(),
        operations: Vec::new(),
        reads: Vec::new(),
    })
}

/// The caller opens a session.
fn opens(cluster: &mut Cluster, actor: &Actor) -> SessionId {
    let open = Command::OpenSession(OpenSession {});
    match accepted(send_by(cluster, actor, None, open)) {
        Answer::SessionOpened(session) => session,
        other => panic!("a session is opened: {other:?}"),
    }
}

/// A cluster in which "a" has claimed a migration.
fn claimed() -> (Cluster, Work) {
    let mut cluster = Cluster::upgraded();
    cluster.starts("server", &[of("pods")]);
    cluster.lets_unknown_writes_land("pods");
    let id = cluster.open("pods").id;
    let answer = accepted(send_by(
        &mut cluster,
        &member("a"),
        None,
        claim(&id, "a_worker"),
    ));
    let Answer::MigrationClaimed { token, progress } = answer else {
        panic!("a claim answers its token, not {answer:?}")
    };
    let work = Work {
        id,
        token,
        progress,
    };
    (cluster, work)
}

// Guarantee: A-03, TM-19
#[test]
fn a_claim_is_used_by_its_worker_and_by_admins_alone() {
    let commands: [fn(&Work) -> Command; 4] = [
        |work| progress(work, 1),
        complete,
        |work| fail(work, FailureClass::Forbidden),
        gives_back,
    ];
    for command in commands {
        let (mut cluster, work) = claimed();
        let outcome = send_by(&mut cluster, &member("b"), None, command(&work));
        let refusal = refused(outcome, ErrorKind::PermissionDenied);
        assert!(
            refusal.message.contains("\"a_worker\" has claimed"),
            "{refusal}"
        );
        accepted(send_by(&mut cluster, &member("a"), None, command(&work)));
        let (mut cluster, work) = claimed();
        accepted(send_by(&mut cluster, &admin(), None, command(&work)));
    }
}

/// Everybody who may read sees the token of a claim that has ended, since its drain is shown.
#[test]
fn the_drain_of_a_claim_is_lifted_by_its_worker_and_by_admins_alone() {
    for lifts in [member("a"), admin()] {
        let (mut cluster, Work { id, token, .. }) = claimed();
        let abort = AbortMigration { id: id.clone() };
        accepted(cluster.send(Command::AbortMigration(abort)));
        let answered = Command::ReleaseMigration(ReleaseMigration {
            id,
            token,
            stop: Some(WorkerStop::AllAnswered),
        });
        let stranger = send_by(&mut cluster, &member("b"), None, answered.clone());
        let refusal = refused(stranger, ErrorKind::PermissionDenied);
        assert!(refusal.message.contains("\"a_worker\""), "{refusal}");
        assert!(cluster.kept("pods").claim_drains.contains_key(&token));
        accepted(send_by(&mut cluster, &lifts, None, answered));
        assert!(cluster.kept("pods").claim_drains.is_empty());
    }
}

// Guarantee: A-03, TM-19
#[test]
fn a_lease_is_renewed_and_fences_for_its_holder_alone() {
    let mut cluster = Cluster::formed();
    let (key, token) = acquires(&mut cluster, &member("a"), "a/1");
    let renew = Command::RenewLease(RenewLease {
        key: key.clone(),
        token,
    });
    for command in [renew, fenced(&key, token)] {
        let outcome = send_by(&mut cluster, &member("b"), None, command.clone());
        let refusal = refused(outcome, ErrorKind::PermissionDenied);
        assert!(refusal.message.contains("\"a/1\" holds lease"), "{refusal}");
        accepted(send_by(&mut cluster, &member("a"), None, command));
    }
}

// Guarantee: A-03
#[test]
fn a_token_that_counts_no_more_is_stale_and_a_retry_hears_what_came_of_it() {
    let mut cluster = Cluster::formed();
    let (key, token) = acquires(&mut cluster, &member("a"), "a");
    let id = Some(request(opens(&mut cluster, &member("a")), 1, 1));
    let first = send_by(&mut cluster, &member("a"), id, fenced(&key, token));
    assert!(first.result.is_ok(), "{first:?}");
    let release = Command::ReleaseLease(ReleaseLease {
        key: key.clone(),
        holder: HolderIdentity::parse("a").expect(LEGAL),
        token: None,
    });
    accepted(send_by(&mut cluster, &member("a"), None, release));
    acquires(&mut cluster, &member("b"), "b");
    let again = send_by(&mut cluster, &member("a"), id, fenced(&key, token));
    assert_eq!(again, first);
    let renew = Command::RenewLease(RenewLease { key, token });
    let stale = send_by(&mut cluster, &member("a"), None, renew);
    refused(stale, ErrorKind::StaleEpoch);
}

// Guarantee: A-03, TM-19
#[test]
fn a_session_is_used_by_who_has_opened_it_alone() {
    let mut cluster = Cluster::formed();
    let session = opens(&mut cluster, &member("a"));
    let first = || Command::Join(join("server-1", "first"));
    let id = request(session, 1, 1);
    for actor in [member("b"), admin()] {
        refused(
            send_by(&mut cluster, &actor, Some(id), first()),
            ErrorKind::PermissionDenied,
        );
        let close = Command::CloseSession(CloseSession { session });
        refused(
            send_by(&mut cluster, &actor, None, close),
            ErrorKind::PermissionDenied,
        );
    }
    // Nothing is kept of what was refused, and the owner gets its own outcome.
    let outcome = send_by(&mut cluster, &member("a"), Some(id), first());
    assert!(outcome.changed);
    assert_eq!(
        send_by(&mut cluster, &member("a"), Some(id), first()),
        outcome
    );
    refused(
        send_by(&mut cluster, &member("b"), Some(id), first()),
        ErrorKind::PermissionDenied,
    );
}

#[test]
fn a_session_of_nobody_in_particular_is_everybodys() {
    let mut cluster = Cluster::formed();
    let session: SessionId = cluster.opens_session();
    let join = Command::Join(join("server-1", "first"));
    accepted(send_by(
        &mut cluster,
        &member("a"),
        Some(request(session, 1, 1)),
        join,
    ));
}
