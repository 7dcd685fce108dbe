//! A cache of the objects of one collection, for a language that decodes their values itself.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use synod_client::json as form;
use synod_client::{
    ChangeType, Error, Event, FieldSelector, GroupResource, LabelSelector, Namespace, ObjectKind,
    StoredObject, WatchFrom, WatchMessage, WatchOptions, WatchedObject,
};
use tokio::sync::watch::{Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::counts::{Counted, Live};
use crate::options::{Options, list, message, text, used_up};
use crate::{Bound, Failure};

/// What follows the objects of a collection by a watch, as [`synod_client::ObjectReflector`] does. The objects themselves
/// are kept by the other language, as the values that it decodes: it [pulls](Self::pull) what has changed whenever it
/// looks at them. Changes that nobody has pulled are kept here, the last one of each object and no more.
#[derive(Debug)]
pub struct ObjectReflector {
    seen: Sender<Seen>,
    task: JoinHandle<()>,
    _live: Live,
}

/// What has changed since the last pull, and up to where.
#[derive(Debug, Default)]
struct Seen {
    /// By namespace and name; `None` for an object that is gone.
    changed: BTreeMap<(String, String), Option<StoredObject>>,
    /// All changes up to this revision were seen.
    revision: u64,
    /// Why no more changes are seen.
    failure: Option<Failure>,
}

/// What has changed since the pull before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pulled {
    /// The revision that the cache shows with these changes.
    pub revision: u64,
    /// `{"gone": [{"namespace": text, "name": text}], "changed": [Object]}`; `None` if nothing has changed.
    pub changes: Option<String>,
}

impl Bound {
    /// Follows the objects of a collection. Returns once they are all there to be pulled.
    ///
    /// Options: `resource`, and to select some of them `namespaces`, a list, and `labelSelector` and `fieldSelector`, in
    /// the form of Kubernetes.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule. The cluster refuses the watch, or
    /// could not be read in time.
    pub async fn reflect_objects(&self, options: &str) -> Result<ObjectReflector, Failure> {
        let mut watch = self.client().watch(watch_options(options)?).await?;
        let (seen, _) = channel(Seen::default());
        // The watch is open, so its first message is there: the list.
        if let Some(list) = watch.next().await {
            seen.send_modify(|seen| seen.take(list));
        }
        let following = seen.clone();
        let task = self.home().spawn(async move {
            while let Some(message) = watch.next().await {
                following.send_modify(|seen| seen.take(message));
            }
        });
        Ok(ObjectReflector {
            seen,
            task,
            _live: Live::new(Counted::Reflector),
        })
    }
}

fn watch_options(options: &str) -> Result<WatchOptions, Failure> {
    let mut options = Options::parse(options)?;
    let resource = options.need("resource", message::<GroupResource>);
    let namespaces = options.take("namespaces", list(text(Namespace::parse)));
    let labels = options.take("labelSelector", text(LabelSelector::parse));
    let fields = options.take("fieldSelector", text(FieldSelector::parse));
    let made = resource.map(|resource| {
        WatchOptions::new()
            .kinds(vec![ObjectKind::Object])
            .resources(vec![resource])
            .namespaces(namespaces.unwrap_or_default())
            .label_selector(labels.unwrap_or_default())
            .field_selector(fields.unwrap_or_default())
            .from(WatchFrom::List)
    });
    options.end(made)
}

impl Seen {
    fn take(&mut self, message: Result<WatchMessage, Error>) {
        match message {
            Ok(WatchMessage::Events(changed) | WatchMessage::Resync(changed)) => {
                self.revision = changed.revision.get();
                for event in changed.events {
                    self.apply(event);
                }
            }
            Ok(WatchMessage::Bookmark(revision)) => self.revision = revision.get(),
            Err(error) => self.failure = Some(error.into()),
        }
    }

    fn apply(&mut self, event: Event) {
        let key = (event.namespace, event.name);
        match (event.change, event.object) {
            (ChangeType::Removed, _) => {
                self.changed.insert(key, None);
            }
            (ChangeType::Added | ChangeType::Modified, Some(WatchedObject::Stored(object))) => {
                self.changed.insert(key, Some(object));
            }
            (ChangeType::Added | ChangeType::Modified, _) => {}
        }
    }
}

impl ObjectReflector {
    /// What has changed since the pull before, at one revision as a whole. The first one has all objects.
    #[must_use]
    pub fn pull(&self) -> Pulled {
        let mut pulled = (0, BTreeMap::new());
        // Nobody who waits for a revision has to look again: that has not changed.
        self.seen.send_if_modified(|seen| {
            pulled = (seen.revision, std::mem::take(&mut seen.changed));
            false
        });
        let (revision, changed) = pulled;
        Pulled {
            revision,
            changes: (!changed.is_empty()).then(|| document(changed).to_string()),
        }
    }

    /// The revision that a pull would show.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.seen.borrow().revision
    }

    /// Waits until something may have changed after `since`, and returns the revision of the cache then.
    ///
    /// # Errors
    ///
    /// Why the cache no longer follows the cluster.
    pub async fn changed(&self, since: u64) -> Result<u64, Failure> {
        self.until(|revision| revision > since).await
    }

    /// Waits until the cache shows this revision or a later one, but no longer than the limit.
    ///
    /// # Errors
    ///
    /// `DEADLINE_EXCEEDED`: the cache did not reach it in time. Otherwise why it no longer follows the cluster.
    pub async fn reached(&self, revision: u64, limit: Duration) -> Result<(), Failure> {
        match timeout(limit, self.until(|shown| shown >= revision)).await {
            Ok(reached) => reached.map(drop),
            Err(_) => {
                let shown = self.revision();
                let late = Error::late(format!(
                    "the cache is at revision {shown} and did not come to {revision} within {limit:?}"
                ));
                Err(late.into())
            }
        }
    }

    async fn until(&self, is_there: impl Fn(u64) -> bool) -> Result<u64, Failure> {
        let mut seen = self.seen.subscribe();
        let found = seen
            .wait_for(|seen| is_there(seen.revision) || seen.failure.is_some())
            .await;
        // The sender is a part of this, so it is there.
        let seen = found.map_err(|_| used_up("the cache"))?;
        match &seen.failure {
            _ if is_there(seen.revision) => Ok(seen.revision),
            Some(failure) => Err(failure.clone()),
            None => Err(used_up("the cache")),
        }
    }
}

fn document(changed: BTreeMap<(String, String), Option<StoredObject>>) -> Value {
    let (mut gone, mut there) = (Vec::new(), Vec::new());
    for ((namespace, name), object) in changed {
        match object {
            Some(object) => there.push(form::of(&object)),
            None => gone.push(json!({"namespace": namespace, "name": name})),
        }
    }
    json!({"gone": gone, "changed": there})
}

impl Drop for ObjectReflector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_client::{Events, Revision};

    fn gone(name: &str) -> Event {
        Event {
            change: ChangeType::Removed,
            kind: ObjectKind::Object,
            resource: None,
            namespace: "a".to_owned(),
            name: name.to_owned(),
            lease: None,
            object: None,
        }
    }

    fn resync(revision: u64, events: Vec<Event>) -> Result<WatchMessage, Error> {
        let revision = Revision::new(revision);
        Ok(WatchMessage::Resync(Events {
            revision,
            events,
            time: None,
            caller: None,
        }))
    }

    #[test]
    fn what_is_gone_when_the_history_is_gone_is_pulled_as_gone_once() {
        let mut seen = Seen::default();
        seen.take(resync(7, vec![gone("one"), gone("two")]));
        seen.take(resync(9, vec![gone("two")]));
        assert_eq!(seen.revision, 9);
        let changed = std::mem::take(&mut seen.changed);
        let named = |name: &str| json!({"namespace": "a", "name": name});
        assert_eq!(
            document(changed),
            json!({"gone": [named("one"), named("two")], "changed": []})
        );
        seen.take(Ok(WatchMessage::Bookmark(Revision::new(11))));
        assert_eq!((seen.revision, seen.changed.len()), (11, 0));
    }
}
