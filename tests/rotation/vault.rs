//! The store of all servers: encrypted objects, and the keys of every server that is alive.
//!
//! What a server meets is not left to chance: whenever an object is stored, every live server decrypts it, and a server that
//! comes decrypts all. So the vault knows of every moment whether somebody could not read something.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use synod_client::ApiVersion;

use super::keyring::{Keyring, Sealed};

/// How many faults are kept: the first ones tell what went wrong.
const FAULTS_MAX: usize = 20;

/// How many objects a server that comes decrypts before others get a turn.
const AT_ONCE: usize = 500;

#[derive(Clone)]
pub(crate) struct Vault(Arc<Mutex<Inner>>);

struct Inner {
    objects: Vec<Sealed>,
    /// How many objects each key encrypts.
    held: BTreeMap<ApiVersion, usize>,
    servers: BTreeMap<&'static str, Arc<Keyring>>,
    /// The keys that nothing may need any more, as was said.
    free: BTreeSet<ApiVersion>,
    writes: usize,
    reads: usize,
    faults: Vec<String>,
}

impl Vault {
    /// This many objects, encrypted with one key.
    pub(crate) fn filled(objects: usize, keyring: &Keyring, key: &ApiVersion) -> Self {
        let objects: Vec<Sealed> = (0..objects)
            .map(|object| seal(keyring, key, object, 0))
            .collect();
        Self(Arc::new(Mutex::new(Inner {
            held: BTreeMap::from([(key.clone(), objects.len())]),
            objects,
            servers: BTreeMap::new(),
            free: BTreeSet::new(),
            writes: 0,
            reads: 0,
            faults: Vec::new(),
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("nobody panics with the vault")
    }

    pub(crate) fn len(&self) -> usize {
        self.inner().objects.len()
    }

    /// An object as it is stored.
    pub(crate) fn stored(&self, object: usize) -> Sealed {
        self.inner().objects[object].clone()
    }

    /// Stores an object. Every live server may read it from now on.
    pub(crate) fn put(&self, object: usize, sealed: Sealed) {
        let mut inner = self.inner();
        inner.writes += 1;
        inner.put(object, sealed);
    }

    /// Stores an object if it is still as it was read. False: it is not.
    pub(crate) fn replace(&self, object: usize, read: &Sealed, sealed: Sealed) -> bool {
        let mut inner = self.inner();
        let is_same = inner.objects[object] == *read;
        if is_same {
            inner.put(object, sealed);
        }
        is_same
    }

    /// A server reads an object.
    pub(crate) fn read(&self, server: &'static str, keyring: &Keyring, object: usize) {
        let sealed = self.stored(object);
        let mut inner = self.inner();
        inner.reads += 1;
        inner.opens(server, keyring, object, &sealed);
    }

    /// A server serves from now on, and may read every object.
    pub(crate) async fn opens(&self, server: &'static str, keyring: &Arc<Keyring>) {
        let mut at = 0;
        // From here on it reads what is written; what was there before comes by and by.
        self.inner().servers.insert(server, Arc::clone(keyring));
        while at < self.len() {
            self.inner().opens_some(server, keyring, at);
            at += AT_ONCE;
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn closes(&self, server: &str) {
        self.inner().servers.remove(server);
    }

    /// It was said that nothing may need this key any more.
    pub(crate) fn called_free(&self, key: &ApiVersion) {
        let mut inner = self.inner();
        inner.free.insert(key.clone());
        let held = inner.encrypted_with(key);
        if held > 0 {
            inner.fault(format!("{key} is called free, and encrypts {held} objects"));
        }
    }

    /// The number of objects that a key encrypts.
    pub(crate) fn encrypted_with(&self, key: &ApiVersion) -> usize {
        self.inner().encrypted_with(key)
    }

    /// How often servers have written, and how often they have read.
    pub(crate) fn load(&self) -> (usize, usize) {
        let inner = self.inner();
        (inner.writes, inner.reads)
    }

    /// What went wrong at some moment.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.inner().faults.clone()
    }
}

impl Inner {
    fn put(&mut self, object: usize, sealed: Sealed) {
        let key = sealed.key.clone();
        if self.free.contains(&key) {
            self.fault(format!("{object} is written with {key}, which was free"));
        }
        let servers: Vec<_> = self.servers.clone().into_iter().collect();
        for (server, keyring) in servers {
            self.opens(server, &keyring, object, &sealed);
        }
        *self.held.entry(key).or_default() += 1;
        let before = std::mem::replace(&mut self.objects[object], sealed);
        *self.held.entry(before.key).or_default() -= 1;
    }

    /// A server decrypts an object, which must be the one that was encrypted.
    fn opens(&mut self, server: &str, keyring: &Keyring, object: usize, sealed: &Sealed) {
        match keyring.open(&name(object), sealed) {
            Ok(plain) if plain.starts_with(name(object).as_bytes()) => {}
            Ok(_) => self.fault(format!("{server} has read another object than {object}")),
            Err(error) => self.fault(format!("{server} cannot read {object}: {error}")),
        }
    }

    fn opens_some(&mut self, server: &str, keyring: &Keyring, from: usize) {
        let until = self.objects.len().min(from + AT_ONCE);
        for object in from..until {
            let sealed = self.objects[object].clone();
            self.opens(server, keyring, object, &sealed);
        }
    }

    fn encrypted_with(&self, key: &ApiVersion) -> usize {
        self.held.get(key).copied().unwrap_or_default()
    }

    fn fault(&mut self, fault: String) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        }
    }
}

/// Encrypts the content that an object has after so many writes.
pub(crate) fn seal(keyring: &Keyring, key: &ApiVersion, object: usize, written: usize) -> Sealed {
    let name = name(object);
    let plain = format!("{name} {written}");
    let sealed = keyring.seal(key, &name, plain.as_bytes());
    sealed.unwrap_or_else(|error| panic!("a permit names a key that is held: {error}"))
}

/// The name under which an object is stored.
pub(crate) fn name(object: usize) -> String {
    format!("secret-{object:06}")
}
