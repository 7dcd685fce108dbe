//! The replicated settings: all that apply reads beside the state, the same on every replica.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::limits::{REPORT_BYTES_MAX, STATE_RESERVE_BYTES, TTL_MS_MAX, TTL_MS_MIN};
use crate::log_time::whole_millis;
use crate::{GroupResource, Revision, Violation, Violations};

/// The settings as they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Revisions that the history keeps.
    pub history_revisions: u64,
    /// Bytes that the history keeps, whichever of the two is reached first.
    pub history_bytes: u64,
    /// How long a write may still land after its member's proof of membership has ended.
    pub write_grace: Duration,
    /// How long a replaced member's entries stay while the new epoch does not report.
    pub unreported_grace: Duration,
    /// How long a session lives without use.
    pub session_ttl: Duration,
    /// Outcomes that a session remembers.
    pub session_outcomes: u32,
    /// Sessions that can be open at once.
    pub sessions_max: u32,
    /// Members that can have joined at once.
    pub members_max: u32,
    /// Entries that one report can carry.
    pub report_entries_max: u32,
    /// Agreements that a resource's history remembers.
    pub agreements_kept: u32,
    /// Bytes of state beyond which what makes it grow is refused.
    pub state_quota_bytes: u64,
    /// Finished migrations that a resource remembers.
    pub migrations_kept: u32,
    /// How often an observer looks at discovery; after twice that, what it saw is stale.
    pub discovery_period: Duration,
    /// Resources whose voters must decode all that is persisted.
    pub enforce_persisted: BTreeSet<GroupResource>,
    /// The revision of the last change of the settings.
    pub revision: Revision,
}

/// New values for some of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsPatch {
    /// See [`Settings::history_revisions`].
    pub history_revisions: Option<u64>,
    /// See [`Settings::history_bytes`].
    pub history_bytes: Option<u64>,
    /// See [`Settings::write_grace`].
    pub write_grace: Option<Duration>,
    /// See [`Settings::unreported_grace`].
    pub unreported_grace: Option<Duration>,
    /// See [`Settings::session_ttl`].
    pub session_ttl: Option<Duration>,
    /// See [`Settings::session_outcomes`].
    pub session_outcomes: Option<u32>,
    /// See [`Settings::sessions_max`].
    pub sessions_max: Option<u32>,
    /// See [`Settings::members_max`].
    pub members_max: Option<u32>,
    /// See [`Settings::report_entries_max`].
    pub report_entries_max: Option<u32>,
    /// See [`Settings::agreements_kept`].
    pub agreements_kept: Option<u32>,
    /// See [`Settings::state_quota_bytes`].
    pub state_quota_bytes: Option<u64>,
    /// See [`Settings::migrations_kept`].
    pub migrations_kept: Option<u32>,
    /// See [`Settings::discovery_period`].
    pub discovery_period: Option<Duration>,
    /// See [`Settings::enforce_persisted`]; the whole set.
    pub enforce_persisted: Option<BTreeSet<GroupResource>>,
}

/// A row of the published table of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name in the protocol's JSON form.
    pub name: &'static str,
    /// What is counted.
    pub unit: &'static str,
    /// The least that is allowed.
    pub min: u64,
    /// What a new cluster has.
    pub default: u64,
    /// The most that is allowed.
    pub max: u64,
}

/// See [`Settings::history_revisions`].
pub const HISTORY_REVISIONS: Setting = Setting {
    name: "historyRevisions",
    unit: "revisions",
    min: 1,
    default: 10_000,
    max: 1_000_000,
};
/// See [`Settings::history_bytes`].
pub const HISTORY_BYTES: Setting = Setting {
    name: "historyBytes",
    unit: "bytes",
    min: 16 << 20,
    default: 64 << 20,
    max: 4 << 30,
};
/// See [`Settings::write_grace`].
pub const WRITE_GRACE: Setting = millis("writeGraceMs", 70_000);
/// See [`Settings::unreported_grace`].
pub const UNREPORTED_GRACE: Setting = millis("unreportedGraceMs", 5 * 60_000);
/// See [`Settings::session_ttl`].
pub const SESSION_TTL: Setting = millis("sessionTtlMs", 5 * 60_000);
/// See [`Settings::session_outcomes`].
pub const SESSION_OUTCOMES: Setting = count("sessionOutcomes", "outcomes", 1_024, 65_536);
/// See [`Settings::sessions_max`].
pub const SESSIONS_MAX: Setting = count("sessionsMax", "sessions", 100_000, 1_000_000);
/// See [`Settings::members_max`].
pub const MEMBERS_MAX: Setting = count("membersMax", "members", 10_000, 100_000);
/// See [`Settings::report_entries_max`].
pub const REPORT_ENTRIES_MAX: Setting = count("reportEntriesMax", "entries", 10_000, 100_000);
/// See [`Settings::agreements_kept`].
pub const AGREEMENTS_KEPT: Setting = count("agreementsKept", "agreements", 100, 10_000);
/// See [`Settings::state_quota_bytes`].
pub const STATE_QUOTA_BYTES: Setting = Setting {
    name: "stateQuotaBytes",
    unit: "bytes",
    min: 128 << 20,
    default: 1 << 30,
    max: 64 << 30,
};
/// See [`Settings::migrations_kept`].
pub const MIGRATIONS_KEPT: Setting = count("migrationsKept", "migrations", 10, 1_000);
/// See [`Settings::discovery_period`].
pub const DISCOVERY_PERIOD: Setting = millis("discoveryPeriodMs", 10 * 60_000);
/// See [`Settings::enforce_persisted`]; the number of resources in it.
pub const ENFORCE_PERSISTED: Setting = Setting {
    name: "enforcePersisted",
    unit: "resources",
    min: 0,
    default: 0,
    max: 10_000,
};

/// Every setting, as it is published.
pub const SETTINGS: &[Setting] = &[
    HISTORY_REVISIONS,
    HISTORY_BYTES,
    WRITE_GRACE,
    UNREPORTED_GRACE,
    SESSION_TTL,
    SESSION_OUTCOMES,
    SESSIONS_MAX,
    MEMBERS_MAX,
    REPORT_ENTRIES_MAX,
    AGREEMENTS_KEPT,
    STATE_QUOTA_BYTES,
    MIGRATIONS_KEPT,
    DISCOVERY_PERIOD,
    ENFORCE_PERSISTED,
];

// The history can hold what a largest report changes, or no watcher could ever follow one.
const _: () = assert!(HISTORY_BYTES.min >= 2 * REPORT_BYTES_MAX as u64);
// Beside the reserve there is room for some state.
const _: () = assert!(STATE_QUOTA_BYTES.min >= 2 * STATE_RESERVE_BYTES);

impl Setting {
    /// Adds a violation if `value` is out of bounds.
    fn check(&self, value: Option<u64>, violations: &mut Violations) {
        let Some(value) = value else { return };
        if !(self.min..=self.max).contains(&value) {
            let rule = format_args!(
                "must be between {} and {} {}",
                self.min, self.max, self.unit
            );
            violations.push(Violation::invalid_number(value, rule).at(self.name));
        }
    }

    fn check_count(&self, count: Option<u32>, violations: &mut Violations) {
        self.check(count.map(u64::from), violations);
    }

    fn check_span(&self, span: Option<Duration>, violations: &mut Violations) {
        let Some(span) = span else { return };
        let millis = whole_millis(span);
        if Duration::from_millis(millis) == span {
            self.check(Some(millis), violations);
        } else {
            let rule = "must be a whole number of milliseconds";
            violations.push(Violation::invalid(&format!("{span:?}"), rule).at(self.name));
        }
    }

    /// The default of a setting that counts something. Every such maximum fits in 32 bits, which
    /// [`count`] asserts.
    const fn default_count(&self) -> u32 {
        self.default as u32
    }

    const fn default_span(&self) -> Duration {
        Duration::from_millis(self.default)
    }
}

const fn millis(name: &'static str, default: u64) -> Setting {
    Setting {
        name,
        unit: "milliseconds",
        min: TTL_MS_MIN,
        default,
        max: TTL_MS_MAX,
    }
}

const fn count(name: &'static str, unit: &'static str, default: u64, max: u64) -> Setting {
    assert!(default <= max && max <= u32::MAX as u64);
    Setting {
        name,
        unit,
        min: 1,
        default,
        max,
    }
}

impl Default for Settings {
    /// What a new cluster has.
    fn default() -> Self {
        Self {
            history_revisions: HISTORY_REVISIONS.default,
            history_bytes: HISTORY_BYTES.default,
            write_grace: WRITE_GRACE.default_span(),
            unreported_grace: UNREPORTED_GRACE.default_span(),
            session_ttl: SESSION_TTL.default_span(),
            session_outcomes: SESSION_OUTCOMES.default_count(),
            sessions_max: SESSIONS_MAX.default_count(),
            members_max: MEMBERS_MAX.default_count(),
            report_entries_max: REPORT_ENTRIES_MAX.default_count(),
            agreements_kept: AGREEMENTS_KEPT.default_count(),
            state_quota_bytes: STATE_QUOTA_BYTES.default,
            migrations_kept: MIGRATIONS_KEPT.default_count(),
            discovery_period: DISCOVERY_PERIOD.default_span(),
            enforce_persisted: BTreeSet::new(),
            revision: Revision::ZERO,
        }
    }
}

impl Settings {
    /// Every setting that is out of bounds.
    pub fn check(&self) -> Violations {
        SettingsPatch::from(self.clone()).check()
    }
}

impl SettingsPatch {
    /// Every new value that is out of bounds.
    pub fn check(&self) -> Violations {
        // Named one by one, so that a new setting cannot go unchecked.
        let Self {
            history_revisions,
            history_bytes,
            write_grace,
            unreported_grace,
            session_ttl,
            session_outcomes,
            sessions_max,
            members_max,
            report_entries_max,
            agreements_kept,
            state_quota_bytes,
            migrations_kept,
            discovery_period,
            enforce_persisted,
        } = self;
        let mut violations = Violations::new();
        let found = &mut violations;
        HISTORY_REVISIONS.check(*history_revisions, found);
        HISTORY_BYTES.check(*history_bytes, found);
        WRITE_GRACE.check_span(*write_grace, found);
        UNREPORTED_GRACE.check_span(*unreported_grace, found);
        SESSION_TTL.check_span(*session_ttl, found);
        SESSION_OUTCOMES.check_count(*session_outcomes, found);
        SESSIONS_MAX.check_count(*sessions_max, found);
        MEMBERS_MAX.check_count(*members_max, found);
        REPORT_ENTRIES_MAX.check_count(*report_entries_max, found);
        AGREEMENTS_KEPT.check_count(*agreements_kept, found);
        STATE_QUOTA_BYTES.check(*state_quota_bytes, found);
        MIGRATIONS_KEPT.check_count(*migrations_kept, found);
        DISCOVERY_PERIOD.check_span(*discovery_period, found);
        let enforced = enforce_persisted.as_ref().map(BTreeSet::len);
        ENFORCE_PERSISTED.check(enforced.map(|resources| resources as u64), found);
        violations
    }

    /// Whether it names no setting.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The settings with the new values in place. Their revision is left to the caller, who
    /// knows whether anything changed.
    #[must_use]
    pub fn applied_to(self, settings: &Settings) -> Settings {
        Settings {
            history_revisions: self.history_revisions.unwrap_or(settings.history_revisions),
            history_bytes: self.history_bytes.unwrap_or(settings.history_bytes),
            write_grace: self.write_grace.unwrap_or(settings.write_grace),
            unreported_grace: self.unreported_grace.unwrap_or(settings.unreported_grace),
            session_ttl: self.session_ttl.unwrap_or(settings.session_ttl),
            session_outcomes: self.session_outcomes.unwrap_or(settings.session_outcomes),
            sessions_max: self.sessions_max.unwrap_or(settings.sessions_max),
            members_max: self.members_max.unwrap_or(settings.members_max),
            report_entries_max: self
                .report_entries_max
                .unwrap_or(settings.report_entries_max),
            agreements_kept: self.agreements_kept.unwrap_or(settings.agreements_kept),
            state_quota_bytes: self.state_quota_bytes.unwrap_or(settings.state_quota_bytes),
            migrations_kept: self.migrations_kept.unwrap_or(settings.migrations_kept),
            discovery_period: self.discovery_period.unwrap_or(settings.discovery_period),
            enforce_persisted: self
                .enforce_persisted
                .unwrap_or_else(|| settings.enforce_persisted.clone()),
            revision: settings.revision,
        }
    }
}

impl From<Settings> for SettingsPatch {
    /// The patch that sets every setting to what it is here.
    fn from(settings: Settings) -> Self {
        Self {
            history_revisions: Some(settings.history_revisions),
            history_bytes: Some(settings.history_bytes),
            write_grace: Some(settings.write_grace),
            unreported_grace: Some(settings.unreported_grace),
            session_ttl: Some(settings.session_ttl),
            session_outcomes: Some(settings.session_outcomes),
            sessions_max: Some(settings.sessions_max),
            members_max: Some(settings.members_max),
            report_entries_max: Some(settings.report_entries_max),
            agreements_kept: Some(settings.agreements_kept),
            state_quota_bytes: Some(settings.state_quota_bytes),
            migrations_kept: Some(settings.migrations_kept),
            discovery_period: Some(settings.discovery_period),
            enforce_persisted: Some(settings.enforce_persisted),
        }
    }
}

#[cfg(test)]
mod tests;
