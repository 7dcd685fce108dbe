use std::collections::BTreeSet;
use std::time::Duration;

use synod_model::limits::{BOOKMARK_INTERVAL_MS_MAX, BOOKMARK_INTERVAL_MS_MIN};
use synod_model::{
    ClusterId, FieldSelector, GroupResource, LabelSelector, Labels, Namespace, ObjectKind,
    Revision, Violation, Violations,
};

use crate::limits::{
    BOOKMARK_INTERVAL_MS_DEFAULT, WATCH_KINDS_MAX, WATCH_NAMES_MAX, WATCH_RESOURCES_MAX,
};
use crate::wire::{Wire, sound};
use crate::{messages, read_fields, v1};

/// Asks for a stream of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchStart {
    /// The first revision to deliver; `None`: the one after the newest.
    pub from: Option<Revision>,
    /// Which events to deliver.
    pub filter: WatchFilter,
    /// How often to send a bookmark when there is nothing else to send; 1 to 30 seconds.
    pub bookmark_interval: Duration,
    /// The cluster that gave `from`. `None`: the caller does not say.
    pub cluster: Option<ClusterId>,
}

/// Which events pass: those that pass every field. The default passes all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WatchFilter {
    /// Only objects of these kinds; empty: of all kinds.
    pub kinds: BTreeSet<ObjectKind>,
    /// Only objects of these names; empty: of all names.
    pub names: BTreeSet<String>,
    /// Only objects that have all of these labels.
    pub labels: Labels,
    /// Only objects of these collections; empty: of all, and objects that are in no collection.
    pub resources: BTreeSet<GroupResource>,
    /// Only objects in these namespaces; empty: in all, and objects that are in no namespace.
    pub namespaces: BTreeSet<Namespace>,
    /// Only objects whose labels match.
    pub label_selector: LabelSelector,
    /// Only objects whose fields match; a selector that is not empty matches only objects of
    /// collections.
    pub field_selector: FieldSelector,
}

impl Default for WatchStart {
    /// Everything from now on.
    fn default() -> Self {
        Self {
            from: None,
            filter: WatchFilter::default(),
            bookmark_interval: Duration::from_millis(BOOKMARK_INTERVAL_MS_DEFAULT),
            cluster: None,
        }
    }
}

messages! {
    v1::WatchRequest = WatchStart {
        from = from_revision by first,
        filter = filter,
        bookmark_interval = bookmark_interval_ms by interval,
        cluster = cluster_id,
    }
}

/// The revision to begin with.
mod first {
    use super::*;

    pub(super) fn write(from: &Option<Revision>) -> Option<u64> {
        from.to_wire()
    }

    pub(super) fn read(pb: Option<u64>) -> Result<Option<Revision>, Violations> {
        if pb == Some(0) {
            return Err(Violation::invalid_number(0, "must be at least 1").into());
        }
        Wire::of_wire(pb)
    }
}

/// How often to send a bookmark.
mod interval {
    use super::*;

    pub(super) fn write(interval: &Duration) -> Option<u32> {
        Some(u32::try_from(interval.as_millis()).unwrap_or(u32::MAX))
    }

    pub(super) fn read(pb: Option<u32>) -> Result<Duration, Violations> {
        let ms = pb.map_or(BOOKMARK_INTERVAL_MS_DEFAULT, u64::from);
        if (BOOKMARK_INTERVAL_MS_MIN..=BOOKMARK_INTERVAL_MS_MAX).contains(&ms) {
            return Ok(Duration::from_millis(ms));
        }
        let rule = format_args!(
            "must be between {BOOKMARK_INTERVAL_MS_MIN} and {BOOKMARK_INTERVAL_MS_MAX} milliseconds"
        );
        Err(Violation::invalid_number(ms, rule).into())
    }
}

impl Wire<Option<v1::WatchFilter>> for WatchFilter {
    fn to_wire(&self) -> Option<v1::WatchFilter> {
        Some(v1::WatchFilter {
            kinds: self.kinds.to_wire(),
            names: self.names.to_wire(),
            labels: self.labels.to_wire(),
            resources: self.resources.to_wire(),
            namespaces: self.namespaces.to_wire(),
            label_selector: self.label_selector.to_wire(),
            field_selector: self.field_selector.to_wire(),
        })
    }

    fn of_wire(pb: Option<v1::WatchFilter>) -> Result<Self, Violations> {
        let pb = pb.unwrap_or_default();
        let mut found = Violations::new();
        for (path, count, max) in [
            ("kinds", pb.kinds.len(), WATCH_KINDS_MAX),
            ("names", pb.names.len(), WATCH_NAMES_MAX),
            ("resources", pb.resources.len(), WATCH_RESOURCES_MAX),
            ("namespaces", pb.namespaces.len(), WATCH_NAMES_MAX),
        ] {
            if count > max {
                found.push(Violation::too_many(count, max).at(path));
            }
        }
        if !found.is_empty() {
            return Err(found);
        }
        read_fields! { pb, found;
            kinds = kinds,
            names = names => not_empty(pb.names),
            labels = labels,
            resources = resources,
            namespaces = namespaces,
            label_selector = label_selector,
            field_selector = field_selector,
        }
        Ok(Self {
            kinds,
            names,
            labels,
            resources,
            namespaces,
            label_selector,
            field_selector,
        })
    }
}

impl Wire<i32> for ObjectKind {
    fn to_wire(&self) -> i32 {
        i32::from(self.number())
    }

    fn of_wire(pb: i32) -> Result<Self, Violations> {
        let mut kinds = Self::ALL.iter().copied();
        let known = kinds.find(|kind| kind.to_wire() == pb);
        let rule = "must be a kind of object that can be watched";
        known.ok_or_else(|| Violation::invalid(&pb.to_string(), rule).into())
    }
}

/// The names of a filter, none of which must be empty.
fn not_empty(names: Vec<String>) -> Result<BTreeSet<String>, Violations> {
    let mut found = Violations::new();
    for (i, _) in names.iter().enumerate().filter(|(_, name)| name.is_empty()) {
        let rule = "must be the name of an object";
        found.push(Violation::required(rule).at(&format!("[{i}]")));
    }
    sound(names.into_iter().collect(), found)
}

impl From<ObjectKind> for v1::ObjectKind {
    /// A test compares every kind with the protocol.
    fn from(kind: ObjectKind) -> Self {
        Self::try_from(i32::from(kind.number())).unwrap_or(Self::Unspecified)
    }
}
