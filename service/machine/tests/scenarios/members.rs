//! Members: joining, renewing, being replaced, and leaving.

use std::time::Duration;

use synod_machine::{Answer, Change, Command, Expire, Holder};
use synod_model::{Epoch, ErrorKind, Join, LogTime, MemberId, ObjectKind, Phase, Revision, Ttl};

use crate::cluster::{
    Cluster, Server, TTL, accepted, adopt, join, leave, ready, refused, renew, report,
};
use crate::entry::{of, release};

const TICK: Duration = Duration::from_millis(1);

fn is_there(cluster: &Cluster, server: &Server) -> bool {
    let member = cluster.state.present().member(&server.id);
    member.is_some_and(|member| member.epoch == server.epoch)
}

/// Every command that a member sends after it has joined.
fn all_commands(server: &Server) -> Vec<Command> {
    vec![
        renew(server),
        ready(server),
        report(server, &[release::second()], true),
        adopt(server, "pods", Revision::new(3)),
        leave(server, true),
    ]
}

impl Cluster {
    /// The deadline of a member, lifts included.
    pub(crate) fn deadline_of(&self, id: &MemberId) -> Option<LogTime> {
        self.state.deadline(&Holder::Member(id.clone()))
    }
}

#[test]
fn an_epoch_is_the_revision_of_the_join() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    assert_eq!(a.epoch, Epoch::new(cluster.revision()));
    let member = cluster.state.present().member(&a.id).unwrap();
    assert_eq!((member.phase, member.reported), (Phase::Joining, false));
    assert_eq!(member.metadata.create_revision, cluster.revision());
    assert_eq!(member.metadata.created, cluster.wall());
}

#[test]
fn the_same_instance_gets_its_epoch_back_and_its_deadline_moved() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let revision = cluster.revision();
    cluster.pass(TTL - TICK);
    let again = cluster.join("a", &a.instance);
    assert_eq!(again.epoch, a.epoch);
    assert_eq!(
        cluster.revision(),
        revision,
        "nothing that can be seen changed"
    );
    assert_eq!(cluster.deadline_of(&a.id), Some(cluster.now().after(TTL)));
    assert!(cluster.state.present().member(&a.id).unwrap().reported);
}

#[test]
fn the_same_instance_can_change_what_it_says_of_itself() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let longer = Ttl::from_millis(60_000).unwrap();
    let outcome = cluster.send(Command::Join(Join {
        ttl: longer,
        ..join("a", &a.instance)
    }));
    assert!(outcome.changed);
    let answer = Answer::Joined {
        epoch: a.epoch,
        ttl: longer,
    };
    assert_eq!(accepted(outcome), answer);
    let member = cluster.state.present().member(&a.id).unwrap();
    assert_eq!((member.ttl, member.metadata.generation), (longer, 2));
    let deadline = cluster.now().after(longer.duration());
    assert_eq!(cluster.deadline_of(&a.id), Some(deadline));
}

// Guarantee: M-03
#[test]
fn a_re_join_with_a_shorter_ttl_takes_nothing_back_of_what_was_promised() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let promised = cluster.now().after(TTL);
    let shorter = Ttl::from_millis(1_000).unwrap();
    accepted(cluster.send(Command::Join(Join {
        ttl: shorter,
        ..join("a", &a.instance)
    })));
    assert_eq!(cluster.deadline_of(&a.id), Some(promised));
    // Nor does a renewal, which from now on applies the shorter TTL.
    cluster.pass(Duration::from_secs(2));
    cluster.renews(&a);
    assert_eq!(cluster.deadline_of(&a.id), Some(promised));
    cluster.restart_from_checkpoint();
    cluster.pass(TTL - Duration::from_secs(2) - TICK);
    assert!(!cluster.expires().changed);
    cluster.renews(&a);
    let renewed = cluster.now().after(shorter.duration());
    assert_eq!(cluster.deadline_of(&a.id), Some(renewed));
    cluster.pass(shorter.duration());
    assert!(cluster.expires().changed);
}

#[test]
fn a_re_join_with_a_shorter_ttl_takes_nothing_back_of_what_a_new_leader_gave() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    cluster.pass(TTL / 2);
    cluster.elect();
    let other = cluster.joins("other");
    let lifted = cluster.now().after(TTL);
    assert_eq!(cluster.deadline_of(&a.id), Some(lifted));
    accepted(cluster.send(Command::Join(Join {
        ttl: Ttl::from_millis(1_000).unwrap(),
        ..join("a", &a.instance)
    })));
    assert_eq!(cluster.deadline_of(&a.id), Some(lifted));
    assert_eq!(cluster.deadline_of(&other.id), Some(lifted));
}

// Guarantee: M-03
#[test]
fn who_is_replaced_after_a_shorter_re_join_drains_for_as_long_as_it_was_promised() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let promised = cluster.now().after(TTL);
    let shorter = Ttl::from_millis(1_000).unwrap();
    accepted(cluster.send(Command::Join(Join {
        ttl: shorter,
        ..join("a", &a.instance)
    })));
    accepted(cluster.send(Command::Join(Join {
        ttl: shorter,
        ..join("a", "another")
    })));
    let grace = cluster.state.settings().write_grace;
    let drains = cluster.kept("pods").drains;
    assert!(!drains.is_empty());
    assert!(drains.values().all(|until| *until == promised.after(grace)));
    // The new epoch was promised only its own TTL.
    let own = cluster.now().after(shorter.duration());
    assert_eq!(cluster.deadline_of(&a.id), Some(own));
}

#[test]
fn another_instance_replaces_the_member_and_fences_it_for_good() {
    let mut cluster = Cluster::formed();
    let old = cluster.starts("a", &[release::second()]);
    let new = cluster.restarts(&old);
    assert!(new.epoch > old.epoch);
    for command in all_commands(&old) {
        let refusal = refused(cluster.send(command), ErrorKind::StaleEpoch);
        assert_eq!(refusal.metadata["current_epoch"], new.epoch.to_string());
    }
    assert!(is_there(&cluster, &new));
    let member = cluster.state.present().member(&new.id).unwrap();
    assert_eq!((member.phase, member.reported), (Phase::Joining, false));
    assert_eq!(member.metadata.generation, 2);
}

#[test]
fn a_stranger_changes_nothing() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let stranger = Server {
        id: MemberId::parse("stranger").unwrap(),
        ..a.clone()
    };
    let from_the_future = Server {
        epoch: Epoch::new(Revision::new(1_000)),
        ..a.clone()
    };
    for server in [&stranger, &from_the_future] {
        for command in all_commands(server) {
            refused(cluster.send(command), ErrorKind::NotAMember);
        }
    }
    assert!(is_there(&cluster, &a));
}

#[test]
fn who_has_expired_is_no_member_and_joins_under_a_new_epoch() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.pass(TTL);
    cluster.expires();
    for command in all_commands(&a) {
        refused(cluster.send(command), ErrorKind::NotAMember);
    }
    let again = cluster.join("a", &a.instance);
    assert!(again.epoch > a.epoch);
    assert!(!cluster.state.present().member(&a.id).unwrap().reported);
}

// Guarantee: M-06
#[test]
fn a_re_join_that_names_its_lost_epoch_does_not_push_out_who_came_later() {
    let mut cluster = Cluster::formed();
    let first = cluster.joins("a");
    cluster.pass(TTL);
    cluster.expires();
    let second = cluster.join("a", "another");
    let rejoin = |server: &Server| {
        Command::Join(Join {
            lost_epoch: Some(server.epoch),
            ..join("a", &server.instance)
        })
    };
    let refusal = refused(cluster.send(rejoin(&first)), ErrorKind::StaleEpoch);
    assert!(
        refusal.message.contains("instance \"another\""),
        "{refusal}"
    );
    assert!(is_there(&cluster, &second));

    // When the later process is gone too, the id is free.
    cluster.leaves(&second);
    accepted(cluster.send(rejoin(&first)));
}

#[test]
fn a_re_join_of_the_very_epoch_that_is_there_is_no_stranger() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    // The process believed that its epoch was lost, and it was not.
    let outcome = cluster.send(Command::Join(Join {
        lost_epoch: Some(a.epoch),
        ..join("a", &a.instance)
    }));
    let answer = Answer::Joined {
        epoch: a.epoch,
        ttl: Ttl::DEFAULT,
    };
    assert_eq!(accepted(outcome), answer);
}

#[test]
fn a_restart_with_an_unchanged_binary_changes_no_storage_version() {
    let mut cluster = Cluster::formed();
    let says = [
        release::second(),
        of("apps.deployments").decodes("v1 v2").encodes("v2"),
    ];
    cluster.starts("b", &says);
    let a = cluster.starts("a", &says);
    let before: Vec<_> = cluster.state.present().storage_versions(None).collect();
    let revision = cluster.revision();
    let a = cluster.is_replaced(&a, &says);
    let after: Vec<_> = cluster.state.present().storage_versions(None).collect();
    assert_eq!(before, after);
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v1"));
    assert!(cluster.state.present().member(&a.id).unwrap().reported);
    // A watcher of storage versions is not woken.
    let mut next = revision;
    while let Some(events) = cluster.state.history().next_after(next).unwrap() {
        let wakes = |change: &Change| change.object.kind() == ObjectKind::StorageVersion;
        assert!(!events.changes.iter().any(wakes), "{events:?}");
        next = events.revision;
    }
    assert_eq!(next, cluster.revision());
}

#[test]
fn the_first_report_of_an_epoch_takes_the_place_of_all_older_entries() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods"), of("apps.deployments")]);
    let a = cluster.restarts(&a);
    assert!(cluster.version("apps.deployments").is_some());
    cluster.reports(&a, &[of("pods")]);
    assert!(cluster.version("apps.deployments").is_none());
    assert!(cluster.version("pods").is_some());
    // A later report adds to the entries.
    cluster.reports(&a, &[of("apps.deployments")]);
    assert!(cluster.version("pods").is_some());
    // Unless it says that it names all entries.
    cluster.reports_only(&a, &[of("apps.deployments")]);
    assert!(cluster.version("pods").is_none());
}

#[test]
fn a_member_is_ready_when_it_says_so() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    assert!(cluster.send(ready(&a)).changed);
    let member = cluster.state.present().member(&a.id).unwrap();
    assert_eq!(member.phase, Phase::Ready);
    assert_eq!(member.metadata.resource_version, cluster.revision());
    assert!(!cluster.send(ready(&a)).changed, "it said so before");
}

#[test]
fn a_member_lives_until_the_millisecond_of_its_deadline() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let expire = Command::Expire(Expire {
        members: [(a.id.clone(), a.epoch)].into(),
        ..Expire::default()
    });
    cluster.pass(TTL - TICK);
    assert!(!cluster.send(expire.clone()).changed);
    assert!(is_there(&cluster, &a));
    cluster.pass(TICK);
    assert!(cluster.send(expire).changed);
    assert!(!is_there(&cluster, &a));
}

// Guarantee: M-04
#[test]
fn an_expiry_loses_against_a_renewal_earlier_in_the_log() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    cluster.pass(TTL);
    let due = cluster.due();
    assert_eq!(due.members.len(), 1, "the leader saw it past its deadline");
    let applied = cluster.send_all(vec![renew(&a), Command::Expire(due.clone())]);
    assert!(applied.outcomes.iter().all(|outcome| !outcome.changed));
    assert!(is_there(&cluster, &a));

    // In the opposite order the expiry wins, and the member is told.
    cluster.pass(TTL);
    let mut applied = cluster.send_all(vec![Command::Expire(due), renew(&a)]);
    refused(applied.outcomes.remove(1), ErrorKind::NotAMember);
}

#[test]
fn an_expiry_does_not_reach_a_later_epoch() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    cluster.pass(TTL);
    let due = cluster.due();
    cluster.leaves(&a);
    let again = cluster.joins("a");
    cluster.pass(TTL);
    assert!(!cluster.send(Command::Expire(due)).changed);
    assert!(is_there(&cluster, &again));
}

#[test]
fn a_renewal_moves_no_revision_and_wakes_no_watcher() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let revision = cluster.revision();
    cluster.pass(TTL / 2);
    let applied = cluster.send_all(vec![renew(&a), renew(&a)]);
    assert!(applied.events.is_empty());
    assert_eq!(cluster.revision(), revision);
    assert_eq!(cluster.deadline_of(&a.id), Some(cluster.now().after(TTL)));
}

// Guarantee: M-01
#[test]
fn a_new_leader_gives_everybody_a_whole_ttl() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    cluster.pass(TTL - TICK);
    let b = cluster.joins("b");
    cluster.elect();
    let outcome = cluster.expires();
    assert!(!outcome.changed);
    let lifted = cluster.now().after(TTL);
    assert_eq!(cluster.deadline_of(&a.id), Some(lifted));
    assert_eq!(cluster.deadline_of(&b.id), Some(lifted));

    cluster.pass(TTL - TICK);
    assert!(!cluster.expires().changed);
    cluster.pass(TICK);
    assert!(cluster.expires().changed);
    assert_eq!(cluster.state.member_count(), 0);
}

#[test]
fn a_renewal_after_a_lift_counts_from_the_renewal() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let b = cluster.joins("b");
    cluster.pass(TTL / 3);
    cluster.elect();
    cluster.renews(&b);
    let lifted = cluster.now().after(TTL);
    cluster.pass(TTL / 3);
    cluster.renews(&a);
    let renewed = cluster.now().after(TTL);
    assert_eq!(cluster.deadline_of(&a.id), Some(renewed));
    assert_eq!(cluster.deadline_of(&b.id), Some(lifted));
}

#[test]
fn a_lift_shortens_no_longer_deadline() {
    let mut cluster = Cluster::formed();
    let day = Ttl::from_millis(86_400_000).unwrap();
    accepted(cluster.send(Command::Join(Join {
        ttl: day,
        ..join("a", "first")
    })));
    let a = MemberId::parse("a").unwrap();
    let shorter = Join {
        ttl: Ttl::from_millis(1_000).unwrap(),
        ..join("b", "first")
    };
    accepted(cluster.send(Command::Join(shorter)));
    cluster.pass(Duration::from_millis(500));
    cluster.elect();
    cluster.joins("c");
    let b = MemberId::parse("b").unwrap();
    let lifted = |ttl: Duration| Some(cluster.now().after(ttl));
    assert_eq!(cluster.deadline_of(&a), lifted(day.duration()));
    assert_eq!(cluster.deadline_of(&b), lifted(Duration::from_secs(1)));
}

#[test]
fn log_time_does_not_go_back_with_the_leaders_stamp() {
    let mut cluster = Cluster::formed();
    cluster.pass(TTL);
    cluster.joins("a");
    let entry = synod_machine::LogEntry {
        log_time: LogTime::from_millis(1),
        lift_deadlines: true,
        wall: cluster.wall(),
        commands: Vec::new(),
    };
    cluster.state.apply(&entry);
    assert_eq!(cluster.state.log_time(), cluster.now());
    let a = MemberId::parse("a").unwrap();
    assert_eq!(cluster.deadline_of(&a), Some(cluster.now().after(TTL)));
}

#[test]
fn who_goes_takes_everything_along_in_one_command() {
    for leaves in [true, false] {
        let mut cluster = Cluster::formed();
        let names = ["pods", "apps.deployments", "batch.jobs"];
        let a = cluster.starts("a", &names.map(of));
        let b = cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
        assert_eq!(cluster.agreed("pods"), None);
        let revision = cluster.revision();
        cluster.pass(TTL);
        cluster.renews(&b);
        if leaves {
            cluster.leaves(&a);
        } else {
            cluster.expires();
        }
        assert_eq!(cluster.revision(), revision.next());
        assert!(!is_there(&cluster, &a));
        assert!(cluster.version("apps.deployments").is_none());
        assert!(cluster.version("batch.jobs").is_none());
        assert_eq!(cluster.agreed("pods").as_deref(), Some("v2"));
        let events = cluster
            .state
            .history()
            .next_after(revision)
            .unwrap()
            .unwrap();
        // Three storage versions, three states, a migration that begins and two that end, and the member.
        assert_eq!(events.changes.len(), 10);
    }
}

// Guarantee: M-05
#[test]
fn one_expiry_removes_many_members_at_one_revision() {
    let mut cluster = Cluster::formed();
    for id in ["a", "b", "c"] {
        cluster.starts(id, &[release::second()]);
    }
    let revision = cluster.revision();
    cluster.pass(TTL);
    let outcome = cluster.expires();
    assert_eq!(outcome.revision, revision.next());
    assert_eq!(cluster.state.member_count(), 0);
    let line = cluster
        .state
        .agreements(&crate::entry::resource("pods"))
        .last()
        .unwrap();
    assert_eq!(line.cause, None, "it was no single member's");
    assert_eq!((line.to.as_ref(), line.revision), (None, outcome.revision));
}
