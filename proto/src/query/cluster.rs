use std::time::Duration;

use synod_model::{Violation, Violations, WallTime};

use super::Consistency;
use crate::limits::{
    LOG_FILTER_BYTES_MAX, LOG_FILTER_MS_DEFAULT, LOG_FILTER_MS_MAX, LOG_FILTER_MS_MIN,
};
use crate::{messages, v1};

/// Asks for the replicated settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetSettings {
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for the newest revision at or before a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindRevisionAt {
    /// The time.
    pub time: WallTime,
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakeBackup {
    /// How fresh the state must be.
    pub read: Consistency,
}

impl TakeBackup {
    /// Its faults: the rows of a past state are not kept.
    fn check(&self) -> Violations {
        at_present(
            self.read,
            "must not be given: a backup is of the present state",
        )
    }
}

impl FindRevisionAt {
    fn check(&self) -> Violations {
        at_present(self.read, "must not be given: the answer is a revision")
    }
}

/// The fault of a read at a past revision, which breaks the rule.
fn at_present(read: Consistency, rule: &str) -> Violations {
    let mut found = Violations::new();
    if let Consistency::AtRevision(revision) = read {
        let fault = Violation::invalid_number(revision.get(), rule);
        found.push(fault.at("read.atRevision"));
    }
    found
}

/// Asks one replica to log other events for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetLogFilter {
    /// The filter; `None`: the one that the replica is configured with, from now on.
    pub filter: Option<String>,
    /// After this time the configured filter returns.
    pub lasts: Duration,
}

messages! {
    v1::ClusterBackupRequest = TakeBackup {
        read = read,
    } => check
    v1::ClusterRevisionAtRequest = FindRevisionAt {
        time = time_ms,
        read = read,
    } => check
    v1::ClusterGetSettingsRequest = GetSettings {
        read = read,
    }
    v1::ClusterSetLogFilterRequest = SetLogFilter {
        filter = filter,
        lasts = for_ms or Duration::from_millis(LOG_FILTER_MS_DEFAULT),
    } => check
}

impl SetLogFilter {
    fn check(&self) -> Violations {
        let mut found = Violations::new();
        let filter = self.filter.as_deref();
        if filter.is_some_and(|filter| filter.trim().is_empty()) {
            let rule = "must say what to log, as in synod_server=debug,info";
            found.push(Violation::required(rule).at("filter"));
        }
        if filter.is_some_and(|filter| filter.len() > LOG_FILTER_BYTES_MAX) {
            found.push(Violation::too_long(LOG_FILTER_BYTES_MAX).at("filter"));
        }
        let lasts = u64::try_from(self.lasts.as_millis()).unwrap_or(u64::MAX);
        if !(LOG_FILTER_MS_MIN..=LOG_FILTER_MS_MAX).contains(&lasts) {
            let rule =
                format!("must be between {LOG_FILTER_MS_MIN} and {LOG_FILTER_MS_MAX} milliseconds");
            found.push(Violation::invalid_number(lasts, rule).at("forMs"));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(filter: Option<&str>, for_ms: Option<u64>) -> Vec<String> {
        let message = v1::ClusterSetLogFilterRequest {
            filter: filter.map(str::to_owned),
            for_ms,
        };
        match SetLogFilter::try_from(message) {
            Ok(_) => Vec::new(),
            Err(found) => found.iter().map(|fault| fault.field.clone()).collect(),
        }
    }

    // Guarantee: F-02
    #[test]
    fn other_events_are_logged_for_a_bounded_time_by_a_filter_of_bounded_length() {
        let longest = "x".repeat(LOG_FILTER_BYTES_MAX);
        assert_eq!(faults(Some(&longest), Some(LOG_FILTER_MS_MAX)), [""; 0]);
        assert_eq!(faults(None, None), [""; 0]);
        let too_long = format!("{longest}x");
        assert_eq!(
            faults(Some(&too_long), Some(LOG_FILTER_MS_MAX + 1)),
            ["filter", "forMs"]
        );
        assert_eq!(
            faults(Some(" "), Some(LOG_FILTER_MS_MIN - 1)),
            ["filter", "forMs"]
        );
    }
}
