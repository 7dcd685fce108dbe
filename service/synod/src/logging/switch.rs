//! Changes which events are logged while the process runs, always for a bounded time: what was configured returns by
//! itself, so nobody leaves a replica at debug.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use synod_server::seams::{LogFilter, ProcessLog};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};
use tracing_subscriber::{EnvFilter, Registry, reload};

use super::dropped::dropped_lines;
use super::parse;

/// The switch of the process's log. Clones switch the same log. All replicas of a process share it.
#[derive(Clone)]
pub(crate) struct Switch(Arc<SwitchParts>);

struct SwitchParts {
    filter: reload::Handle<EnvFilter, Registry>,
    configured: String,
    /// `None`: the configured filter is in force.
    other: Mutex<Option<Other>>,
}

/// A filter that is in force for a while.
struct Other {
    filter: String,
    until: Instant,
    /// The task that brings the configured filter back.
    returning: AbortHandle,
}

impl Switch {
    pub(super) fn new(filter: reload::Handle<EnvFilter, Registry>, configured: &str) -> Self {
        Self(Arc::new(SwitchParts {
            filter,
            configured: configured.to_owned(),
            other: Mutex::new(None),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Other>> {
        self.0.other.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a filter in force.
    fn put(&self, filter: &str) -> Result<(), String> {
        let filter = parse(filter)?;
        let put = self.0.filter.reload(filter);
        put.map_err(|error| format!("cannot be put in force: {error}"))
    }

    /// What is in force, as `other` says.
    fn shown(&self, other: Option<&Other>) -> LogFilter {
        let configured = self.0.configured.clone();
        LogFilter {
            filter: other.map_or_else(|| configured.clone(), |other| other.filter.clone()),
            configured,
            remaining: other.map(|other| other.until.saturating_duration_since(Instant::now())),
        }
    }

    /// The task that brings the configured filter back.
    fn return_at(&self, until: Instant) -> AbortHandle {
        let switch = self.clone();
        let returning = tokio::spawn(async move {
            sleep_until(until).await;
            let mut other = switch.lock();
            // Another filter may have been set just before this one's time was over.
            if other
                .as_ref()
                .is_some_and(|other| other.until <= Instant::now())
            {
                *other = None;
                let put = switch.put(&switch.0.configured);
                drop(other);
                tracing::info!(failure = put.err(), "the configured log filter is back");
            }
        });
        returning.abort_handle()
    }
}

impl ProcessLog for Switch {
    fn dropped_lines(&self) -> u64 {
        dropped_lines()
    }

    fn filter(&self) -> LogFilter {
        self.shown(self.lock().as_ref())
    }

    fn set_filter(&self, other: Option<(&str, Duration)>) -> Result<LogFilter, String> {
        let mut present = self.lock();
        self.put(other.map_or(&*self.0.configured, |(filter, _)| filter))?;
        if let Some(before) = present.take() {
            before.returning.abort();
        }
        *present = other.map(|(filter, lasts)| {
            let until = Instant::now() + lasts;
            Other {
                filter: filter.to_owned(),
                until,
                returning: self.return_at(until),
            }
        });
        Ok(self.shown(present.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
    use tracing_subscriber::{fmt, registry};

    use super::*;
    use crate::logging::lines::Lines;

    fn switch(lines: &Lines) -> (Switch, tracing::subscriber::DefaultGuard) {
        let (filter, handle) = reload::Layer::new(parse("info").unwrap());
        let log = fmt::layer().with_ansi(false).with_writer(lines.clone());
        let logging = tracing::subscriber::set_default(registry().with(log.with_filter(filter)));
        (Switch::new(handle, "info"), logging)
    }

    // Guarantee: F-02
    #[tokio::test(start_paused = true)]
    async fn another_filter_is_in_force_for_its_time_and_then_the_configured_one_again() {
        let lines = Lines::default();
        let (switch, _logging) = switch(&lines);
        tracing::debug!("before");
        let minute = Duration::from_secs(60);
        let set = switch.set_filter(Some(("debug", minute))).unwrap();
        assert_eq!(
            (set.filter.as_str(), set.remaining),
            ("debug", Some(minute))
        );
        tracing::debug!("while");
        tokio::time::advance(minute / 2).await;
        let set = switch.set_filter(Some(("trace", minute))).unwrap();
        assert_eq!(set.filter, "trace");
        tokio::time::sleep(minute * 3 / 4).await;
        assert_eq!(
            switch.filter().filter,
            "trace",
            "the first one's time is no longer counted"
        );
        tokio::time::sleep(minute).await;
        let configured = LogFilter {
            filter: "info".to_owned(),
            configured: "info".to_owned(),
            remaining: None,
        };
        assert_eq!(switch.filter(), configured);
        tracing::debug!("after");
        assert_eq!(
            [
                lines.with("before"),
                lines.with("while"),
                lines.with("after")
            ],
            [0, 1, 0]
        );
        assert_eq!(lines.with("the configured log filter is back"), 1);
    }

    // Guarantee: F-02
    #[tokio::test(start_paused = true)]
    async fn the_configured_filter_returns_when_asked_and_a_bad_one_changes_nothing() {
        let lines = Lines::default();
        let (switch, _logging) = switch(&lines);
        let hour = Duration::from_secs(3_600);
        switch.set_filter(Some(("debug", hour))).unwrap();
        let fault = switch.set_filter(Some(("synod=loud", hour))).unwrap_err();
        assert!(fault.contains("level"), "{fault}");
        assert_eq!(switch.filter().filter, "debug");
        let set = switch.set_filter(None).unwrap();
        assert_eq!((set.filter.as_str(), set.remaining), ("info", None));
        tracing::debug!("after");
        assert_eq!(lines.with("after"), 0);
    }
}
