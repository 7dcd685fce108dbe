//! The one table of the settings.

/// Hands the table of the settings to the macro of this name. A row is: its doc comment, the field and its type, the
/// field on the wire, the constant with its name in JSON, how people write it, its unit, the least value, the value in
/// a new cluster, the most. All code for a setting follows from its row; on the wire it is a field of two messages in
/// `cluster.proto`.
///
/// A new row belongs to a machine version: replicas of an older one can neither read it nor apply it.
#[doc(hidden)]
#[macro_export]
macro_rules! settings_table {
    ($then:ident) => {
        $then! {
            /// Revisions that the history keeps; of members, storage versions and states, migrations, rosters and settings, as many
            /// revisions of their own.
            history_revisions: u64, history_revisions, HISTORY_REVISIONS = "historyRevisions"
                Number "revisions" 1, 10_000, 1_000_000;
            /// Bytes that the history keeps, whichever of the two is reached first; as many of the same kinds.
            history_bytes: u64, history_bytes, HISTORY_BYTES = "historyBytes"
                Bytes "bytes" 16 << 20, 64 << 20, 4 << 30;
            /// How long a write may still land after its member's proof of membership has ended.
            write_grace: Duration, write_grace_ms, WRITE_GRACE = "writeGraceMs"
                Span "milliseconds" TTL_MS_MIN, 70_000, TTL_MS_MAX;
            /// How long a replaced member's entries stay while the new epoch does not report.
            unreported_grace: Duration, unreported_grace_ms, UNREPORTED_GRACE = "unreportedGraceMs"
                Span "milliseconds" TTL_MS_MIN, 5 * 60_000, TTL_MS_MAX;
            /// How long a session lives without use.
            session_ttl: Duration, session_ttl_ms, SESSION_TTL = "sessionTtlMs"
                Span "milliseconds" TTL_MS_MIN, 5 * 60_000, TTL_MS_MAX;
            /// Outcomes that a session remembers.
            session_outcomes: u32, session_outcomes, SESSION_OUTCOMES = "sessionOutcomes"
                Number "outcomes" 1, 1_024, 65_536;
            /// Sessions that can be open at once.
            sessions_max: u32, sessions_max, SESSIONS_MAX = "sessionsMax"
                Number "sessions" 1, 100_000, 1_000_000;
            /// Members that can have joined at once.
            members_max: u32, members_max, MEMBERS_MAX = "membersMax"
                Number "members" 1, 10_000, 100_000;
            /// Entries that one report can carry.
            report_entries_max: u32, report_entries_max, REPORT_ENTRIES_MAX = "reportEntriesMax"
                Number "entries" 1, 10_000, 100_000;
            /// Agreements that a resource's history remembers.
            agreements_kept: u32, agreements_kept, AGREEMENTS_KEPT = "agreementsKept"
                Number "agreements" 1, 100, 10_000;
            /// Bytes of state beyond which what makes it grow is refused.
            state_quota_bytes: u64, state_quota_bytes, STATE_QUOTA_BYTES = "stateQuotaBytes"
                Bytes "bytes" 128 << 20, 1 << 30, 64 << 30;
            /// Finished migrations that a resource remembers.
            migrations_kept: u32, migrations_kept, MIGRATIONS_KEPT = "migrationsKept"
                Number "migrations" 1, 10, 1_000;
            /// How often an observer looks at discovery; after twice that, what it saw is stale.
            discovery_period: Duration, discovery_period_ms, DISCOVERY_PERIOD = "discoveryPeriodMs"
                Span "milliseconds" TTL_MS_MIN, 10 * 60_000, TTL_MS_MAX;
            /// Resources whose voters must decode all that is persisted. Its bounds are those of their number.
            enforce_persisted: BTreeSet<GroupResource>, enforce_persisted, ENFORCE_PERSISTED = "enforcePersisted"
                Resources "resources" 0, 0, 10_000;
            /// Whether votes move what is selected.
            votes: Switch, votes, VOTES = "votes"
                OnOff "0 is off, 1 is on" 0, 1, 1;
            /// Whether collections and their objects change.
            objects: Switch, objects, OBJECTS = "objects"
                OnOff "0 is off, 1 is on" 0, 1, 1;
            /// Whether histories of ControllerRevisions change.
            histories: Switch, histories, HISTORIES = "histories"
                OnOff "0 is off, 1 is on" 0, 1, 1;
            /// Whether leases are given and renewed, and candidates stand for them.
            leases: Switch, leases, LEASES = "leases"
                OnOff "0 is off, 1 is on" 0, 1, 1;
            /// Whether migrations are started and worked at.
            migrations: Switch, migrations, MIGRATIONS = "migrations"
                OnOff "0 is off, 1 is on" 0, 1, 1;
        }
    };
}
