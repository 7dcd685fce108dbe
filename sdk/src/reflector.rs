//! A cache of the cluster's state that follows the cluster by a watch.

mod cache;

use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use synod_model::{
    Collection, ControllerRevision, GroupResource, Lease, LeaseCandidate, LeaseKey, Member,
    MemberId, Migration, MigrationId, NamespacedName, ResourceScope, Revision, Roster, Settings,
};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::board::Board;
use crate::watch::{Watch, WatchFrom, WatchMessage, WatchOptions};
use crate::{Client, Error, ObjectKind, StorageState, StorageVersion};
use cache::Cache;

/// A cache of everything but the objects of collections, which follows the cluster by a watch.
///
/// It always shows one revision as a whole, never a mix of two. It may be behind the cluster:
/// [`reached`](Self::reached) waits for a revision, such as that of one's own change. Clones share the cache; it is
/// kept up to date until the last of them is dropped.
#[derive(Clone)]
pub struct Reflector {
    shared: Arc<Board<CacheState>>,
    _task: Arc<Task>,
}

#[derive(Default)]
struct CacheState {
    cache: Cache,
    /// All changes up to this revision are in the cache.
    revision: Revision,
    /// The last revision that changed something in the cache.
    changed: Revision,
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

impl Reflector {
    /// A member.
    #[must_use]
    pub fn member(&self, id: &MemberId) -> Option<Arc<Member>> {
        self.state().cache.members.get(id).cloned()
    }

    /// All members, ordered by id.
    #[must_use]
    pub fn members(&self) -> Vec<Arc<Member>> {
        self.state().cache.members.values().cloned().collect()
    }

    /// A resource that is reported.
    #[must_use]
    pub fn storage_version(&self, resource: &GroupResource) -> Option<Arc<StorageVersion>> {
        self.state().cache.storage_versions.get(resource).cloned()
    }

    /// All resources that are reported, ordered by group and resource.
    #[must_use]
    pub fn storage_versions(&self) -> Vec<Arc<StorageVersion>> {
        self.state()
            .cache
            .storage_versions
            .values()
            .cloned()
            .collect()
    }

    /// The storage state of a resource.
    #[must_use]
    pub fn storage_state(&self, resource: &GroupResource) -> Option<Arc<StorageState>> {
        self.state().cache.storage_states.get(resource).cloned()
    }

    /// All storage states, ordered by group and resource.
    #[must_use]
    pub fn storage_states(&self) -> Vec<Arc<StorageState>> {
        self.state()
            .cache
            .storage_states
            .values()
            .cloned()
            .collect()
    }

    /// A migration.
    #[must_use]
    pub fn migration(&self, id: &MigrationId) -> Option<Arc<Migration>> {
        self.state().cache.migrations.get(id).cloned()
    }

    /// All migrations, ordered by resource, the oldest of each first.
    #[must_use]
    pub fn migrations(&self) -> Vec<Arc<Migration>> {
        self.state().cache.migrations.values().cloned().collect()
    }

    /// The roster of a scope.
    #[must_use]
    pub fn roster(&self, scope: &ResourceScope) -> Option<Arc<Roster>> {
        self.state().cache.rosters.get(scope).cloned()
    }

    /// All rosters: that of all resources, then those of groups, then those of single resources.
    #[must_use]
    pub fn rosters(&self) -> Vec<Arc<Roster>> {
        self.state().cache.rosters.values().cloned().collect()
    }

    /// The replicated settings, if they are watched.
    #[must_use]
    pub fn settings(&self) -> Option<Arc<Settings>> {
        self.state().cache.settings.clone()
    }

    /// The collection of a resource.
    #[must_use]
    pub fn collection(&self, resource: &GroupResource) -> Option<Arc<Collection>> {
        self.state().cache.collections.get(resource).cloned()
    }

    /// All collections, ordered by group and resource.
    #[must_use]
    pub fn collections(&self) -> Vec<Arc<Collection>> {
        self.state().cache.collections.values().cloned().collect()
    }

    /// A ControllerRevision.
    #[must_use]
    pub fn controller_revision(&self, key: &NamespacedName) -> Option<Arc<ControllerRevision>> {
        self.state().cache.controller_revisions.get(key).cloned()
    }

    /// All ControllerRevisions, ordered by namespace and name.
    #[must_use]
    pub fn controller_revisions(&self) -> Vec<Arc<ControllerRevision>> {
        let state = self.state();
        state.cache.controller_revisions.values().cloned().collect()
    }

    /// A lease.
    #[must_use]
    pub fn lease(&self, key: &LeaseKey) -> Option<Arc<Lease>> {
        self.state().cache.leases.get(key).cloned()
    }

    /// All leases, ordered by `<namespace>/<name>`.
    #[must_use]
    pub fn leases(&self) -> Vec<Arc<Lease>> {
        self.state().cache.leases.values().cloned().collect()
    }

    /// All candidates for leases, ordered by lease and identity.
    #[must_use]
    pub fn lease_candidates(&self) -> Vec<Arc<LeaseCandidate>> {
        let state = self.state();
        state.cache.lease_candidates.values().cloned().collect()
    }

    /// The revision that the cache shows.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.state().revision
    }

    /// Waits until something in the cache has changed after `since`, and returns the revision of the last change. Begin
    /// with [`Revision::ZERO`]; a caller that passes on the returned revision misses nothing.
    ///
    /// # Errors
    ///
    /// The watch has ended with this error: the cache is not kept up to date any more.
    pub async fn changed(&self, since: Revision) -> Result<Revision, Error> {
        self.wait(|state| (state.changed > since).then_some(state.changed))
            .await
    }

    /// Waits until the cache shows this revision or a later one, but no longer than the limit.
    ///
    /// # Errors
    ///
    /// `DEADLINE_EXCEEDED`: the cache did not show it in time. Else the watch has ended with this error.
    pub async fn reached(&self, revision: Revision, limit: Duration) -> Result<(), Error> {
        let reaching = self.wait(|state| (state.revision >= revision).then_some(()));
        match timeout_at(Instant::now() + limit, reaching).await {
            Ok(reached) => reached,
            Err(_) => Err(Error::late(format!(
                "the cache is at revision {} and did not come to {revision} within {limit:?}",
                self.revision()
            ))),
        }
    }

    async fn wait<T>(&self, ask: impl Fn(&CacheState) -> Option<T>) -> Result<T, Error> {
        let answered = |state: &CacheState| match (ask(state), &state.error) {
            (Some(found), _) => Some(Ok(found)),
            (None, Some(error)) => Some(Err(error.clone())),
            (None, None) => None,
        };
        self.shared.wait(answered).await
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.shared.lock()
    }
}

impl CacheState {
    fn take(&mut self, message: Result<WatchMessage, Error>) {
        match message {
            Ok(WatchMessage::Events(events) | WatchMessage::Resync(events)) => {
                if !events.events.is_empty() {
                    self.changed = events.revision;
                }
                self.revision = events.revision;
                self.cache.apply(events.events);
            }
            Ok(WatchMessage::Bookmark(revision)) => self.revision = revision,
            Err(error) => self.error = Some(error),
        }
    }
}

impl fmt::Debug for Reflector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector")
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A cache of all objects of these kinds. If `kinds` is empty, of all kinds but the objects of collections, for
    /// which there is [`Objects::reflect`](crate::Objects::reflect). Returns once it is filled.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch, or could not be read within the client's timeout.
    pub async fn reflect(&self, kinds: Vec<ObjectKind>) -> Result<Reflector, Error> {
        let kept = |kind: &ObjectKind| *kind != ObjectKind::Object;
        let kinds = match kinds.as_slice() {
            [] => ObjectKind::ALL.iter().copied().filter(kept).collect(),
            _ => kinds,
        };
        let options = WatchOptions::new().kinds(kinds).from(WatchFrom::List);
        let mut watch = self.watch(options).await?;
        let shared = Arc::new(Board::<CacheState>::default());
        // The watch is open, so its first message is there: the list.
        if let Some(list) = watch.next().await {
            shared.update(|state| state.take(list));
        }
        let task = tokio::spawn(follow(watch, Arc::clone(&shared)));
        Ok(Reflector {
            shared,
            _task: Arc::new(Task(task)),
        })
    }
}

async fn follow(mut watch: Watch, shared: Arc<Board<CacheState>>) {
    while let Some(message) = watch.next().await {
        shared.update(|state| state.take(message));
    }
}
