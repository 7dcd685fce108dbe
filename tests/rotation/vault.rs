//! The store of all servers: encrypted objects, and the keys of every server that is alive.
//!
//! What a server meets is not left to chance: whenever an object is stored, every live server decrypts it, and a server that
//! comes decrypts all. So the vault knows of every moment whether somebody could not read something.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use synod_client::ApiVersion;

use super::keyring::{CipherError, Keyring, Sealed};
use super::legal;

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
    served: BTreeMap<&'static str, Served>,
    rewritten: usize,
    faults: Vec<String>,
}

/// What a server of one name has done, over all its lives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Served {
    pub(crate) writes: usize,
    pub(crate) reads: usize,
}

impl Served {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            writes: self.writes - before.writes,
            reads: self.reads - before.reads,
        }
    }
}

impl Vault {
    /// This many objects, encrypted with one key.
    pub(crate) fn filled(objects: usize, keyring: &Keyring, key: &ApiVersion) -> Self {
        let objects: Vec<Sealed> = (0..objects)
            .map(|object| legal(seal(keyring, key, object, 0)))
            .collect();
        Self(Arc::new(Mutex::new(Inner {
            held: BTreeMap::from([(key.clone(), objects.len())]),
            objects,
            servers: BTreeMap::new(),
            free: BTreeSet::new(),
            served: BTreeMap::new(),
            rewritten: 0,
            faults: Vec::new(),
        })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("nobody panics with the vault")
    }

    pub(crate) fn len(&self) -> usize {
        self.inner().objects.len()
    }

    /// So many objects, the first ones, are what servers write. The others only the worker brings to the new key.
    pub(crate) fn lively(&self) -> usize {
        self.len() / 2
    }

    /// An object as it is stored.
    pub(crate) fn stored(&self, object: usize) -> Sealed {
        self.inner().objects[object].clone()
    }

    /// A server stores an object. Every live server may read it from now on.
    pub(crate) fn put(&self, server: &'static str, object: usize, sealed: Sealed) {
        let mut inner = self.inner();
        inner.served.entry(server).or_default().writes += 1;
        inner.put(object, sealed);
    }

    /// The worker stores an object if it is still as it was read. False: it is not.
    pub(crate) fn replace(&self, object: usize, read: &Sealed, sealed: Sealed) -> bool {
        let mut inner = self.inner();
        let is_same = inner.objects[object] == *read;
        if is_same {
            inner.rewritten += 1;
            inner.put(object, sealed);
        }
        is_same
    }

    /// A server reads an object.
    pub(crate) fn read(&self, server: &'static str, keyring: &Keyring, object: usize) {
        let sealed = self.stored(object);
        let mut inner = self.inner();
        inner.served.entry(server).or_default().reads += 1;
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

    /// What a server has done so far.
    pub(crate) fn served(&self, server: &str) -> Served {
        self.inner().served.get(server).copied().unwrap_or_default()
    }

    /// How many objects the worker has stored.
    pub(crate) fn rewritten(&self) -> usize {
        self.inner().rewritten
    }

    pub(crate) fn fault(&self, fault: String) {
        self.inner().fault(fault);
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
pub(crate) fn seal(
    keyring: &Keyring,
    key: &ApiVersion,
    object: usize,
    written: usize,
) -> Result<Sealed, CipherError> {
    let name = name(object);
    let plain = format!("{name} {written}");
    keyring.seal(key, &name, plain.as_bytes())
}

/// The name under which an object is stored.
pub(crate) fn name(object: usize) -> String {
    format!("secret-{object:06}")
}
