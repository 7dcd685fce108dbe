//! What a replica tells of itself.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_model::WallTime;
use synod_proto::{messages, v1};

use super::Header;

/// What a replica tells of its host and of the size of its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaVitals {
    /// Its wall clock. No rule depends on it.
    pub wall_time: WallTime,
    /// How many of its last writes to the log the two times below are of.
    pub log_flushes: u32,
    /// The median of how long they took until they were durable, in microseconds; 0 if there were none.
    pub log_flush_us_median: u64,
    /// The longest of them, in microseconds; 0 if there were none.
    pub log_flush_us_max: u64,
    /// How large the state is, in bytes.
    pub state_bytes: u64,
    /// How large it may grow, in bytes.
    pub state_quota_bytes: u64,
    /// How many members there are.
    pub members: u32,
    /// How many there may be.
    pub members_max: u32,
    /// How many sessions are open.
    pub sessions: u32,
    /// How many may be open.
    pub sessions_max: u32,
    /// How many resources are reported.
    pub storage_versions: u32,
    /// On how many of them there is no agreement.
    pub disagreements: u32,
}

/// Which events a replica's process logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter {
    /// The filter in force.
    pub filter: String,
    /// The filter that the process was started with.
    pub configured: String,
    /// After this time the configured filter returns; `None`: it is in force.
    pub remaining: Option<Duration>,
}

/// A replica's log filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilterView {
    /// The replica that answered, and its own revision.
    pub header: Header,
    /// The filter.
    pub log_filter: LogFilter,
}

/// What a replica knows of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    /// The replica that answered, and its own revision.
    pub header: Header,
    /// What it was started with, by the names of the settings file; of what may be secret, only where it is.
    pub configuration: BTreeMap<String, String>,
    /// Its metrics, in the OpenMetrics text format.
    pub metrics: String,
    /// The answer of `/readyz?verbose`.
    pub readiness: String,
    /// Its log filter.
    pub log_filter: LogFilter,
}

messages! {
    v1::ReplicaVitals = ReplicaVitals {
        wall_time = wall_time_ms,
        log_flushes = log_flushes,
        log_flush_us_median = log_flush_us_median,
        log_flush_us_max = log_flush_us_max,
        state_bytes = state_bytes,
        state_quota_bytes = state_quota_bytes,
        members = members,
        members_max = members_max,
        sessions = sessions,
        sessions_max = sessions_max,
        storage_versions = storage_versions,
        disagreements = disagreements,
    }
    v1::LogFilter = LogFilter: "must be there" {
        filter = filter,
        configured = configured,
        remaining = remaining_ms,
    }
    v1::ClusterGetDiagnosticsResponse = Diagnostics {
        header = header,
        configuration = configuration by as_they_are,
        metrics = metrics,
        readiness = readiness,
        log_filter = log_filter,
    }
}

messages! {
    v1::ClusterGetLogFilterResponse, v1::ClusterSetLogFilterResponse = LogFilterView {
        header = header,
        log_filter = log_filter,
    }
}

/// A map of texts.
mod as_they_are {
    use std::collections::BTreeMap;

    use synod_model::Violations;

    pub(super) fn write(map: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        map.clone()
    }

    pub(super) fn read(
        pb: BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, Violations> {
        Ok(pb)
    }
}
