//! A cache of the objects of one collection.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use synod_model::{NamespacedName, Revision};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::stored::Stored;
use super::typed::Objects;
use super::watch::{ObjectEvent, ObjectMessage, ObjectWatch, WatchObjects};
use crate::board::Board;
use crate::watch::WatchFrom;
use crate::{ChangeType, Error};

/// A cache of objects of one collection that follows the cluster by a watch.
///
/// It always shows one revision as a whole, and may be behind the cluster: [`reached`](Self::reached) waits for a
/// revision, such as that of one's own write. [`Objects::guaranteed_update`] may begin with an object from it. Clones
/// share the cache; it is kept up to date until the last of them is dropped.
pub struct ObjectReflector<T> {
    shared: Arc<Board<ObjectCache<T>>>,
    _task: Arc<Task>,
}

struct ObjectCache<T> {
    objects: BTreeMap<NamespacedName, Arc<Stored<T>>>,
    /// All changes up to this revision are in the cache.
    revision: Revision,
    /// Why the cache is not kept up to date any more.
    error: Option<Error>,
}

/// The task that follows the watch; it is aborted when this is dropped.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Default for ObjectCache<T> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            revision: Revision::ZERO,
            error: None,
        }
    }
}

impl<T> ObjectCache<T> {
    fn take(&mut self, message: Result<ObjectMessage<T>, Error>) {
        match message {
            Ok(
                ObjectMessage::Events(revision, events) | ObjectMessage::Resync(revision, events),
            ) => {
                self.revision = revision;
                for event in events {
                    self.apply(event);
                }
            }
            Ok(ObjectMessage::Bookmark(revision)) => self.revision = revision,
            Err(error) => self.error = Some(error),
        }
    }

    fn apply(&mut self, event: ObjectEvent<T>) {
        match (event.change, event.stored) {
            (ChangeType::Removed, _) => {
                self.objects.remove(&event.name);
            }
            (ChangeType::Added | ChangeType::Modified, Some(stored)) => {
                self.objects.insert(event.name, Arc::new(stored));
            }
            (ChangeType::Added | ChangeType::Modified, None) => {}
        }
    }
}

impl<T: Send + Sync + 'static> Objects<T> {
    /// A cache of the objects that `watch` selects; where `watch` begins is ignored. Returns once the cache is filled.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch, or could not be read within the client's timeout.
    pub async fn reflect(&self, watch: WatchObjects) -> Result<ObjectReflector<T>, Error> {
        let mut watch = self.watch(watch.with_from(WatchFrom::List)).await?;
        let shared = Arc::new(Board::<ObjectCache<T>>::default());
        // The watch is open, so its first message is there: the list.
        if let Some(list) = watch.next().await {
            shared.update(|state| state.take(list));
        }
        let task = tokio::spawn(follow(watch, Arc::clone(&shared)));
        Ok(ObjectReflector {
            shared,
            _task: Arc::new(Task(task)),
        })
    }
}

/// Follows until an error: without a message that could not be decoded, the cache would show a wrong state.
async fn follow<T: 'static>(mut watch: ObjectWatch<T>, shared: Arc<Board<ObjectCache<T>>>) {
    while let Some(message) = watch.next().await {
        let failed = message.is_err();
        shared.update(|state| state.take(message));
        if failed {
            return;
        }
    }
}

impl<T> ObjectReflector<T> {
    /// The object of this name.
    #[must_use]
    pub fn get(&self, name: &NamespacedName) -> Option<Arc<Stored<T>>> {
        self.state().objects.get(name).cloned()
    }

    /// All objects, ordered by namespace and name.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Stored<T>>> {
        self.state().objects.values().cloned().collect()
    }

    /// The revision that the cache shows.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.state().revision
    }

    /// Waits until the cache shows this revision or a later one, but no longer than the limit.
    ///
    /// # Errors
    ///
    /// `DEADLINE_EXCEEDED`: the cache did not show it in time. Else why the cache is not kept up to date any more.
    pub async fn reached(&self, revision: Revision, limit: Duration) -> Result<(), Error> {
        let reaching = self.shared.wait(|state| match &state.error {
            _ if state.revision >= revision => Some(Ok(())),
            Some(error) => Some(Err(error.clone())),
            None => None,
        });
        match timeout_at(Instant::now() + limit, reaching).await {
            Ok(reached) => reached,
            Err(_) => Err(Error::late(format!(
                "the cache is at revision {} and did not come to {revision} within {limit:?}",
                self.revision()
            ))),
        }
    }

    fn state(&self) -> MutexGuard<'_, ObjectCache<T>> {
        self.shared.lock()
    }
}

impl<T> Clone for ObjectReflector<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            _task: Arc::clone(&self._task),
        }
    }
}

impl<T> fmt::Debug for ObjectReflector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectReflector")
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}
