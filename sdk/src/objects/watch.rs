//! The changes of one collection, as values of one type.

use synod_model::{FieldSelector, LabelSelector, Namespace, NamespacedName, ObjectName, Revision};

use super::stored::Stored;
use super::typed::Objects;
use crate::watch::{Watch, WatchFrom, WatchMessage, WatchOptions};
use crate::{ChangeType, Error, Event, Events, ObjectKind, WatchedObject};

/// Which objects of a collection to watch, and from where. By default all, from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchObjects {
    /// Only objects of these namespaces; if empty, of all namespaces.
    pub namespaces: Vec<Namespace>,
    /// Only objects whose labels match.
    pub labels: LabelSelector,
    /// Only objects whose fields match.
    pub fields: FieldSelector,
    /// Where to begin.
    pub from: WatchFrom,
}

/// A watch of one collection; see [`Watch`] for what it promises.
#[derive(Debug)]
pub struct ObjectWatch<T> {
    watch: Watch,
    objects: Objects<T>,
}

/// One message of a watch of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectMessage<T> {
    /// All changes of one revision.
    Events(Revision, Vec<ObjectEvent<T>>),
    /// The changes that lead from what was delivered before to the state at this revision.
    Resync(Revision, Vec<ObjectEvent<T>>),
    /// There are no more changes up to this revision.
    Bookmark(Revision),
}

/// One object changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEvent<T> {
    /// The kind of the change.
    pub change: ChangeType,
    /// Its namespace and name.
    pub name: NamespacedName,
    /// The object after the change, or before its removal. `None` if the watch did not see the removal itself.
    pub stored: Option<Stored<T>>,
}

impl WatchObjects {
    /// All objects, from now on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only objects of these namespaces.
    #[must_use]
    pub fn with_namespaces(mut self, namespaces: Vec<Namespace>) -> Self {
        self.namespaces = namespaces;
        self
    }

    /// Only objects whose labels match: one that begins to match is delivered as added, one that ceases to, as removed.
    #[must_use]
    pub fn with_labels(mut self, labels: LabelSelector) -> Self {
        self.labels = labels;
        self
    }

    /// Only objects whose fields match.
    #[must_use]
    pub fn with_fields(mut self, fields: FieldSelector) -> Self {
        self.fields = fields;
        self
    }

    /// Where to begin.
    #[must_use]
    pub fn with_from(mut self, from: WatchFrom) -> Self {
        self.from = from;
        self
    }
}

impl<T: 'static> Objects<T> {
    /// Watches the objects of the collection. Returns once the watch is open.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch, or no replica took it within the client's timeout.
    pub async fn watch(&self, watch: WatchObjects) -> Result<ObjectWatch<T>, Error> {
        let options = WatchOptions::new()
            .kinds(vec![ObjectKind::Object])
            .resources(vec![self.resource.clone()])
            .namespaces(watch.namespaces)
            .label_selector(watch.labels)
            .field_selector(watch.fields)
            .from(watch.from);
        Ok(ObjectWatch {
            watch: Box::pin(self.raw.client().watch(options)).await?,
            objects: self.clone(),
        })
    }
}

impl<T: 'static> ObjectWatch<T> {
    /// The next message; `None` after an error has ended the watch. The future can be dropped at any time without
    /// losing a message.
    ///
    /// # Errors
    ///
    /// As [`Watch::next`]. Also an object that the codec cannot decode; the watch continues after it.
    pub async fn next(&mut self) -> Option<Result<ObjectMessage<T>, Error>> {
        Some(match self.watch.next().await? {
            Ok(WatchMessage::Bookmark(revision)) => Ok(ObjectMessage::Bookmark(revision)),
            Ok(WatchMessage::Events(events)) => self
                .decoded(events)
                .map(|(revision, events)| ObjectMessage::Events(revision, events)),
            Ok(WatchMessage::Resync(events)) => self
                .decoded(events)
                .map(|(revision, events)| ObjectMessage::Resync(revision, events)),
            Err(error) => Err(error),
        })
    }

    fn decoded(&self, events: Events) -> Result<(Revision, Vec<ObjectEvent<T>>), Error> {
        let decoded = events.events.into_iter().map(|event| self.event(event));
        Ok((events.revision, decoded.collect::<Result<_, _>>()?))
    }

    fn event(&self, event: Event) -> Result<ObjectEvent<T>, Error> {
        let stored = match event.object {
            Some(WatchedObject::Stored(object)) => Some(self.objects.decoded(object)?),
            _ => None,
        };
        Ok(ObjectEvent {
            change: event.change,
            name: name_of(&event.namespace, &event.name)?,
            stored,
        })
    }
}

fn name_of(namespace: &str, name: &str) -> Result<NamespacedName, Error> {
    let namespace = match namespace {
        "" => None,
        text => Some(Namespace::parse(text).map_err(|fault| Error::malformed(&fault.into()))?),
    };
    let name = ObjectName::parse(name).map_err(|fault| Error::malformed(&fault.into()))?;
    Ok(NamespacedName::new(namespace.as_ref(), &name))
}
