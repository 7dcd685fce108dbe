//! The cluster of a simulated year: the machine, and the log time that its leaders count.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use synod_machine::{
    Answer, Command, Envelope, Expire, Holder, Initialize, LogEntry, Outcome, Restore, State,
    StateStatus, StorageStateView, check_drop,
};
use synod_model::{
    ApiVersion, ClusterId, GroupResource, Kind, LogTime, MemberId, Migration, MigrationId,
    Persisted, Refusal, Renew, Settings, StorageVersionHash, WallTime,
};

use crate::agenda::Time;
use crate::raised::raised;
use crate::store::{Resource, Version};
use crate::stored;

/// The first resource is voted on; of the second, each server encodes a fixed version.
pub(crate) const RESOURCES: [&str; 2] = ["gadgets", "widgets"];
/// The resource that is voted on.
pub(crate) const VOTED: Resource = 0;

/// The highest number of a version.
const LAST_VERSION: Version = 64;

/// The wall clock at the beginning of the year.
pub(crate) const BEGIN_WALL_MS: u64 = 1_800_000_000_000;

const LEGAL: &str = "the year uses legal names and numbers";

/// The replicated state, in its present.
pub(crate) struct Cluster {
    pub(crate) state: State,
    now: Time,
    /// How long there was no leader in all: log time stood still for so long.
    stood_still: u64,
    /// Since when there is no leader.
    away_since: Option<Time>,
    /// Whether the next entry is the first of a term.
    lift: bool,
    /// The time of the last entry.
    heard_at: Time,
    /// The time of the present leader's first entry.
    answered_since: Time,
    /// The number of clusters before this one.
    lost: u8,
    /// The renewals that the present leader has kept to itself, with the log times until which they hold.
    kept: BTreeMap<Holder, (Command, LogTime)>,
}

impl Cluster {
    pub(crate) fn formed() -> Self {
        let mut cluster = Self {
            state: State::new(),
            now: 0,
            stood_still: 0,
            away_since: None,
            lift: true,
            heard_at: 0,
            answered_since: 0,
            lost: 0,
            kept: BTreeMap::new(),
        };
        let initialize = Initialize {
            cluster: ClusterId::from_bytes([7; 16]),
            settings: Settings::default(),
        };
        let formed = cluster.send(Command::Initialize(initialize));
        formed.expect("a new cluster can be formed");
        if about() != About::Encodings {
            for command in raised() {
                let raised = cluster.send(command);
                raised.expect("the only replica knows machine version 2");
            }
        }
        cluster
    }

    pub(crate) fn advance(&mut self, now: Time) {
        self.now = now;
    }

    pub(crate) fn answers(&self) -> bool {
        self.away_since.is_none()
    }

    pub(crate) fn heard_at(&self) -> Time {
        self.heard_at
    }

    pub(crate) fn answered_since(&self) -> Time {
        self.answered_since
    }

    /// The quorum is lost: no call is answered, and log time stands still.
    pub(crate) fn goes(&mut self) {
        self.away_since = Some(self.now);
    }

    /// There is a leader again.
    pub(crate) fn returns(&mut self) {
        if let Some(since) = self.away_since.take() {
            self.stood_still += self.now - since;
            self.lift = true;
            self.kept.clear();
        }
    }

    /// New replicas begin with the content of a backup, and log time continues from there.
    pub(crate) fn is_restored(&mut self, backup: State) {
        self.stood_still = self.now - backup.log_time().as_millis();
        self.state = backup;
        self.away_since = None;
        self.lift = true;
        self.kept.clear();
        self.lost += 1;
        let restore = Restore {
            cluster: ClusterId::from_bytes([7 + self.lost; 16]),
        };
        let restored = self.send(Command::Restore(restore));
        restored.expect("a backup can be restored under a new identity");
    }

    pub(crate) fn log_time(&self) -> LogTime {
        LogTime::from_millis(self.now - self.stood_still)
    }

    /// Applies a command. No call is made while the cluster is away.
    pub(crate) fn send(&mut self, command: Command) -> Result<Answer, Refusal> {
        assert!(self.answers(), "nobody leads, so nothing is applied");
        self.heard_at = self.now;
        if self.lift {
            self.answered_since = self.now;
        }
        let entry = LogEntry {
            log_time: self.log_time(),
            lift_deadlines: std::mem::take(&mut self.lift),
            wall: WallTime::from_millis(BEGIN_WALL_MS + self.now),
            commands: vec![Envelope {
                actor: None,
                request: None,
                command: Arc::new(command),
            }],
        };
        let applied = self.state.apply(&stored::read_back(&entry));
        stored::check(&applied);
        let outcome: Option<Outcome> = applied.outcomes.into_iter().next();
        outcome.expect("each command has an outcome").result
    }

    /// Renews a member. The leader keeps every second renewal to itself.
    pub(crate) fn renew(&mut self, renew: Renew) -> Result<Answer, Refusal> {
        let command = Command::Renew(renew);
        let kept = self.now.is_multiple_of(2) && !self.lift;
        match self.state.renewal(&command) {
            Some(Ok(renewal)) if kept => {
                self.heard_at = self.now;
                let until = self.log_time().after(renewal.ttl.duration());
                self.kept.insert(renewal.holder, (command, until));
                Ok(renewal.answer)
            }
            _ => self.send(command),
        }
    }

    fn is_kept(&self, holder: &Holder) -> bool {
        let Some((renewal, until)) = self.kept.get(holder) else {
            return false;
        };
        *until > self.log_time() && matches!(self.state.renewal(renewal), Some(Ok(_)))
    }

    /// The leader proposes what is past its deadline.
    pub(crate) fn expire(&mut self) {
        let mut expire = Expire::default();
        let present = self.state.present();
        let epoch_of = |id: &MemberId| present.member(id).expect("its deadline is known").epoch;
        for holder in self
            .state
            .due_besides(self.log_time(), usize::MAX, |holder| self.is_kept(holder))
            .holders
        {
            match holder {
                Holder::Member(id) => {
                    let epoch = epoch_of(&id);
                    expire.members.insert((id, epoch));
                }
                Holder::Unreported(id) => {
                    let epoch = epoch_of(&id);
                    expire.unreported.insert((id, epoch));
                }
                Holder::Claim(id) => {
                    let migration = present.migration(&id).expect("its deadline is known");
                    let claim = migration.claim.as_ref().expect("its deadline is known");
                    expire.claims.insert((id, claim.token));
                }
                Holder::Retry(id) => {
                    expire.retries.insert(id);
                }
                Holder::Observation(resource) => {
                    expire.observations.insert(resource);
                }
                Holder::Topic(resource) => {
                    expire.topics.insert(resource);
                }
                other => panic!("nothing here has sessions, leases or objects, but {other:?}"),
            }
        }
        self.send(Command::Expire(expire))
            .expect("it names what is due");
    }

    /// The storage state of a resource, once it has been reported.
    pub(crate) fn kept(&self, of: Resource) -> Option<StorageStateView> {
        self.state.present().storage_state(&resource(of))
    }

    /// As [`Self::kept`], the status alone.
    pub(crate) fn status(&self, of: Resource) -> Option<StateStatus> {
        Some(self.kept(of)?.row.status.clone())
    }

    /// The versions that cannot be stored, of these, as far as the machine knows. Of a resource without a storage state it
    /// knows nothing.
    pub(crate) fn not_stored(&self, of: Resource, stored: &BTreeSet<Version>) -> Option<Version> {
        let kept = self.kept(of)?;
        let persisted = &kept.row.status.persisted;
        let is_known = |version: &Version| {
            let hash = hash_of(*version);
            let mut persisted = persisted.iter();
            persisted.any(|one| one.hash().is_none_or(|kept| kept == hash))
        };
        stored.iter().copied().find(|version| !is_known(version))
    }

    /// The versions in which objects may be stored; `None` for an unknown one.
    pub(crate) fn persisted(&self, of: Resource) -> Vec<Option<ApiVersion>> {
        let persisted = self.status(of).map(|status| status.persisted);
        let persisted = persisted.into_iter().flatten();
        persisted
            .map(|one| match one {
                Persisted::Unknown => None,
                Persisted::Version { hash, .. } => Some(version_of(with_hash(hash))),
            })
            .collect()
    }

    /// Whether the machine says that this version may be dropped.
    pub(crate) fn calls_safe(&self, of: Resource, version: Version) -> bool {
        let (past, now) = (self.state.present(), self.state.log_time());
        check_drop(&past, now, &resource(of), &version_of(version)).is_safe()
    }

    /// Whether a member that the roster asks for is missing for a resource.
    pub(crate) fn misses_somebody(&self, of: Resource) -> bool {
        let present = self.state.present();
        let rosters = present.rosters_of(&resource(of));
        !rosters.is_empty()
            && self
                .status(of)
                .is_none_or(|status| !status.absent.is_empty())
    }

    /// Whether `persisted` of a resource is on trust: then a safe answer names an assumption.
    pub(crate) fn is_on_trust(&self, of: Resource) -> bool {
        let status = self.status(of);
        status.is_none_or(|status| status.on_trust.is_some())
    }

    /// Whether some member reports a resource.
    pub(crate) fn is_reported(&self, of: Resource) -> bool {
        let present = self.state.present();
        present.storage_version(&resource(of)).is_some()
    }

    /// The migrations that are pending or running.
    pub(crate) fn open_migrations(&self, of: Resource) -> Vec<MigrationId> {
        let resource = resource(of);
        let open = self.state.migrations_of(&resource);
        let open = open.filter(|migration| Migration::is_open(migration));
        open.map(|migration| migration.id.clone()).collect()
    }

    pub(crate) fn migration(&self, id: &MigrationId) -> Option<Migration> {
        self.state.present().migration(id).map(|one| (*one).clone())
    }
}

/// What the first resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// A resource whose encoding is voted on.
    Encodings,
    /// The key of a resource: its versions are keys.
    Keys,
    /// A feature: its versions are levels.
    Levels,
}

thread_local! {
    static ABOUT: Cell<About> = const { Cell::new(About::Encodings) };
}

/// From here on the first resource is this. For this thread, which is one test's.
pub(crate) fn speak_of(about: About) {
    ABOUT.set(about);
}

/// What the first resource is.
pub(crate) fn about() -> About {
    ABOUT.get()
}

pub(crate) fn resource(of: Resource) -> GroupResource {
    let group = match (of, about()) {
        (VOTED, About::Keys) => "keys.synod",
        (VOTED, About::Levels) => "features.synod",
        _ => "example.io",
    };
    GroupResource::new(group, RESOURCES[of]).expect(LEGAL)
}

pub(crate) fn version_of(version: Version) -> ApiVersion {
    let name = match about() {
        About::Encodings | About::Keys => format!("example.io/v{version}"),
        About::Levels => format!("v{version}"),
    };
    ApiVersion::parse(&name).expect(LEGAL)
}

/// The kind of all objects.
pub(crate) fn kind() -> Kind {
    Kind::parse("Thing").expect(LEGAL)
}

/// The hash that discovery shows of a version.
pub(crate) fn hash_of(version: Version) -> StorageVersionHash {
    hashes()[usize::from(version)]
}

/// The version that has this hash.
pub(crate) fn with_hash(hash: StorageVersionHash) -> Version {
    let version = hashes().iter().position(|one| *one == hash);
    version.and_then(|it| it.try_into().ok()).expect(LEGAL)
}

/// The hash of each version. They are asked for at every event.
fn hashes() -> &'static [StorageVersionHash] {
    fn all() -> Vec<StorageVersionHash> {
        let versions = 0..=LAST_VERSION;
        let hash = |version| StorageVersionHash::of_version(&version_of(version), &kind());
        versions.map(hash).collect()
    }
    static ENCODINGS: LazyLock<Vec<StorageVersionHash>> = LazyLock::new(all);
    static LEVELS: LazyLock<Vec<StorageVersionHash>> = LazyLock::new(all);
    match about() {
        About::Encodings | About::Keys => &ENCODINGS,
        About::Levels => &LEVELS,
    }
}

/// The number of a version.
pub(crate) fn number_of(version: &ApiVersion) -> Version {
    let digits = version.version().trim_start_matches('v');
    digits.parse().expect(LEGAL)
}
