//! Writes every reason against safety and every assumption into one document, `docs/REASONS.md`, each with the test that
//! raises it.

use std::fmt::Write as _;
use std::path::Path;

use clap::Parser as _;

use crate::args::Cli;

const INTRODUCTION: &str = "\
# Reasons and assumptions

What `synod check-drop`, `synod check-binary`, `synod topics check`, `synod storage-versions check` and `synod upgrade status` answer, and
`CheckDrop`, `CheckBinary`, `CheckAgreement` and `CheckUpgrade` of `synod.v1.StorageVersions`. An answer is safe if it names no reason;
the members agree, and an upgrade may go on, if it names no obstacle. It then still rests on the assumptions that it names, and the commands end with 0 only if there is none or you
vouch for them (`--assume-complete`). The success of a migration names its assumptions, too. Clients show a reason, an obstacle or
an assumption of a later release by its number and its words, and never as none.

A test writes this file from the protocol, and finds in each test that is named here the reason that it raises.
";

/// The scenarios of the machine, which raise all reasons.
const SCENARIOS: &str = "service/machine/tests/scenarios";

/// The test that raises a reason or an assumption.
struct RaisingTest {
    /// The name in the protocol, without the name of its enum.
    name: &'static str,
    /// The file, by its path or among the scenarios, and the name of the test.
    test: (&'static str, &'static str),
    /// The name in the machine, as the test writes it.
    variant: &'static str,
}

impl RaisingTest {
    /// The path of the file with the test.
    fn path(&self) -> String {
        match self.test.0 {
            path if path.contains('/') => path.to_owned(),
            file => format!("{SCENARIOS}/{file}"),
        }
    }
}

const fn raising_test(
    name: &'static str,
    file: &'static str,
    test: &'static str,
    variant: &'static str,
) -> RaisingTest {
    RaisingTest {
        name,
        test: (file, test),
        variant,
    }
}

const DANGERS: &[RaisingTest] = &[
    raising_test(
        "NO_STATE",
        "safety.rs",
        "what_nobody_knows_is_not_safe",
        "Why::NoState",
    ),
    raising_test(
        "PERSISTED_UNKNOWN",
        "safety.rs",
        "what_nobody_knows_is_not_safe",
        "Why::PersistedUnknown",
    ),
    raising_test(
        "PERSISTED",
        "safety.rs",
        "every_reason_is_named",
        "Why::Persisted(",
    ),
    raising_test(
        "PERSISTED_HASH",
        "safety.rs",
        "an_encoding_that_only_its_hash_names_is_told_by_the_kind",
        "Why::PersistedHash",
    ),
    raising_test(
        "SELECTED",
        "safety.rs",
        "every_reason_is_named",
        "Why::Selected(",
    ),
    raising_test(
        "REPORTED",
        "safety.rs",
        "every_reason_is_named",
        "Why::Reported(",
    ),
    raising_test("VOTED", "safety.rs", "every_reason_is_named", "Why::Voted("),
    raising_test(
        "DRAINING",
        "safety.rs",
        "every_reason_is_named",
        "Why::Draining(",
    ),
    raising_test(
        "DRAINING_HASH",
        "evidence.rs",
        "a_look_that_expired_before_members_joined_goes_when_it_agrees_with_them",
        "Why::DrainingHash",
    ),
    raising_test(
        "OBSERVED",
        "safety.rs",
        "an_encoding_that_only_its_hash_names_is_told_by_the_kind",
        "Why::Observed(",
    ),
    raising_test(
        "OBSERVATION_EXPIRED",
        "safety.rs",
        "what_discovery_showed_too_long_ago_is_not_safe",
        "Why::ObservationOver",
    ),
    raising_test(
        "ABSENT",
        "rosters.rs",
        "while_a_named_member_is_missing_nothing_counts",
        "Why::Absent(",
    ),
    raising_test(
        "ABSENT_MORE",
        "rosters.rs",
        "a_server_that_does_not_take_part_keeps_its_version_from_being_dropped",
        "Why::AbsentMore",
    ),
    raising_test(
        "NOT_DECODABLE",
        "safety.rs",
        "a_binary_that_encodes_what_others_cannot_decode_is_not_safe",
        "Why::NotDecodableBy",
    ),
    raising_test(
        "SNAPSHOT",
        "safety.rs",
        "a_snapshot_in_the_version_is_named",
        "Why::Snapshot(",
    ),
    raising_test(
        "UNREADABLE_HASH",
        "evidence.rs",
        "a_hash_that_nothing_explains_may_be_any_version",
        "Why::UnreadableHash",
    ),
    raising_test(
        "CONTRADICTED",
        "evidence.rs",
        "a_hash_that_nothing_explains_may_be_any_version",
        "Why::Contradicted",
    ),
    raising_test(
        "VERSION_UNKNOWN",
        "known.rs",
        "a_version_that_nobody_ever_named_is_not_safe_to_drop",
        "Why::VersionUnknown",
    ),
    raising_test(
        "DRAINING_UNKNOWN",
        "late_writes.rs",
        "what_was_concluded_before_the_rules_is_an_assumption_and_everything_drains_once",
        "Why::DrainingUnknown",
    ),
    raising_test(
        "MEMBER_SILENT",
        "agreement_checks.rs",
        "a_member_that_has_not_reported_is_a_reason_against_every_drop_and_every_binary",
        "Why::MemberSilent(",
    ),
    raising_test(
        "SCOPE_UNKNOWN",
        "agreement_checks.rs",
        "a_binary_leaves_what_a_roster_asks_for_to_others_or_is_not_safe",
        "Why::ScopeUnknown(",
    ),
];

const OBSTACLES: &[RaisingTest] = &[
    raising_test(
        "NOTHING_KNOWN",
        "agreement_checks.rs",
        "issue_033_an_empty_cluster_is_not_agreed",
        "Obstacle::NothingKnown",
    ),
    raising_test(
        "MEMBER_SILENT",
        "agreement_checks.rs",
        "issue_033_members_that_have_joined_and_not_reported_are_an_obstacle",
        "Obstacle::MemberSilent",
    ),
    raising_test(
        "SCOPE_UNKNOWN",
        "agreement_checks.rs",
        "issue_033_a_roster_over_what_nobody_reports_is_an_obstacle",
        "Obstacle::ScopeUnknown",
    ),
    raising_test(
        "UNKNOWN",
        "agreement_checks.rs",
        "a_resource_that_nobody_ever_named_is_unknown_whatever_is_allowed",
        "Obstacle::Unknown {",
    ),
    raising_test(
        "UNREPORTED",
        "agreement_checks.rs",
        "what_is_left_over_is_listed_and_counts_only_while_it_drains_or_is_asked_for",
        "Obstacle::Unreported",
    ),
    raising_test(
        "NOTHING_SELECTED",
        "agreement_checks.rs",
        "votes_that_select_nothing_are_named_by_version",
        "Obstacle::NothingSelected",
    ),
    raising_test(
        "ENCODINGS_DIFFER",
        "agreement_checks.rs",
        "members_that_encode_several_versions_are_named_by_version",
        "Obstacle::EncodingsDiffer",
    ),
    raising_test(
        "FIXED_ELSEWHERE",
        "agreement_checks.rs",
        "a_member_that_encodes_another_version_than_the_selected_one_by_choice_is_named",
        "Obstacle::FixedElsewhere",
    ),
    raising_test(
        "NOT_ADOPTED",
        "agreement_checks.rs",
        "a_voter_that_has_not_adopted_the_selected_version_is_named",
        "Obstacle::NotAdopted",
    ),
    raising_test(
        "ABSENT",
        "agreement_checks.rs",
        "a_roster_and_discovery_may_stand_against_members_that_encode_one_version",
        "Obstacle::Absent {",
    ),
    raising_test(
        "CONTRADICTED",
        "agreement_checks.rs",
        "a_roster_and_discovery_may_stand_against_members_that_encode_one_version",
        "Obstacle::Contradicted {",
    ),
    raising_test(
        "OBSERVATION_EXPIRED",
        "agreement_checks.rs",
        "what_only_discovery_shows_is_agreed_while_it_shows_one_encoding",
        "Obstacle::ObservationExpired",
    ),
    raising_test(
        "OBSERVATIONS_DIFFER",
        "agreement_checks.rs",
        "what_only_discovery_shows_is_agreed_while_it_shows_one_encoding",
        "Obstacle::ObservationsDiffer",
    ),
];

const UPGRADES: &[RaisingTest] = &[
    raising_test(
        "ALARM",
        "service/server/src/rpc/upgrade.rs",
        "alarms_are_obstacles_and_worse_than_all_others",
        "UpgradeReason::Alarm",
    ),
    raising_test(
        "DISAGREEMENT",
        "upgrade_status.rs",
        "members_that_disagree_are_named_first_and_with_their_versions",
        "UpgradeCause::Disagreement",
    ),
    raising_test(
        "ROSTER",
        "upgrade_status.rs",
        "what_a_roster_asks_for_is_named_with_the_roster",
        "UpgradeCause::Roster",
    ),
    raising_test(
        "SILENT",
        "upgrade_status.rs",
        "members_that_disagree_are_named_first_and_with_their_versions",
        "UpgradeCause::Silent",
    ),
    raising_test(
        "EXPIRING",
        "upgrade_status.rs",
        "a_member_is_about_to_expire_once_two_thirds_of_its_ttl_have_passed",
        "UpgradeCause::Expiring",
    ),
    raising_test(
        "MIGRATION_FAILED",
        "upgrade_status.rs",
        "a_failed_migration_is_named_until_something_has_migrated_the_resource",
        "UpgradeCause::MigrationFailed",
    ),
    raising_test(
        "NOT_MIGRATED",
        "upgrade_status.rs",
        "what_is_called_off_is_not_migrated",
        "UpgradeCause::NotMigrated",
    ),
    raising_test(
        "MIGRATION_PENDING",
        "upgrade_status.rs",
        "a_migration_is_named_from_its_creation_to_its_success",
        "UpgradeCause::MigrationPending",
    ),
    raising_test(
        "MIGRATION_RUNNING",
        "upgrade_status.rs",
        "a_migration_is_named_from_its_creation_to_its_success",
        "UpgradeCause::MigrationRunning",
    ),
    raising_test(
        "DRAINING",
        "upgrade_status.rs",
        "what_drains_is_named_with_its_version_and_for_how_long",
        "UpgradeCause::Draining",
    ),
];

const ASSUMPTIONS: &[RaisingTest] = &[
    raising_test(
        "NO_ROSTER",
        "rosters.rs",
        "a_server_that_does_not_take_part_keeps_its_version_from_being_dropped",
        "Assumption::NoRoster",
    ),
    raising_test(
        "SNAPSHOT_VERSION_UNKNOWN",
        "safety.rs",
        "a_snapshot_of_which_nobody_said_the_version_makes_a_safe_answer_assume_something",
        "Assumption::SnapshotVersionUnknown",
    ),
    raising_test(
        "LEFT_TO_OTHERS",
        "safety.rs",
        "a_binary_that_has_dropped_a_whole_resource_is_not_safe",
        "Assumption::LeftToOthers",
    ),
    raising_test(
        "CONCLUDED_BEFORE",
        "late_writes.rs",
        "what_was_concluded_before_the_rules_is_an_assumption_and_everything_drains_once",
        "Assumption::ConcludedBefore",
    ),
    raising_test(
        "SAID_STOPPED",
        "late_writes.rs",
        "an_evicted_member_may_write_until_its_proof_of_membership_has_run_out",
        "Assumption::SaidStopped",
    ),
    raising_test(
        "ROSTER_MAY_MISS",
        "rosters.rs",
        "answers_under_a_roster_that_cannot_notice_a_stranger_assume_that_there_is_none",
        "Assumption::RosterMayMiss",
    ),
    raising_test(
        "SHORT_ABSENCE",
        "absences.rs",
        "a_short_absence_is_told_until_a_migration_that_is_claimed_later",
        "Assumption::ShortAbsence",
    ),
    raising_test(
        "UNGATED_GONE",
        "absences.rs",
        "a_member_without_a_gate_that_expires_is_assumed_to_have_stopped_until_it_returns",
        "Assumption::UngatedGone",
    ),
];

#[test]
fn the_document_of_reasons_says_what_the_protocol_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let proto = root.join("proto/proto/synod/v1/storage_versions.proto");
    let proto = std::fs::read_to_string(proto).expect("the protocol is there");
    let mut text = INTRODUCTION.to_owned();
    let parts = [
        (
            "Reasons against safety",
            "DangerReason",
            "DANGER_REASON_",
            DANGERS,
        ),
        (
            "Obstacles to an agreement",
            "ObstacleReason",
            "OBSTACLE_REASON_",
            OBSTACLES,
        ),
        (
            "Obstacles to an upgrade",
            "UpgradeReason",
            "UPGRADE_REASON_",
            UPGRADES,
        ),
        (
            "Assumptions",
            "AssumptionReason",
            "ASSUMPTION_REASON_",
            ASSUMPTIONS,
        ),
    ];
    for (title, name, prefix, table) in parts {
        let values = values_of(&proto, name, prefix);
        let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
        let raised: Vec<&str> = table.iter().map(|it| it.name).collect();
        assert_eq!(
            raised, names,
            "each value of {name} has the test that raises it"
        );
        write!(
            text,
            "\n## {title}\n\n| name | what it says | test |\n|---|---|---|\n"
        )
        .unwrap();
        for (raised, (name, says)) in table.iter().zip(&values) {
            check_test(&root, raised);
            let (path, test) = (raised.path(), raised.test.1);
            writeln!(text, "| `{name}` | {says} | `{path}::{test}` |").unwrap();
        }
    }
    super::golden::check_file(&root.join("docs/REASONS.md"), &text);
}

/// The commands that obstacles to an upgrade name stand in these sources.
const COMMANDS: [&str; 2] = [
    "service/machine/src/upgrade/obstacle.rs",
    "service/server/src/rpc/upgrade.rs",
];

#[test]
fn every_command_that_helps_with_an_obstacle_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = 0;
    for path in COMMANDS {
        let source = std::fs::read_to_string(root.join(path)).expect("the source is there");
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        let texts = source.split('"').skip(1).step_by(2);
        for template in texts.filter(|text| text.starts_with("synod ")) {
            let command = template.replace("'{}'", "*").replace("{}s", "25s");
            let command = command.replace("{migration}", "pods-5");
            let command = command
                .replace("{resource}", "pods")
                .replace("{member}", "server-a");
            let parsed = Cli::try_parse_from(command.split(' '));
            assert!(parsed.is_ok(), "{command}: {:?}", parsed.err());
            found += 1;
        }
    }
    assert!(found >= 12, "{found} commands were found");
}

/// The values of an enum of the protocol but the first, each with its comment.
fn values_of(proto: &str, name: &str, prefix: &str) -> Vec<(String, String)> {
    let head = format!("enum {name} {{\n");
    let (_, rest) = proto.split_once(&head).expect("the enum is there");
    let (body, _) = rest.split_once("\n}").expect("the enum ends");
    let mut values = Vec::new();
    let mut comment = String::new();
    for line in body.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("// ") {
            let space = if comment.is_empty() { "" } else { " " };
            write!(comment, "{space}{words}").unwrap();
        } else if let Some((value, _)) = line.split_once(" = ") {
            let value = value.strip_prefix(prefix).expect("values begin alike");
            let comment = std::mem::take(&mut comment);
            values.push((value.to_owned(), comment));
        }
    }
    assert_eq!(values.remove(0).0, "UNSPECIFIED");
    values
}

/// Fails unless the test is there and writes the name of what it raises.
fn check_test(root: &Path, raised: &RaisingTest) {
    let test = raised.test.1;
    let source = std::fs::read_to_string(root.join(raised.path())).expect("the test is there");
    let head = format!("fn {test}() {{\n");
    let (before, body) = source.split_once(&head).expect(test);
    let (before, indent) = before.rsplit_once('\n').expect("a test is marked");
    assert!(before.ends_with("#[test]"), "{test} is no test");
    let (body, _) = body
        .split_once(&format!("\n{indent}}}\n"))
        .expect("the test ends");
    let variant = raised.variant;
    assert!(body.contains(variant), "{test} does not raise {variant}");
}
