//! Every kind of error ends the program with its exit code, and with advice.

use std::time::Duration;

use synod_client::{ErrorKind, Violation, Violations};
use synod_model::Refusal;
use synod_proto::status::to_status;
use tokio::net::TcpListener;

use crate::program::{Printed, run};
use crate::stand_in::{Part, StandIn, fixture};

/// The output of `synod settings` when a replica refuses the call.
async fn refused(refusal: Refusal) -> Printed {
    // What may pass is tried again until the time is over. All else ends with the first answer, however late that comes.
    let may_pass = matches!(
        refusal.kind,
        ErrorKind::Overloaded
            | ErrorKind::Unavailable
            | ErrorKind::UnknownOutcome
            | ErrorKind::DeadlineExceeded
    );
    let timeout = if may_pass { "3s" } else { "30s" };
    let part = Part {
        refusal: Some(to_status(refusal)),
        ..fixture::part()
    };
    let stand_in = StandIn::start(part).await;
    run(&[
        "settings",
        "--timeout",
        timeout,
        "--endpoints",
        &stand_in.endpoint(),
    ])
    .await
}

/// The exit codes that are part of the interface. A kind without a row here ends with 1, as is tested below.
const CODES: [(ErrorKind, i32); 10] = [
    (ErrorKind::InvalidArgument, 2),
    (ErrorKind::NotFound, 3),
    (ErrorKind::AlreadyExists, 4),
    (ErrorKind::Conflict, 4),
    (ErrorKind::Overloaded, 5),
    (ErrorKind::Unavailable, 5),
    (ErrorKind::DeadlineExceeded, 6),
    // Replicas do not authenticate callers yet, so none answers with these two; their exit codes are reserved.
    (ErrorKind::Unauthenticated, 7),
    (ErrorKind::PermissionDenied, 7),
    (ErrorKind::DataLoss, 1),
];

#[tokio::test]
async fn every_kind_of_error_ends_with_its_code() {
    for kind in ErrorKind::ALL {
        let row = CODES.iter().find(|(known, _)| *known == kind);
        let (told, expected) = match (kind, row) {
            // A read changes nothing, so its outcome is never unknown: it was not answered.
            (ErrorKind::UnknownOutcome, _) => (ErrorKind::Unavailable, 5),
            (_, row) => (kind, row.map_or(1, |(_, code)| *code)),
        };
        let Printed { code, out, err } = refused(Refusal::new(kind, "it was refused")).await;
        assert_eq!((code, out.as_str()), (expected, ""), "{kind}: {err}");
        assert!(err.starts_with(&format!("error: {told}: ")), "{err}");
        assert!(err.contains("it was refused"), "{err}");
        assert!(
            err.lines().last().unwrap().starts_with("what to do: "),
            "{err}"
        );
    }
}

#[tokio::test]
async fn every_field_at_fault_has_a_line_with_its_rule() {
    let mut faults = Violations::new();
    faults.push(Violation::invalid_number(1, "must be at least 2").at("read.minRevision"));
    faults.push(Violation::required("give it").at("read.atRevision"));
    let printed = refused(faults.into_result().unwrap_err()).await;
    assert_eq!(printed.code, 2);
    assert_eq!(
        printed.err,
        "error: INVALID_ARGUMENT: the request is invalid\n\
         \x20 read.minRevision: Invalid value: 1: must be at least 2\n\
         \x20 read.atRevision: Required value: give it\n\
         what to do: correct what is named above; `--help` has examples\n"
    );
}

#[tokio::test]
async fn nobody_at_the_endpoints_is_unavailable_and_each_is_named() {
    let words = [
        "status",
        "--timeout=30s",
        "--endpoints",
        "127.0.0.1:1,127.0.0.1:2",
    ];
    let Printed { code, out, err } = run(&words).await;
    assert_eq!((code, out.as_str()), (5, ""));
    assert!(
        err.starts_with("error: UNAVAILABLE: no replica answered\n  127.0.0.1:1: "),
        "{err}"
    );
    assert!(err.contains("\n  127.0.0.1:2: "), "{err}");
    let printed = run(&["members", "--timeout=3s", "--endpoints=127.0.0.1:1"]).await;
    assert_eq!(printed.code, 5, "{}", printed.err);
}

#[tokio::test]
async fn a_replica_that_never_answers_lets_the_time_run_out() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = silent.local_addr().unwrap().to_string();
    // It accepts the connection, and then sends nothing.
    let holding = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((connection, _)) = silent.accept().await {
            held.push(connection);
        }
    });
    let printed = run(&["members", "--timeout=300ms", "--endpoints", &endpoint]).await;
    assert_eq!(printed.code, 6, "{}", printed.err);
    assert!(
        printed.err.starts_with("error: DEADLINE_EXCEEDED: "),
        "{}",
        printed.err
    );
    holding.abort();
}

#[tokio::test]
async fn what_was_typed_wrong_is_told_without_a_cluster() {
    for words in [
        &["members", "get", "Not_A_Member"][..],
        &["storage-versions", "get", "Deployments"],
        &["storage-versions", "check", "deployments", "Pods.core"],
        &["storage-versions", "check", "--wait", "5"],
        &["settings", "set", "write_grace"],
        &["settings", "set"],
        &["watch", "--from", "0"],
        &["watch", "--kinds", "pods"],
        &["members", "-o", "xml"],
        &["members", "--endpoints", "nowhere"],
        &["hash", "apps", "v1", "my-kind"],
        &["no-such-command"],
        &[],
    ] {
        let Printed { code, out, err } = run(words).await;
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}: {err}");
        assert!(!err.is_empty(), "{words:?}");
    }
}

#[tokio::test]
async fn flags_before_the_word_that_they_belong_behind_are_refused() {
    // They would be taken for flags of `members` alone, and be ignored.
    let printed = run(&["members", "--endpoints=127.0.0.1:1", "list"]).await;
    assert_eq!(printed.code, 2, "{}", printed.err);
}

#[tokio::test]
async fn an_answer_is_printed_and_all_is_well() {
    let stand_in = StandIn::start(fixture::part()).await;
    let endpoint = stand_in.endpoint();
    let printed = run(&["members", "-o", "name", "--endpoints", &endpoint]).await;
    assert_eq!(
        (printed.code, printed.out.as_str()),
        (0, "server-a\nserver-b\nwidgets.example.com\n")
    );
    assert_eq!(printed.err, "");
    let printed = run(&[
        "storage-versions",
        "check",
        "-o",
        "name",
        "--endpoints",
        &endpoint,
    ])
    .await;
    assert_eq!(
        (printed.code, printed.out.as_str()),
        (8, "pods\ngadgets.example.com\n")
    );
    let words = [
        "storage-versions",
        "check",
        "cronjobs.batch",
        "--endpoints",
        &endpoint,
    ];
    assert_eq!(run(&words).await.code, 3);
}

#[tokio::test]
async fn an_agreement_that_rests_on_an_assumption_ends_well_only_if_it_is_vouched_for() {
    let mut part = fixture::part();
    part.agreement.agreed = true;
    part.agreement.obstacles.clear();
    part.agreement.resources.retain(|resource| resource.agreed);
    let stand_in = StandIn::start(part).await;
    let endpoint = stand_in.endpoint();
    let words = [
        "storage-versions",
        "check",
        "-o",
        "name",
        "--endpoints",
        &endpoint,
    ];
    let printed = run(&words).await;
    assert_eq!((printed.code, printed.out.as_str()), (8, ""));
    assert!(
        printed.err.contains("assumed of deployments.apps"),
        "{}",
        printed.err
    );
    let printed = run(&[&words[..], &["--assume-complete"]].concat()).await;
    assert_eq!((printed.code, printed.err.as_str()), (0, ""));
}

#[tokio::test]
async fn a_resource_that_nobody_reports_any_more_is_still_shown() {
    let mut part = fixture::part();
    part.storage_version = fixture::unreported();
    let stand_in = StandIn::start(part).await;
    let words = [
        "storage-versions",
        "get",
        "jobs.batch",
        "--endpoints",
        &stand_in.endpoint(),
    ];
    let printed = run(&words).await;
    assert_eq!(printed.code, 0, "{}", printed.err);
    assert!(
        printed.out.contains("jobs.batch   <unset>"),
        "{}",
        printed.out
    );
}

#[tokio::test]
async fn the_status_asks_the_replicas_that_it_hears_of() {
    let stand_in = StandIn::start(fixture::part()).await;
    let printed = run(&[
        "status",
        "--timeout=30s",
        "--endpoints",
        &stand_in.endpoint(),
    ])
    .await;
    assert_eq!(printed.code, 0, "{}", printed.err);
    let row = |replica: &str| {
        printed
            .out
            .lines()
            .find(|line| line.starts_with(replica))
            .unwrap()
            .to_owned()
    };
    assert!(row("1 ").contains("unreachable"), "{}", printed.out);
    assert!(row("2 ").contains("leader"), "{}", printed.out);
    assert!(row("3 ").contains("unknown"), "{}", printed.out);
    let alarm = format!("unreachable   {}", fixture::UNREACHABLE);
    assert!(printed.out.contains(&alarm), "{}", printed.out);
}

/// A command ends within its `--timeout`, over all tries.
#[tokio::test]
async fn the_time_holds_for_all_tries_together() {
    let refusal = Refusal::new(ErrorKind::Unavailable, "no quorum");
    let before = tokio::time::Instant::now();
    assert_eq!(refused(refusal).await.code, 5);
    assert!(before.elapsed() < Duration::from_secs(30));
}
