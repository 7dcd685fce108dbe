//! Strategies for migrations.

use std::collections::BTreeSet;

use proptest::collection::btree_set;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use synod_model::{
    AbortCause, Claim, ClaimToken, ContinueToken, FailureClass, FailureReason, LogTime, Migration,
    MigrationAlias, MigrationFailure, MigrationId, MigrationPhase, MigrationProgress,
    MigrationReason, MigrationTarget, StorageVersionHash, Walk, WallTime, WorkerName,
};

use super::{api_version, assumption, metadata, resource, revision, ttl};

pub(crate) fn migration_id() -> impl Strategy<Value = MigrationId> {
    (resource(), revision()).prop_map(|(resource, number)| MigrationId::new(resource, number))
}

pub(crate) fn claim_token() -> impl Strategy<Value = ClaimToken> {
    revision().prop_map(ClaimToken::new)
}

pub(crate) fn worker() -> impl Strategy<Value = WorkerName> {
    "[ -~]{1,40}".prop_map(|text| WorkerName::parse(&text).unwrap())
}

pub(crate) fn hash() -> impl Strategy<Value = StorageVersionHash> {
    any::<[u8; 8]>().prop_map(StorageVersionHash::from_bytes)
}

pub(crate) fn failure() -> impl Strategy<Value = MigrationFailure> {
    let classes = vec![
        FailureClass::Transient,
        FailureClass::Rejected,
        FailureClass::NotSupported,
        FailureClass::Forbidden,
        FailureClass::Undecodable,
    ];
    (select(classes), "[ -~]{0,40}").prop_map(|(class, reason)| MigrationFailure {
        class,
        reason: FailureReason::parse(&reason).unwrap(),
    })
}

pub(crate) fn progress() -> impl Strategy<Value = MigrationProgress> {
    let token = option::of("[ -~]{1,40}");
    (any::<u64>(), option::of(any::<u64>()), token).prop_map(|(done, estimate, token)| {
        MigrationProgress {
            done,
            estimate,
            continue_token: token.map(|token| ContinueToken::parse(&token).unwrap()),
        }
    })
}

pub(crate) fn walk() -> impl Strategy<Value = Walk> {
    select(vec![Walk::Collection, Walk::Outside, Walk::Both])
}

pub(crate) fn alias() -> impl Strategy<Value = MigrationAlias> {
    "[a-z]([-.]?[a-z]){0,20}".prop_map(|text| MigrationAlias::parse(&text).unwrap())
}

pub(crate) fn migration() -> impl Strategy<Value = Migration> {
    let since = option::of(any::<u64>().prop_map(LogTime::from_millis));
    let walks = option::of(walk());
    let claim = (worker(), claim_token(), ttl(), any::<bool>(), since, walks);
    let claim = claim.prop_map(|(worker, token, ttl, fenced, since, walks)| Claim {
        worker,
        token,
        ttl,
        fenced,
        since,
        walks,
    });
    let target = (hash(), option::of(api_version()));
    let target = target.prop_map(|(hash, version)| MigrationTarget { hash, version });
    let phases = vec![
        MigrationPhase::Pending,
        MigrationPhase::Running,
        MigrationPhase::Succeeded,
        MigrationPhase::Failed,
        MigrationPhase::Aborted,
    ];
    let reasons = vec![
        MigrationReason::Agreement,
        MigrationReason::Manual,
        MigrationReason::RewriteAll,
    ];
    let causes = vec![
        AbortCause::NoAgreement,
        AbortCause::AgreementMoved,
        AbortCause::Requested,
        AbortCause::StorageUnknown,
    ];
    let what = (migration_id(), metadata(), target, revision());
    let stands = (
        select(reasons),
        select(phases),
        option::of(claim),
        option::of(failure()),
        option::of(select(causes)),
        btree_set(assumption(), 0..3),
    );
    let numbers = (
        any::<u32>(),
        any::<u64>(),
        option::of(any::<u64>()),
        option::of(any::<u64>()),
        option::of(alias()),
    );
    (what, stands, numbers).prop_map(|(what, stands, numbers)| Migration {
        id: what.0,
        metadata: what.1,
        target: what.2,
        agreement_revision: what.3,
        reason: stands.0,
        phase: stands.1,
        claim: stands.2,
        failures: numbers.0,
        failure: stands.3,
        aborted: stands.4,
        done: numbers.1,
        estimate: numbers.2,
        ended: numbers.3.map(WallTime::from_millis),
        assumption: None,
        alias: numbers.4,
        assumptions: stands.5,
        equivalents: BTreeSet::new(),
    })
}
