//! A migration: the rewriting of every stored object of a resource in one version.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::limits::{CONTINUE_TOKEN_BYTES_MAX, FAILURE_REASON_BYTES_MAX, WORKER_BYTES_MAX};
use crate::text::{shared_text, short_identity, short_printable};
use crate::{
    ApiVersion, Assumption, ClaimToken, GroupResource, LogTime, Metadata, MigrationAlias,
    MigrationId, Persisted, Revision, StorageVersionHash, TopicKind, Ttl, Violation, Walk,
    WallTime,
};

/// A migration, as readers see it.
///
/// Its target never changes: it can only succeed for the agreement that it was created for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The id of the migration.
    pub id: MigrationId,
    /// Identity and revisions of the object.
    pub metadata: Metadata,
    /// The encoding that every object is rewritten in.
    pub target: MigrationTarget,
    /// The revision of the agreement that it carries out.
    pub agreement_revision: Revision,
    /// Why it was created.
    pub reason: MigrationReason,
    /// Its phase.
    pub phase: MigrationPhase,
    /// The claim of its worker, while it is running.
    pub claim: Option<Claim>,
    /// How often a worker gave up since the migration was created or last retried by hand.
    pub failures: u32,
    /// Why a worker gave up last.
    pub failure: Option<MigrationFailure>,
    /// Why it was aborted, if it was.
    pub aborted: Option<AbortCause>,
    /// Objects done, as last published here.
    pub done: u64,
    /// The estimated number of all objects, as last published here.
    pub estimate: Option<u64>,
    /// The wall time of its end; only shown.
    pub ended: Option<WallTime>,
    /// The assumption of a migration that succeeded before machine version 3: see [`Migration::all_assumptions`].
    pub assumption: Option<Assumption>,
    /// The alias that it was started under, if any.
    pub alias: Option<MigrationAlias>,
    /// The assumptions of a migration that succeeded since: see [`Migration::all_assumptions`].
    pub assumptions: BTreeSet<Assumption>,
    /// The other resources under whose names the same objects are stored. A set of equivalent resources never changes while a
    /// migration of it is open.
    pub equivalents: BTreeSet<GroupResource>,
}

impl Migration {
    /// Whether it rewrites the objects of this resource, under whatever name.
    pub fn is_of(&self, resource: &GroupResource) -> bool {
        self.id.resource() == resource || self.equivalents.contains(resource)
    }

    /// The assumptions that its success rests on; empty before it succeeds.
    pub fn all_assumptions(&self) -> BTreeSet<Assumption> {
        let all = self.assumptions.iter().copied();
        all.chain(self.assumption).collect()
    }

    /// How often a migration is tried before an operator has to act.
    pub const ATTEMPTS_MAX: u32 = 8;
    /// The pause before the first retry; each further one is twice as long.
    pub const RETRY_AFTER_MIN: Duration = Duration::from_secs(1);
    /// The longest pause before a retry.
    pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(5 * 60);
    /// The least time between two changes of a migration that only publish its progress.
    pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

    /// Whether it waits for a worker or has one.
    pub const fn is_open(&self) -> bool {
        matches!(
            self.phase,
            MigrationPhase::Pending | MigrationPhase::Running
        )
    }

    /// The revision that it starts at: the one that created it, however often it is claimed, fails and is retried.
    ///
    /// An object in the target's version that was stored after it needs no rewrite, also if a worker stored it that has
    /// died since. For [`RewriteAll`](MigrationReason::RewriteAll) this trusts the caller who started the migration:
    /// the cluster knows nothing of keys, so at the start every server must already write with the new key, and no
    /// write with the old key may land any more. If that did not hold, a retry does not help: abort the migration and
    /// start another one. In the migration of a key topic it decides nothing: see [`rewrites`](Self::rewrites).
    pub const fn start_revision(&self) -> Revision {
        self.metadata.create_revision
    }

    /// Whether an object must be rewritten whose content is in the version `encoding`, and was last stored as a whole
    /// at the revision `stored_at`.
    ///
    /// An object in another version than the target's must be rewritten, however late it was stored. In the target's
    /// version the revision matters only to a migration that rewrites everything.
    ///
    /// In the migration of a key `encoding` is the key that the object is encrypted with, and it alone decides: a write
    /// with an older key may have landed after the start. A store that cannot tell the key rewrites every object.
    pub fn rewrites(&self, encoding: &ApiVersion, stored_at: Revision) -> bool {
        let is_old = || match self.reason {
            MigrationReason::Agreement | MigrationReason::Manual => false,
            MigrationReason::RewriteAll => {
                let kind = TopicKind::of(self.id.resource());
                kind.is_seen_in_stores() && stored_at <= self.start_revision()
            }
        };
        self.target.version.as_ref() != Some(encoding) || is_old()
    }

    /// How long to wait before an automatic retry; `None` if there is none.
    pub fn retry_after(&self) -> Option<Duration> {
        let failure = self.failure.as_ref()?;
        if failure.class.is_permanent() || self.failures >= Self::ATTEMPTS_MAX {
            return None;
        }
        let doublings = self.failures.saturating_sub(1).min(16);
        Some((Self::RETRY_AFTER_MIN * (1 << doublings)).min(Self::RETRY_AFTER_MAX))
    }
}

/// The encoding that a migration rewrites objects in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MigrationTarget {
    /// The hash of group, version and kind.
    pub hash: StorageVersionHash,
    /// The version; `None` if only its hash was observed.
    pub version: Option<ApiVersion>,
}

impl MigrationTarget {
    /// The target as an element of `persisted`.
    pub fn persisted(&self) -> Persisted {
        Persisted::Version {
            hash: self.hash,
            version: self.version.clone(),
        }
    }
}

impl fmt::Display for MigrationTarget {
    /// The version, else the hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.persisted().fmt(f)
    }
}

/// Why a migration was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MigrationReason {
    /// The agreement or the persisted encodings changed.
    Agreement,
    /// A caller asked for it.
    Manual,
    /// Every object is rewritten even if its version is right, for the rotation of a key. Objects that were stored
    /// after the start need no rewrite: see [`Migration::start_revision`] for what that assumes.
    RewriteAll,
}

impl MigrationReason {
    /// The reason of the migration that follows a changed agreement on a topic; `None` if none follows by itself.
    ///
    /// Nothing is rewritten for a feature: what was written at a lower level is read at each higher one.
    pub const fn of_agreement_on(kind: TopicKind) -> Option<Self> {
        match kind {
            TopicKind::Encoding => Some(Self::Agreement),
            TopicKind::Key => Some(Self::RewriteAll),
            TopicKind::Feature | TopicKind::Served => None,
        }
    }
}

/// The phase of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MigrationPhase {
    /// It waits for a worker.
    Pending,
    /// A worker has claimed it.
    Running,
    /// Every object is in the target's encoding.
    Succeeded,
    /// A worker gave up. It may be tried again.
    Failed,
    /// It was aborted, and is never tried again.
    Aborted,
}

impl MigrationPhase {
    /// Its name, as programs read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
        }
    }
}

impl fmt::Display for MigrationPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a migration was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AbortCause {
    /// The members no longer agree.
    NoAgreement,
    /// The members agree on another version, or agreed anew.
    AgreementMoved,
    /// A caller asked for it.
    Requested,
    /// The persisted encodings became unknown meanwhile, so the migration has to begin from the start.
    StorageUnknown,
}

/// A worker's claim on a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The worker, as it calls itself.
    pub worker: WorkerName,
    /// The token that the worker sends with each of its requests.
    pub token: ClaimToken,
    /// How long the claim lasts without a request of the worker.
    pub ttl: Ttl,
    /// Whether a fence in the store refuses the worker's rewrites once another worker has raised it.
    pub fenced: bool,
    /// The log time of the claim; `None` if it is from before machine version 3.
    pub since: Option<LogTime>,
    /// What the worker walks; `None` if it is from before machine version 3.
    pub walks: Option<Walk>,
}

/// The words of a worker about its rewrites when it gives up its claim: it starts none any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkerStop {
    /// Some were not answered, so they may still reach the store.
    SomeUnanswered,
    /// All were answered.
    AllAnswered,
}

/// Why a worker gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationFailure {
    /// The class of the failure.
    pub class: FailureClass,
    /// What happened, for people.
    pub reason: FailureReason,
}

/// The class of a failure: whether it can go away by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureClass {
    /// A server was unreachable, too busy or in error: trying again may help.
    Transient,
    /// An object could not be rewritten for a reason of its own: trying again may help.
    Rejected,
    /// There is no such list (404), or it cannot be read or its objects updated (405).
    NotSupported,
    /// The worker is not allowed to (401, 403).
    Forbidden,
    /// An object is in an encoding that no available server can read.
    Undecodable,
}

impl FailureClass {
    /// Whether the failure lasts until an operator acts.
    pub const fn is_permanent(self) -> bool {
        match self {
            Self::Transient | Self::Rejected => false,
            Self::NotSupported | Self::Forbidden | Self::Undecodable => true,
        }
    }
}

/// The progress of a migration, as its worker last reported it. It is kept beside the migration, which publishes it
/// from time to time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationProgress {
    /// Objects done.
    pub done: u64,
    /// The estimated number of all objects, if the worker knows it.
    pub estimate: Option<u64>,
    /// Where the next worker continues; `None` at the start.
    pub continue_token: Option<ContinueToken>,
}

/// The name that a worker gives itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerName(Arc<str>);

impl WorkerName {
    /// The worker of this name.
    ///
    /// # Errors
    ///
    /// Empty, longer than 253 bytes, or with control characters, bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Err(Violation::required("must name the worker"));
        }
        short_identity(text, WORKER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(WorkerName);

/// A worker's place in its list: the continue token of the listed store, passed on unchanged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContinueToken(Arc<str>);

impl ContinueToken {
    /// The token with this text.
    ///
    /// # Errors
    ///
    /// Empty, longer than 8 KiB, or with control characters.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Err(Violation::required("leave it out at the start of the list"));
        }
        short_printable(text, CONTINUE_TOKEN_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(ContinueToken);

/// What happened when a worker gave up, for people. May be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FailureReason(Arc<str>);

impl FailureReason {
    /// The reason with this text.
    ///
    /// # Errors
    ///
    /// Longer than 4 KiB, or with control characters.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        short_printable(text, FAILURE_REASON_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(FailureReason);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Uid;

    fn failed(failures: u32, class: FailureClass) -> Migration {
        Migration {
            id: MigrationId::parse("pods-7").unwrap(),
            metadata: Metadata {
                uid: Uid::from_bytes([0; 16]),
                resource_version: Revision::new(7),
                create_revision: Revision::new(7),
                generation: 1,
                created: WallTime::default(),
            },
            target: MigrationTarget {
                hash: StorageVersionHash::from_bytes([1; 8]),
                version: None,
            },
            agreement_revision: Revision::new(7),
            reason: MigrationReason::Agreement,
            phase: MigrationPhase::Failed,
            claim: None,
            failures,
            failure: Some(MigrationFailure {
                class,
                reason: FailureReason::default(),
            }),
            aborted: None,
            done: 0,
            estimate: None,
            ended: None,
            assumption: None,
            assumptions: BTreeSet::new(),
            equivalents: BTreeSet::new(),
            alias: None,
        }
    }

    #[test]
    fn retries_wait_longer_each_time_and_end() {
        let after = |failures| failed(failures, FailureClass::Transient).retry_after();
        assert_eq!(after(1), Some(Duration::from_secs(1)));
        assert_eq!(after(2), Some(Duration::from_secs(2)));
        assert_eq!(after(7), Some(Duration::from_secs(64)));
        assert_eq!(after(Migration::ATTEMPTS_MAX), None);
        assert!(
            (1..Migration::ATTEMPTS_MAX)
                .all(|failures| after(failures) <= Some(Migration::RETRY_AFTER_MAX))
        );
    }

    #[test]
    fn what_was_stored_after_the_start_is_rewritten_only_if_it_is_in_another_version() {
        let target = ApiVersion::parse("v2").unwrap();
        let other = ApiVersion::parse("v1").unwrap();
        let of = |reason| Migration {
            reason,
            target: MigrationTarget {
                hash: StorageVersionHash::from_bytes([1; 8]),
                version: Some(target.clone()),
            },
            ..failed(1, FailureClass::Transient)
        };
        let [before, start, after] = [6, 7, 8].map(Revision::new);
        let all = of(MigrationReason::RewriteAll);
        assert_eq!(all.start_revision(), start);
        assert!(all.rewrites(&target, before) && all.rewrites(&target, start));
        assert!(!all.rewrites(&target, after));
        for migration in [
            all,
            of(MigrationReason::Agreement),
            of(MigrationReason::Manual),
        ] {
            assert!(migration.rewrites(&other, before) && migration.rewrites(&other, after));
        }
        for reason in [MigrationReason::Agreement, MigrationReason::Manual] {
            assert!(!of(reason).rewrites(&target, before), "{reason:?}");
        }
        // The migration of a key knows what each object is encrypted with.
        let key = Migration {
            id: MigrationId::parse("secrets.keys.synod-7").unwrap(),
            ..of(MigrationReason::RewriteAll)
        };
        assert!(!key.rewrites(&target, before) && key.rewrites(&other, after));
    }

    #[test]
    fn what_is_permanent_is_not_tried_again_by_itself() {
        for class in [
            FailureClass::NotSupported,
            FailureClass::Forbidden,
            FailureClass::Undecodable,
        ] {
            assert_eq!(failed(1, class).retry_after(), None, "{class:?}");
        }
        assert!(failed(1, FailureClass::Rejected).retry_after().is_some());
    }

    #[test]
    fn what_a_worker_says_is_printable_and_bounded() {
        assert!(WorkerName::parse(&"w".repeat(253)).is_ok());
        assert!(ContinueToken::parse(&"t".repeat(8 << 10)).is_ok());
        assert!(FailureReason::parse(&"r".repeat(4 << 10)).is_ok());
        assert!(FailureReason::parse("").is_ok());
        for (worker, token, reason) in [
            ("", "", "a\nb"),
            ("a\tb", "a\u{7}", "\u{1b}[2J"),
            (&*"w".repeat(254), &*"t".repeat(8193), &*"r".repeat(4097)),
        ] {
            assert!(WorkerName::parse(worker).is_err(), "{worker:?}");
            assert!(ContinueToken::parse(token).is_err());
            assert!(FailureReason::parse(reason).is_err());
        }
    }
}
