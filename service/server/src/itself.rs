//! What a replica tells of itself, to operators: how its host does, what its process logs, and what it was started with.

use std::collections::BTreeMap;
use std::sync::Arc;

use synod_machine::State;
use synod_proto::v1;

use crate::http::{MetricsText, Probed};
use crate::metrics::{FlushTimes, Metrics};
use crate::seams::{LogFilter, ProcessLog, WallClock};

/// What a replica tells of itself. Nobody else is asked, so it tells it whatever the others do.
pub(crate) struct Itself {
    pub(crate) wall: Arc<dyn WallClock>,
    pub(crate) log: Arc<dyn ProcessLog>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) metrics_text: MetricsText,
    pub(crate) probed: Probed,
    /// What it was started with; no secret.
    pub(crate) configuration: BTreeMap<String, String>,
}

impl Itself {
    /// How its host does, and how large its state is.
    pub(crate) fn vitals(&self, state: &State) -> v1::ReplicaVitals {
        let FlushTimes {
            count,
            median,
            longest,
        } = self.metrics.disk.flush_times();
        let micros =
            |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let settings = state.settings();
        v1::ReplicaVitals {
            wall_time_ms: self.wall.now().as_millis(),
            log_flushes: count,
            log_flush_us_median: micros(median),
            log_flush_us_max: micros(longest),
            state_bytes: state.bytes(),
            state_quota_bytes: settings.state_quota_bytes,
            members: number(state.member_count()),
            members_max: settings.members_max,
            sessions: number(state.session_count()),
            sessions_max: settings.sessions_max,
            storage_versions: number(state.storage_version_count()),
            disagreements: number(state.disagreement_count()),
        }
    }

    /// Which events the process logs, as it is sent.
    pub(crate) fn log_filter(&self) -> v1::LogFilter {
        sent(self.log.filter())
    }
}

/// A filter as it is sent.
pub(crate) fn sent(filter: LogFilter) -> v1::LogFilter {
    let LogFilter {
        filter,
        configured,
        remaining,
    } = filter;
    v1::LogFilter {
        filter,
        configured,
        // Rounded up, so that what was just set is told as it was asked for.
        remaining_ms: remaining
            .map(|left| u64::try_from(left.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX)),
    }
}
