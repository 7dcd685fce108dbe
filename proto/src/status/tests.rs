use std::collections::BTreeMap;

use proptest::prelude::*;
use prost::Message as _;
use prost_types::FileDescriptorSet;
use synod_model::{Current, ErrorKind, GroupResource, Refusal, Settings, Verdict, Violation};
use tonic::{Code, ConnectError, Status};

use super::{code, from_status, key, to_status, verdict};
use crate::limits::{STATUS_DETAILS_BYTES_MAX, STATUS_MESSAGE_BYTES_MAX};
use crate::{samples, v1};

mod connections;

/// The refusal as its reader sees it: a kind that is never executed says so.
fn as_read(refusal: Refusal) -> Refusal {
    match refusal.kind.verdict() {
        Verdict::NotExecuted => refusal.with(key::NOT_EXECUTED, true),
        Verdict::Refused | Verdict::Unknown => super::with_execution(refusal),
    }
}

proptest! {
    #[test]
    fn a_refusal_is_carried_whole(refusal in samples::refusal()) {
        let status = to_status(refusal.clone());
        prop_assert_eq!(status.code(), code(refusal.kind));
        prop_assert_eq!(from_status(&status), as_read(refusal));
    }

    #[test]
    fn no_details_make_a_reader_panic(details in any::<Vec<u8>>()) {
        let status = Status::with_details(Code::Aborted, "", details.into());
        prop_assert_eq!(from_status(&status).kind, ErrorKind::UnknownOutcome);
    }
}

#[test]
fn every_kind_is_carried_with_its_verdict() {
    for kind in ErrorKind::ALL {
        let status = to_status(Refusal::new(kind, "why"));
        let read = from_status(&status);
        assert_eq!(read, as_read(Refusal::new(kind, "why")));
        assert_eq!(verdict(&read), kind.verdict());
    }
}

/// The comments of `errors.proto` begin with the code and say whether a retry can help.
#[test]
fn the_published_list_of_reasons_is_this_table() {
    let published = published_reasons();
    assert_eq!(published.len(), ErrorKind::ALL.len());
    for kind in ErrorKind::ALL {
        let comment = &published[kind.reason()];
        let (code_name, advice) = comment.split_once(", ").unwrap();
        assert_eq!(code_name, screaming(code(kind)), "{kind}");
        assert_eq!(
            advice.starts_with("retry"),
            kind.retryable(),
            "{kind}: {advice}"
        );
        assert_eq!(
            advice.starts_with("ask by request id"),
            asks(kind),
            "{kind}: {advice}"
        );
    }
}

/// Whether the caller has a request id that can tell what became of the request. After `REQUEST_EXPIRED` it has none.
fn asks(kind: ErrorKind) -> bool {
    kind.verdict() == Verdict::Unknown && kind != ErrorKind::RequestExpired
}

/// `FailedPrecondition` as `FAILED_PRECONDITION`.
fn screaming(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_uppercase());
    }
    name
}

/// The comment of every reason but the zero, without line breaks.
fn published_reasons() -> BTreeMap<String, String> {
    let files = FileDescriptorSet::decode(crate::FILE_DESCRIPTOR_SET)
        .unwrap()
        .file;
    let file = files
        .iter()
        .find(|file| file.name() == "synod/v1/errors.proto")
        .unwrap();
    let comments = &file.source_code_info.as_ref().unwrap().location;
    let reasons = &file.enum_type[0];
    assert_eq!(reasons.name(), "ErrorReason");
    let listed = (0..).zip(&reasons.value).skip(1).map(|(i, value)| {
        // The path of a value: enum 0 of the file, value i of the enum.
        let at = comments
            .iter()
            .find(|location| location.path == [5, 0, 2, i])
            .unwrap();
        let comment = at
            .leading_comments()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        (
            value.name().trim_start_matches("ERROR_REASON_").to_owned(),
            comment,
        )
    });
    listed.collect()
}

#[test]
fn a_deadline_that_passed_before_the_proposal_is_certain() {
    let refusal = Refusal::new(ErrorKind::DeadlineExceeded, "it waited too long");
    assert_eq!(
        verdict(&from_status(&to_status(refusal.clone()))),
        Verdict::Unknown
    );
    let refusal = refusal.with(key::NOT_EXECUTED, true);
    assert_eq!(
        verdict(&from_status(&to_status(refusal))),
        Verdict::NotExecuted
    );
}

#[test]
fn a_status_that_synod_did_not_write_never_claims_that_nothing_was_executed() {
    for code in (0..=16).map(Code::from_i32) {
        let refusal = from_status(&Status::new(code, "by a proxy"));
        assert!(refusal.message.contains("by a proxy"), "{refusal}");
        assert_ne!(verdict(&refusal), Verdict::NotExecuted, "{code:?}");
    }
}

#[test]
fn a_status_of_the_library_has_the_kind_that_is_certain() {
    let kind = |code| from_status(&Status::new(code, "")).kind;
    assert_eq!(kind(Code::InvalidArgument), ErrorKind::InvalidArgument);
    assert_eq!(kind(Code::Unimplemented), ErrorKind::InvalidArgument);
    assert_eq!(kind(Code::Unauthenticated), ErrorKind::Unauthenticated);
    assert_eq!(kind(Code::PermissionDenied), ErrorKind::PermissionDenied);
    assert_eq!(kind(Code::DeadlineExceeded), ErrorKind::DeadlineExceeded);
    assert_eq!(kind(Code::OutOfRange), ErrorKind::TooLarge);
    for code in [
        Code::Unavailable,
        Code::Cancelled,
        Code::Internal,
        Code::Unknown,
        Code::Aborted,
        Code::NotFound,
    ] {
        assert_eq!(kind(code), ErrorKind::UnknownOutcome, "{code:?}");
    }
}

#[test]
fn only_a_connection_that_never_was_is_certain() {
    let connect = Status::from_error(Box::new(ConnectError("refused".into())));
    assert_eq!(connect.code(), Code::Unavailable);
    assert_eq!(from_status(&connect).kind, ErrorKind::Unavailable);
    assert_eq!(
        from_status(&Status::unavailable("reset")).kind,
        ErrorKind::UnknownOutcome
    );
}

#[test]
fn the_details_of_another_system_say_nothing() {
    let theirs = to_status(Refusal::new(ErrorKind::Overloaded, ""));
    let details = String::from_utf8_lossy(theirs.details()).replace("synod", "other");
    let status = Status::with_details(Code::Aborted, "", details.into());
    assert_eq!(
        from_status(&status),
        Refusal::new(ErrorKind::UnknownOutcome, "")
    );
}

#[test]
fn a_reason_of_a_later_release_claims_nothing_but_what_it_says() {
    let known = to_status(Refusal::new(ErrorKind::Overloaded, ""));
    let details = String::from_utf8_lossy(known.details()).replace("OVERLOADED", "OVERJOYED!");
    let status = Status::with_details(Code::ResourceExhausted, "", details.into());
    let refusal = from_status(&status);
    assert_eq!(refusal.kind, ErrorKind::UnknownOutcome);
    // The later release said so, and this key does not change its meaning.
    assert_eq!(verdict(&refusal), Verdict::NotExecuted);
}

// Guarantee: U-02
#[test]
fn a_reason_of_a_later_release_that_says_so_was_refused_and_is_named() {
    let known = to_status(Refusal::new(ErrorKind::SwitchedOff, "leases are off"));
    let details = String::from_utf8_lossy(known.details()).replace("SWITCHED_OFF", "DIMMED_DOWN!");
    let status = Status::with_details(known.code(), known.message(), details.into());
    let refusal = from_status(&status);
    assert_eq!(verdict(&refusal), Verdict::Refused);
    assert_eq!(refusal.kind, ErrorKind::InvalidArgument);
    assert_eq!(
        refusal.message,
        "DIMMED_DOWN!, a reason that this client is too old to know: leases are off"
    );
    // The same inside of a message, where there is a number only.
    let inside = v1::Refusal {
        reason: 999,
        ..v1::Refusal::from(&Refusal::new(ErrorKind::SwitchedOff, "leases are off"))
    };
    let refusal = Refusal::from(inside);
    assert_eq!(verdict(&refusal), Verdict::Refused);
    assert!(
        refusal.message.starts_with("reason 999, a reason"),
        "{refusal}"
    );
}

#[test]
fn a_call_that_a_replica_has_never_heard_of_says_what_to_do() {
    let refusal = from_status(&Status::unimplemented("no such method"));
    assert_eq!(refusal.kind, ErrorKind::InvalidArgument);
    assert!(
        refusal.message.contains("Upgrade the replicas"),
        "{refusal}"
    );
}

#[test]
fn what_does_not_fit_is_left_out_and_said_to_be() {
    let violation = |i| Violation {
        field: format!("entries[{i}]"),
        rule: "x".repeat(300),
    };
    let mut refusal = Refusal::new(
        ErrorKind::InvalidArgument,
        "é".repeat(STATUS_MESSAGE_BYTES_MAX),
    )
    .with(key::NOT_EXECUTED, true)
    .with("a_long_fact", "x".repeat(5_000))
    .with("a_short_fact", "x")
    .with_current(Current::Settings(large_settings()));
    refusal.violations = (0..100).map(violation).collect();

    let status = to_status(refusal.clone());
    assert!(status.message().len() <= STATUS_MESSAGE_BYTES_MAX);
    assert!(
        status.details().len() <= STATUS_DETAILS_BYTES_MAX + STATUS_MESSAGE_BYTES_MAX,
        "{}",
        status.details().len()
    );

    let read = from_status(&status);
    assert!(
        refusal
            .message
            .starts_with(read.message.strip_suffix("...").unwrap())
    );
    assert_eq!(
        read.metadata.keys().collect::<Vec<_>>(),
        ["a_short_fact", key::NOT_EXECUTED, key::OMITTED]
    );
    assert!(refusal.violations.starts_with(&read.violations));
    assert!(read.violations.len() > 5, "{}", read.violations.len());
    assert_eq!(read.current, None);
}

/// More than a status can carry.
fn large_settings() -> Settings {
    let resource = |i| GroupResource::new("example.com", &format!("r{i}")).unwrap();
    Settings {
        enforce_persisted: (0..1_000).map(resource).collect(),
        ..Settings::default()
    }
}

#[test]
fn any_number_of_short_facts_and_faults_stays_within_the_limit() {
    let mut refusal = Refusal::new(ErrorKind::InvalidArgument, "");
    refusal.metadata = (0..10_000)
        .map(|i| (i.to_string(), String::new()))
        .collect();
    refusal.violations = vec![
        Violation {
            field: String::new(),
            rule: String::new()
        };
        10_000
    ];
    let status = to_status(refusal);
    assert!(
        status.details().len() <= STATUS_DETAILS_BYTES_MAX,
        "{}",
        status.details().len()
    );
    assert_eq!(from_status(&status).metadata[key::OMITTED], "true");
}

#[test]
fn an_object_that_a_comparison_was_lost_to_is_carried() {
    let current = Current::Settings(Settings::default());
    let refusal = Refusal::new(ErrorKind::Conflict, "the settings are at revision 3")
        .with_current(current.clone());
    let read = from_status(&to_status(refusal));
    assert_eq!(read.current.as_deref(), Some(&current));
}

/// The head of `errors.proto` lists the metadata keys.
#[test]
fn every_metadata_key_is_published() {
    let text = include_str!("../../proto/synod/v1/errors.proto");
    let head = text.split("syntax = ").next().unwrap();
    let keys = [
        key::NOT_EXECUTED,
        key::LEADER_ID,
        key::LEADER_ENDPOINT,
        key::OLDEST_REVISION,
        key::CURRENT_REVISION,
        key::RETRY_AFTER_MS,
        key::MEMBER,
        key::CURRENT_EPOCH,
        key::RESOURCE,
        key::VERSION,
        key::DECODABLE_VERSIONS,
        key::SELECTED_VERSION,
        key::SELECTED_REVISION,
        key::OMITTED,
    ];
    for key in keys {
        assert!(head.contains(&format!("`{key}`")), "{key}");
    }
}
