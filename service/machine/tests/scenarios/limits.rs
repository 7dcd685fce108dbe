//! Limits that are settings: each one below, at and one above.

use std::time::Duration;

use synod_machine::Command;
use synod_model::limits::STATE_RESERVE_BYTES;
use synod_model::{Current, ErrorKind, Revision, SettingsPatch, UpdateSettings};

use crate::cluster::{Cluster, TTL, accepted, forget, join, refused, report};
use crate::entry::{Says, of};

#[test]
fn members_are_limited_and_a_replacement_needs_no_room() {
    let mut cluster = Cluster::with(SettingsPatch {
        members_max: Some(3),
        ..SettingsPatch::default()
    });
    let a = cluster.joins("a");
    cluster.joins("b");
    cluster.joins("c");
    let one_more = || Command::Join(join("d", "first"));
    refused(cluster.send(one_more()), ErrorKind::Quota);
    let a = cluster.restarts(&a);
    cluster.join("b", "b-first");
    cluster.leaves(&a);
    accepted(cluster.send(one_more()));
}

#[test]
fn sessions_are_limited() {
    let mut cluster = Cluster::with(SettingsPatch {
        sessions_max: Some(2),
        ..SettingsPatch::default()
    });
    cluster.opens_session();
    cluster.opens_session();
    let one_more = || Command::OpenSession(synod_model::OpenSession {});
    refused(cluster.send(one_more()), ErrorKind::Quota);
    cluster.set(SettingsPatch {
        sessions_max: Some(3),
        ..SettingsPatch::default()
    });
    accepted(cluster.send(one_more()));
}

// Guarantee: M-08
#[test]
fn a_full_state_takes_no_new_session_and_keeps_members_alive() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let quota = |bytes: u64| SettingsPatch {
        state_quota_bytes: Some(bytes),
        ..SettingsPatch::default()
    };
    // The change of the setting is in the bytes of the state: its number is as long as those below.
    cluster.set(quota(u64::MAX));
    cluster.set(quota(u64::MAX - 1));
    let one_more = cluster.state.clone();
    cluster.set(quota(STATE_RESERVE_BYTES));
    let used = cluster.state.bytes() + STATE_RESERVE_BYTES;
    let open = || Command::OpenSession(synod_model::OpenSession {});
    for (bytes, full) in [(used - 1, true), (used, true), (used + 1, false)] {
        cluster.state = one_more.clone();
        cluster.set(quota(bytes));
        assert_eq!(cluster.state.is_full(), full);
        if full {
            refused(cluster.send(open()), ErrorKind::Quota);
        } else {
            accepted(cluster.send(open()));
        }
    }
    // Renewals of members use the reserve.
    cluster.set(quota(used));
    cluster.renews(&a);
    cluster.reports(&a, &kinds(0..2));
    let b = cluster.joins("b");
    cluster.leaves(&b);
    cluster.set(quota(u64::MAX));
    accepted(cluster.send(open()));
}

// Guarantee: V-15
#[test]
fn a_state_beyond_its_quota_takes_what_it_knows_and_nothing_new() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &kinds(0..2));
    let quota = |bytes: u64| SettingsPatch {
        state_quota_bytes: Some(bytes),
        ..SettingsPatch::default()
    };
    cluster.set(quota(u64::MAX));
    cluster.set(quota(u64::MAX - 1));
    let before = cluster.state.clone();
    // The change of the setting is in the bytes of the state: its number is as long as those below.
    cluster.set(quota(1_000));
    let used = cluster.state.bytes();
    for (bytes, over) in [(used - 1, true), (used, true), (used + 1, false)] {
        cluster.state = before.clone();
        cluster.set(quota(bytes));
        assert_eq!(cluster.state.is_over_quota(), over);
        let new_member = cluster.state.clone();
        let joined = cluster.send(Command::Join(join("b", "first")));
        cluster.state = new_member;
        let reported = cluster.send(report(&a, &kinds(1..3), false));
        if over {
            refused(joined, ErrorKind::Quota);
            let refusal = refused(reported, ErrorKind::Quota);
            assert!(refusal.message.starts_with("entries[1].resource: "));
        } else {
            accepted(joined);
            accepted(reported);
        }
    }
    cluster.set(quota(0));
    let b = cluster.restarts(&a);
    cluster.reports(&b, &kinds(0..2));
    cluster.renews(&b);
    cluster.leaves(&b);
    // Forgetting a resource frees room.
    cluster.pass(Duration::from_secs(70) + TTL);
    for number in 0..3 {
        accepted(cluster.send(forget(&format!("example.com.kinds{number}"))));
    }
    let present = cluster.state.present();
    assert_eq!(present.storage_states(None).count(), 0);
}

fn kinds(numbers: std::ops::Range<usize>) -> Vec<Says> {
    numbers
        .map(|i| of(&format!("example.com.kinds{i}")))
        .collect()
}

#[test]
fn what_a_member_reports_is_limited_however_many_reports_it_takes() {
    let most = 4;
    let mut cluster = Cluster::with(SettingsPatch {
        report_entries_max: Some(4),
        ..SettingsPatch::default()
    });
    let a = cluster.joins("a");
    for within in [most - 1, most] {
        cluster.reports_only(&a, &kinds(0..within));
    }
    refused(
        cluster.send(report(&a, &kinds(0..most + 1), true)),
        ErrorKind::TooLarge,
    );
    refused(
        cluster.send(report(&a, &kinds(4..5), false)),
        ErrorKind::TooLarge,
    );
    // A repeated report of the same resources adds nothing.
    cluster.reports(&a, &kinds(1..3));
    cluster.reports_only(&a, &kinds(4..8));
    // Entries of the previous epoch do not count against the first report of the next.
    let a = cluster.restarts(&a);
    cluster.reports(&a, &kinds(0..4));
    // Nor do those of other members.
    cluster.starts("b", &kinds(0..4));
}

#[test]
fn settings_change_under_a_compare_and_not_without_need() {
    let mut cluster = Cluster::formed();
    let update = |members: u32, if_revision: Option<Revision>| {
        Command::UpdateSettings(UpdateSettings {
            patch: SettingsPatch {
                members_max: Some(members),
                ..SettingsPatch::default()
            },
            if_revision,
        })
    };
    let first = cluster.state.settings().revision;
    assert_eq!(first, Revision::new(1));
    let outcome = cluster.send(update(5, Some(first)));
    assert!(outcome.changed);
    assert_eq!(cluster.state.settings().members_max, 5);
    assert_eq!(cluster.state.settings().revision, outcome.revision);

    let refusal = refused(cluster.send(update(6, Some(first))), ErrorKind::Conflict);
    let present = (**cluster.state.settings()).clone();
    assert_eq!(
        refusal.current.as_deref(),
        Some(&Current::Settings(present))
    );
    assert_eq!(cluster.state.settings().members_max, 5);

    // An equal value changes nothing, not even the revision of the settings.
    let outcome = cluster.send(update(5, None));
    assert!(!outcome.changed);
    accepted(outcome);
    assert!(cluster.send(update(6, None)).changed);
}
