use std::collections::BTreeSet;
use std::time::Duration;

use synod_model::limits::{BOOKMARK_INTERVAL_MS_MAX, BOOKMARK_INTERVAL_MS_MIN};
use synod_model::{
    ClusterId, FieldSelector, GroupResource, LabelSelector, Labels, Namespace, ObjectKind,
    Revision, Violation, Violations,
};

use crate::change::named;
use crate::convert::labels_to_wire;
use crate::fields::{cluster, list, millis, sound};
use crate::limits::{
    BOOKMARK_INTERVAL_MS_DEFAULT, WATCH_KINDS_MAX, WATCH_NAMES_MAX, WATCH_RESOURCES_MAX,
};
use crate::v1;

/// Asks for a stream of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchStart {
    /// The first revision to deliver; `None`: what comes after the newest one.
    pub from: Option<Revision>,
    /// Which events to deliver.
    pub filter: WatchFilter,
    /// How often to say that there was nothing to say; within 1 and 30 seconds.
    pub bookmark_interval: Duration,
    /// The cluster that `from` came from. `None`: the caller does not say.
    pub cluster: Option<ClusterId>,
}

/// Which events pass: those that pass every field. The default passes all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchFilter {
    /// Only objects of these kinds; empty: of all.
    pub kinds: BTreeSet<ObjectKind>,
    /// Only objects of these names; empty: of all.
    pub names: BTreeSet<String>,
    /// Only objects that have all of these.
    pub labels: Labels,
    /// Only objects of these collections; empty: of all, and whatever is in none.
    pub resources: BTreeSet<GroupResource>,
    /// Only objects of these namespaces; empty: of all, and whatever is in none.
    pub namespaces: BTreeSet<Namespace>,
    /// Only objects whose labels match.
    pub label_selector: LabelSelector,
    /// Only objects whose fields match; if it asks anything, only objects of collections.
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

impl From<&WatchStart> for v1::WatchRequest {
    fn from(start: &WatchStart) -> Self {
        Self {
            from_revision: start.from.map(Revision::get),
            filter: Some((&start.filter).into()),
            bookmark_interval_ms: Some(
                u32::try_from(millis(start.bookmark_interval)).unwrap_or(u32::MAX),
            ),
            cluster_id: named(start.cluster),
        }
    }
}

impl TryFrom<v1::WatchRequest> for WatchStart {
    type Error = Violations;

    fn try_from(pb: v1::WatchRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        if pb.from_revision == Some(0) {
            found.push(Violation::invalid_number(0, "must be at least 1").at("fromRevision"));
        }
        let filter = found.parsed(
            "filter",
            WatchFilter::try_from(pb.filter.unwrap_or_default()),
        );
        let interval = found.parsed(
            "bookmarkIntervalMs",
            bookmark_interval(pb.bookmark_interval_ms),
        );
        let cluster = found.parsed("clusterId", cluster(&pb.cluster_id));
        let (Some(filter), Some(bookmark_interval), Some(cluster)) = (filter, interval, cluster)
        else {
            return Err(found);
        };
        sound(
            Self {
                from: pb.from_revision.map(Revision::new),
                filter,
                bookmark_interval,
                cluster,
            },
            found,
        )
    }
}

fn bookmark_interval(ms: Option<u32>) -> Result<Duration, Violation> {
    let ms = ms.map_or(BOOKMARK_INTERVAL_MS_DEFAULT, u64::from);
    if (BOOKMARK_INTERVAL_MS_MIN..=BOOKMARK_INTERVAL_MS_MAX).contains(&ms) {
        return Ok(Duration::from_millis(ms));
    }
    let rule = format_args!(
        "must be between {BOOKMARK_INTERVAL_MS_MIN} and {BOOKMARK_INTERVAL_MS_MAX} milliseconds"
    );
    Err(Violation::invalid_number(ms, rule))
}

impl From<&WatchFilter> for v1::WatchFilter {
    fn from(filter: &WatchFilter) -> Self {
        Self {
            kinds: filter
                .kinds
                .iter()
                .map(|kind| v1::ObjectKind::from(*kind).into())
                .collect(),
            names: filter.names.iter().cloned().collect(),
            labels: labels_to_wire(&filter.labels),
            resources: filter.resources.iter().map(Into::into).collect(),
            namespaces: filter.namespaces.iter().map(ToString::to_string).collect(),
            label_selector: filter.label_selector.to_string(),
            field_selector: filter.field_selector.to_string(),
        }
    }
}

impl TryFrom<v1::WatchFilter> for WatchFilter {
    type Error = Violations;

    fn try_from(pb: v1::WatchFilter) -> Result<Self, Violations> {
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
        let kinds = found.parsed("kinds", list(pb.kinds, known_kind));
        let names = found.parsed("names", list(pb.names, not_empty));
        let labels = found.parsed("labels", Labels::parse(&pb.labels));
        let resources = found.parsed("resources", list(pb.resources, GroupResource::try_from));
        let namespaces = list(pb.namespaces, |text| Namespace::parse(&text));
        let namespaces = found.parsed("namespaces", namespaces);
        let selector = LabelSelector::parse(&pb.label_selector);
        let label_selector = found.parsed("labelSelector", selector);
        let selector = FieldSelector::parse(&pb.field_selector);
        let field_selector = found.parsed("fieldSelector", selector);
        match (
            kinds,
            names,
            labels,
            resources,
            namespaces,
            label_selector,
            field_selector,
        ) {
            (
                Some(kinds),
                Some(names),
                Some(labels),
                Some(resources),
                Some(namespaces),
                Some(label_selector),
                Some(field_selector),
            ) => Ok(Self {
                kinds,
                names,
                labels,
                resources,
                namespaces,
                label_selector,
                field_selector,
            }),
            _ => Err(found),
        }
    }
}

fn known_kind(number: i32) -> Result<ObjectKind, Violation> {
    let mut kinds = ObjectKind::ALL.iter().copied();
    let known = kinds.find(|kind| i32::from(v1::ObjectKind::from(*kind)) == number);
    known.ok_or_else(|| {
        Violation::invalid(
            &number.to_string(),
            "must be a kind of object that can be watched",
        )
    })
}

fn not_empty(name: String) -> Result<String, Violation> {
    if name.is_empty() {
        Err(Violation::required("must be the name of an object"))
    } else {
        Ok(name)
    }
}

impl From<ObjectKind> for v1::ObjectKind {
    /// A test holds every kind against the protocol.
    fn from(kind: ObjectKind) -> Self {
        Self::try_from(i32::from(kind.number())).unwrap_or(Self::Unspecified)
    }
}
