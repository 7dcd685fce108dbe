//! The metrics of a worker, under the names that users of kube-storage-version-migrator know.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::commands::metrics_port::{family, labels};

/// The metrics of a worker. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Metrics {
    counts: Arc<Mutex<Counts>>,
}

/// By the full name of a resource.
#[derive(Debug, Default)]
struct Counts {
    migrated: BTreeMap<String, u64>,
    remaining: BTreeMap<String, u64>,
    /// By the status, too.
    migrations: BTreeMap<(String, &'static str), u64>,
}

impl Metrics {
    pub(super) fn migrated(&self, resource: &str) {
        self.change(|counts| *counts.migrated.entry(resource.to_owned()).or_default() += 1);
    }

    pub(super) fn remain(&self, resource: &str, objects: u64) {
        self.change(|counts| {
            counts.remaining.insert(resource.to_owned(), objects);
        });
    }

    pub(super) fn ended(&self, resource: &str, status: &'static str) {
        let key = (resource.to_owned(), status);
        self.change(|counts| *counts.migrations.entry(key).or_default() += 1);
    }

    fn change(&self, by: impl FnOnce(&mut Counts)) {
        by(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The metrics as they are served.
    pub(super) fn text(&self) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let of_resource = |(resource, value): (&String, &u64)| {
            (labels(&[("resource", resource.as_str())]), *value)
        };
        family(
            &mut text,
            ("storage_migrator_core_migrator_migrated_objects", "counter"),
            "The number of objects that have been migrated, labeled with the full resource name.",
            counts.migrated.iter().map(of_resource),
        );
        family(
            &mut text,
            ("storage_migrator_core_migrator_remaining_objects", "gauge"),
            "The number of objects that still require migration, labeled with the full resource name.",
            counts.remaining.iter().map(of_resource),
        );
        family(
            &mut text,
            ("storage_migrator_core_migrator_migrations", "counter"),
            "The number of completed migrations, labeled with the full resource name, and the status of the migration.",
            counts.migrations.iter().map(|((resource, status), value)| {
                (
                    labels(&[("resource", resource.as_str()), ("Status", *status)]),
                    *value,
                )
            }),
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_the_names_and_labels_of_the_earlier_migrator() {
        let metrics = Metrics::default();
        metrics.migrated("/v1, Resource=pods");
        metrics.migrated("/v1, Resource=pods");
        metrics.remain("/v1, Resource=pods", 7);
        metrics.ended("/v1, Resource=pods", "Succeeded");
        let text = metrics.text();
        for line in [
            "# TYPE storage_migrator_core_migrator_migrated_objects counter",
            "storage_migrator_core_migrator_migrated_objects{resource=\"/v1, Resource=pods\"} 2",
            "storage_migrator_core_migrator_remaining_objects{resource=\"/v1, Resource=pods\"} 7",
            "storage_migrator_core_migrator_migrations{resource=\"/v1, Resource=pods\",Status=\"Succeeded\"} 1",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in {text}");
        }
    }
}
