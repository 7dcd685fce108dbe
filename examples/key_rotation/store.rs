//! The store of all servers, in memory here, and the same as the migration worker sees it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_client::{ContinueToken, Migration, Store as Rewritable, StoreError, StorePage};

use crate::keyring::{Keyring, Sealed};

#[derive(Clone, Default)]
pub(crate) struct Store(Arc<Mutex<BTreeMap<String, Sealed>>>);

impl Store {
    pub(crate) fn put(&self, name: &str, sealed: Sealed) {
        self.objects().insert(name.to_owned(), sealed);
    }

    pub(crate) fn get(&self, name: &str) -> Option<Sealed> {
        self.objects().get(name).cloned()
    }

    /// Which key encrypts how many objects.
    pub(crate) fn told(&self) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for sealed in self.objects().values() {
            *counts.entry(sealed.key.to_string()).or_default() += 1;
        }
        let counts = counts
            .iter()
            .map(|(key, count)| format!("{key} encrypts {count}"));
        counts.collect::<Vec<_>>().join(", ")
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<String, Sealed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the worker needs: the store, and all keys.
pub(crate) struct Rewriting {
    store: Store,
    keyring: Keyring,
}

impl Rewriting {
    pub(crate) fn new(store: Store, keyring: Keyring) -> Self {
        Self { store, keyring }
    }
}

impl Rewritable for Rewriting {
    /// An object's name, and what was stored under it when it was listed.
    type Object = (String, Sealed);

    async fn list_page(
        &self,
        migration: &Migration,
        _: Option<&ContinueToken>,
    ) -> Result<StorePage<Self::Object>, StoreError> {
        let objects = self.store.objects();
        let stale = objects
            .iter()
            .filter(|(_, sealed)| migration.rewrites(&sealed.key, migration.start_revision()));
        // So few objects are one page.
        Ok(StorePage {
            objects: stale
                .map(|(name, sealed)| (name.clone(), sealed.clone()))
                .collect(),
            next: None,
            remaining: None,
        })
    }

    async fn rewrite(
        &self,
        migration: &Migration,
        (name, read): &Self::Object,
    ) -> Result<(), StoreError> {
        let refused = |why: String| StoreError::Refused(format!("{name}: {why}"));
        let target = migration.target.version.as_ref();
        let target = target.ok_or_else(|| refused("the migration names no key".to_owned()))?;
        let plain = self.keyring.open(name, read);
        let plain = plain.map_err(|error| refused(error.to_string()))?;
        let sealed = self.keyring.seal(target, name, &plain);
        let sealed = sealed.map_err(|error| refused(error.to_string()))?;
        let mut objects = self.store.objects();
        // Whoever wrote in between has used the new key.
        match objects.get_mut(name).filter(|stored| *stored == read) {
            Some(stored) => *stored = sealed,
            None => return Err(StoreError::Conflict),
        }
        Ok(())
    }
}
