//! The options of a watch: which objects, and from where.

use std::time::Duration;

use synod_model::{
    FieldSelector, GroupResource, LabelSelector, Labels, Namespace, ObjectKind, Revision,
};
use synod_proto::v1;

/// Which objects to watch, and from where. By default: everything, from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    pub(super) kinds: Vec<ObjectKind>,
    pub(super) names: Vec<String>,
    pub(super) labels: Labels,
    pub(super) resources: Vec<GroupResource>,
    pub(super) namespaces: Vec<Namespace>,
    pub(super) selector: LabelSelector,
    pub(super) fields: FieldSelector,
    pub(super) from: WatchFrom,
    pub(super) bookmark_interval: Duration,
    pub(super) disconnect_limit: Option<Duration>,
    pub(super) resync: bool,
}

/// Where a watch begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchFrom {
    /// With the changes from now on.
    #[default]
    Now,
    /// With all existing objects, as one [`WatchMessage::Resync`](super::WatchMessage::Resync); then their changes.
    List,
    /// With the changes of this revision. If their history is gone: as from a list.
    Revision(Revision),
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            kinds: Vec::new(),
            names: Vec::new(),
            labels: Labels::default(),
            resources: Vec::new(),
            namespaces: Vec::new(),
            selector: LabelSelector::default(),
            fields: FieldSelector::default(),
            from: WatchFrom::Now,
            bookmark_interval: Duration::from_secs(10),
            disconnect_limit: None,
            resync: true,
        }
    }
}

impl WatchOptions {
    /// Everything, from now on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only objects of these kinds; if empty, of all kinds.
    #[must_use]
    pub fn kinds(mut self, kinds: Vec<ObjectKind>) -> Self {
        self.kinds = kinds;
        self
    }

    /// Only objects of these names, at most 1,000; if empty, of all names.
    #[must_use]
    pub fn names(mut self, names: Vec<String>) -> Self {
        self.names = names;
        self
    }

    /// Only objects that have all of these labels. Members, objects of collections and ControllerRevisions have labels.
    #[must_use]
    pub fn labels(mut self, labels: Labels) -> Self {
        self.labels = labels;
        self
    }

    /// Only objects of these collections, at most 64; if empty, of all, and objects outside of collections.
    #[must_use]
    pub fn resources(mut self, resources: Vec<GroupResource>) -> Self {
        self.resources = resources;
        self
    }

    /// Only objects of these namespaces, at most 1,000; if empty, of all, and objects without a namespace.
    #[must_use]
    pub fn namespaces(mut self, namespaces: Vec<Namespace>) -> Self {
        self.namespaces = namespaces;
        self
    }

    /// Only objects whose labels match.
    #[must_use]
    pub fn label_selector(mut self, selector: LabelSelector) -> Self {
        self.selector = selector;
        self
    }

    /// Only objects of collections whose fields match.
    #[must_use]
    pub fn field_selector(mut self, fields: FieldSelector) -> Self {
        self.fields = fields;
        self
    }

    /// Where to begin.
    #[must_use]
    pub fn from(mut self, from: WatchFrom) -> Self {
        self.from = from;
        self
    }

    /// How often a replica that has nothing else to send sends a bookmark, 1 to 30 seconds; 10 if not set. A connection
    /// that was silent for twice as long, and two seconds more, counts as dead.
    #[must_use]
    pub fn bookmark_interval(mut self, interval: Duration) -> Self {
        self.bookmark_interval = interval;
        self
    }

    /// How long the watch may be without any replica before it ends with an error; without a limit if not set.
    #[must_use]
    pub fn disconnect_limit(mut self, limit: Duration) -> Self {
        self.disconnect_limit = Some(limit);
        self
    }

    /// Ends the watch with `COMPACTED` if the history that it needs is gone, instead of continuing with a
    /// [`WatchMessage::Resync`](super::WatchMessage::Resync): for programs that list by themselves. The error's
    /// metadata has `oldest_revision`, the oldest revision to begin with.
    #[must_use]
    pub fn without_resync(mut self) -> Self {
        self.resync = false;
        self
    }

    /// Whether objects of a kind are selected.
    pub(super) fn wants(&self, kind: ObjectKind) -> bool {
        let by_labels = !self.labels.is_empty() || !self.selector.is_empty();
        let by_collection = !self.resources.is_empty() || !self.fields.is_empty();
        (kind.is_labelled() || !by_labels)
            && (kind.is_namespaced() || self.namespaces.is_empty())
            && (kind == ObjectKind::Object || !by_collection)
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
    }

    /// Whether listed labels match the label selector, which holds beside [`Self::labels`].
    pub(super) fn selects(&self, labels: &Labels) -> bool {
        self.selector.matches(labels)
    }

    /// All conditions on the labels of an object of a collection.
    pub(super) fn object_labels(&self) -> LabelSelector {
        LabelSelector::of(&self.labels).and(&self.selector)
    }

    /// Whether objects of a namespace are selected.
    pub(super) fn wants_namespace(&self, namespace: &str) -> bool {
        self.namespaces.is_empty() || self.namespaces.iter().any(|it| it.as_str() == namespace)
    }

    /// The selected namespace, if there is exactly one.
    pub(super) fn only_namespace(&self) -> Option<&Namespace> {
        match self.namespaces.as_slice() {
            [namespace] => Some(namespace),
            _ => None,
        }
    }

    /// Whether objects of a name are selected.
    pub(super) fn wants_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }

    pub(super) fn filter_to_wire(&self) -> v1::WatchFilter {
        let labels = self.labels.iter();
        v1::WatchFilter {
            kinds: self
                .kinds
                .iter()
                .map(|kind| v1::ObjectKind::from(*kind).into())
                .collect(),
            names: self.names.clone(),
            labels: labels
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            resources: self.resources.iter().map(Into::into).collect(),
            namespaces: self.namespaces.iter().map(ToString::to_string).collect(),
            label_selector: self.selector.to_string(),
            field_selector: self.fields.to_string(),
        }
    }
}
