//! A migration: the rewriting of every stored object of a resource in one version.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::limits::{CONTINUE_TOKEN_BYTES_MAX, FAILURE_REASON_BYTES_MAX, WORKER_BYTES_MAX};
use crate::text::{shared_text, short_printable};
use crate::{
    ApiVersion, ClaimToken, Metadata, MigrationId, Persisted, Revision, StorageVersionHash, Ttl,
    Violation, WallTime,
};

/// A migration, as readers see it.
///
/// What it is for is pinned: it can only end in what was agreed on when it was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// Which.
    pub id: MigrationId,
    /// Identity and revisions of the object.
    pub metadata: Metadata,
    /// What every object is to be encoded in.
    pub target: MigrationTarget,
    /// The agreement that it carries out.
    pub agreement_revision: Revision,
    /// Why there is one.
    pub reason: MigrationReason,
    /// Where it stands.
    pub phase: MigrationPhase,
    /// Who works at it, while it is running.
    pub claim: Option<Claim>,
    /// How often a worker gave up since it was created, or retried by hand.
    pub failures: u32,
    /// Why a worker gave up last.
    pub failure: Option<MigrationFailure>,
    /// What came between, if it was aborted.
    pub aborted: Option<AbortCause>,
    /// Objects done, as last shown.
    pub done: u64,
    /// Objects there may be in all, as last shown.
    pub estimate: Option<u64>,
    /// When it came to its end, for people.
    pub ended: Option<WallTime>,
    /// What its success rests on beside what is known; set when it succeeds.
    pub assumption: Option<Assumption>,
}

impl Migration {
    /// How often a migration is tried before somebody has to look at it.
    pub const ATTEMPTS_MAX: u32 = 8;
    /// The pause before the first retry; each further one is twice as long.
    pub const RETRY_AFTER_MIN: Duration = Duration::from_secs(1);
    /// The longest pause before a retry.
    pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(5 * 60);
    /// The least time between two changes of a migration that only tell of its progress.
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
    /// What was stored after it is as the migration wants it, also by a worker that died since. For
    /// [`RewriteAll`](MigrationReason::RewriteAll) that takes the word of whoever started it: the cluster knows nothing of
    /// keys, so by then every server must write with the new key, and the last write with the old one must have landed or
    /// be past landing. If that was not so, retrying does not help: abort it and start another one.
    pub const fn start_revision(&self) -> Revision {
        self.metadata.create_revision
    }

    /// Whether an object has to be rewritten whose content is in this version, and was last stored as a whole at this
    /// revision of the cluster.
    ///
    /// Another version than the target's always is, however late it was stored. To the right version the revision matters
    /// only where everything is written anew.
    pub fn rewrites(&self, encoding: &ApiVersion, stored_at: Revision) -> bool {
        let is_old = || match self.reason {
            MigrationReason::Agreement | MigrationReason::Manual => false,
            MigrationReason::RewriteAll => stored_at <= self.start_revision(),
        };
        self.target.version.as_ref() != Some(encoding) || is_old()
    }

    /// How long to wait before it is tried again; `None` if that is not to be done by itself.
    pub fn retry_after(&self) -> Option<Duration> {
        let failure = self.failure.as_ref()?;
        if failure.class.is_permanent() || self.failures >= Self::ATTEMPTS_MAX {
            return None;
        }
        let doublings = self.failures.saturating_sub(1).min(16);
        Some((Self::RETRY_AFTER_MIN * (1 << doublings)).min(Self::RETRY_AFTER_MAX))
    }
}

/// The encoding that a migration brings about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MigrationTarget {
    /// The hash of group, version and kind.
    pub hash: StorageVersionHash,
    /// The version; `None` if it was observed only.
    pub version: Option<ApiVersion>,
}

impl MigrationTarget {
    /// The member of `persisted` that it becomes.
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
    /// What was agreed on, or what is stored, changed.
    Agreement,
    /// Somebody asked for it.
    Manual,
    /// Every object is to be written anew though its version is right: a key is rotated. What was stored after its start
    /// needs no rewrite: see [`Migration::start_revision`] for what that assumes.
    RewriteAll,
}

/// Where a migration stands.
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
    /// It was called off, and will never be tried again.
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

/// Why a migration was called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AbortCause {
    /// The members agree no more.
    NoAgreement,
    /// They agree on something else, or agreed anew.
    AgreementMoved,
    /// Somebody asked for it.
    Requested,
    /// What is stored became unknown meanwhile, so it has to begin from the start.
    StorageUnknown,
}

/// What an answer rests on beside what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// No roster says who must speak for the resource, or what is stored was not migrated since one does.
    NoRoster,
}

impl Assumption {
    /// Its name, as programs read it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoRoster => "no-roster",
        }
    }
}

impl fmt::Display for Assumption {
    /// What is assumed, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NoRoster => {
                "no roster says who must speak, or nothing was migrated since it does, so it is assumed that nobody \
                 else wrote than those who take part or are observed"
            }
        })
    }
}

/// Who works at a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The worker, as it calls itself.
    pub worker: WorkerName,
    /// What it shows with everything that it says.
    pub token: ClaimToken,
    /// How long it may be silent.
    pub ttl: Ttl,
}

/// Why a worker gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationFailure {
    /// What kind of failure it is.
    pub class: FailureClass,
    /// What happened, for people.
    pub reason: FailureReason,
}

/// What kind of failure it is: whether it can go away by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureClass {
    /// A server was not there, too busy or in error: trying again may help.
    Transient,
    /// An object could not be rewritten for a reason of its own: trying again may help.
    Rejected,
    /// There is no such list (404), or it cannot be read or its objects updated (405).
    NotSupported,
    /// The worker may not (401, 403).
    Forbidden,
    /// An object is in an encoding that nobody at hand can read.
    Undecodable,
}

impl FailureClass {
    /// Whether only somebody's doing can help.
    pub const fn is_permanent(self) -> bool {
        match self {
            Self::Transient | Self::Rejected => false,
            Self::NotSupported | Self::Forbidden | Self::Undecodable => true,
        }
    }
}

/// How far a migration is, as its worker last said. Kept beside the migration, which shows it from
/// time to time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationProgress {
    /// Objects done.
    pub done: u64,
    /// Objects there may be in all, if the worker can tell.
    pub estimate: Option<u64>,
    /// Where the next worker goes on; `None` at the start.
    pub continue_token: Option<ContinueToken>,
}

/// What a worker calls itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerName(Arc<str>);

impl WorkerName {
    /// The worker of this name.
    ///
    /// # Errors
    ///
    /// Empty, longer than 253 bytes, or with control characters.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Err(Violation::required("must name the worker"));
        }
        short_printable(text, WORKER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(WorkerName);

/// Where a worker stands in its list: what the listed store gave it, handed on as it is.
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
