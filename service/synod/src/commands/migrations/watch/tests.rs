//! Tests of the lines that show a migration's progress.

use std::time::Duration;

use synod_client::{AbortCause, Migration, MigrationPhase};
use tokio::time::Instant;

use super::{Speed, ended, line};
use crate::exit::Exit;
use crate::tests::stand_in::fixture;

fn running() -> Migration {
    let migrations = fixture::part().migrations.migrations;
    Migration::try_from(migrations.into_iter().next().unwrap()).unwrap()
}

#[test]
fn a_line_tells_rate_and_time_left_of_one_that_runs() {
    let migration = running();
    assert_eq!(
        line(&migration, Some(240.0)),
        "jobs.batch-41  running  1200/10000 done  240/s  36s left  by worker-a\n"
    );
    let unknown = Migration {
        estimate: None,
        ..migration
    };
    assert_eq!(
        line(&unknown, None),
        "jobs.batch-41  running  1200 done  by worker-a\n"
    );
}

#[test]
fn the_rate_is_that_of_one_pass() {
    let mut speed = Speed::default();
    let begin = Instant::now();
    assert_eq!(speed.per_second(), None);
    speed.take(100, begin);
    assert_eq!(speed.per_second(), None);
    speed.take(600, begin + Duration::from_secs(5));
    assert_eq!(speed.per_second(), Some(100.0));
    // Another worker has begun again.
    speed.take(0, begin + Duration::from_secs(6));
    assert_eq!(speed.per_second(), None);
}

#[test]
fn watching_ends_when_nothing_more_happens_by_itself() {
    let migration = running();
    assert_eq!(ended(&migration), None);
    let aborted = Migration {
        phase: MigrationPhase::Aborted,
        claim: None,
        aborted: Some(AbortCause::NoAgreement),
        ..migration.clone()
    };
    assert_eq!(ended(&aborted), Some(Exit::Failure));
    assert!(line(&aborted, None).ends_with("no agreement any more\n"));
    let done = Migration {
        phase: MigrationPhase::Succeeded,
        claim: None,
        ..migration
    };
    assert_eq!(ended(&done), Some(Exit::Ok));
}
