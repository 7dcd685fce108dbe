//! One simulated directory: its durable names and its present names.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::contents::Contents;
use super::locking::lock;
use super::random::Random;

/// Only the owner can enter a directory.
pub(super) const PRIVATE_MODE: u32 = 0o700;

type Names = BTreeMap<String, Arc<Mutex<Contents>>>;

#[derive(Debug)]
pub(super) struct Directory {
    durable: Names,
    current: Names,
    /// Changes since the last sync, oldest first.
    unsynced: Vec<NameChange>,
    pub(super) mode: u32,
    /// Whether the name of the directory itself is durable.
    pub(super) is_durable: bool,
}

/// A change of one directory, which a crash keeps as a whole or not at all.
#[derive(Clone, Debug)]
pub(super) enum NameChange {
    Set(String, Arc<Mutex<Contents>>),
    Rename(String, String),
    Remove(String),
}

impl Default for Directory {
    fn default() -> Self {
        Self {
            durable: Names::new(),
            current: Names::new(),
            unsynced: Vec::new(),
            mode: PRIVATE_MODE,
            is_durable: false,
        }
    }
}

impl Directory {
    pub(super) fn get(&self, name: &str) -> Option<Arc<Mutex<Contents>>> {
        self.current.get(name).cloned()
    }

    pub(super) fn current(&self) -> impl Iterator<Item = (&String, &Arc<Mutex<Contents>>)> {
        self.current.iter()
    }

    pub(super) fn change(&mut self, change: NameChange) {
        apply(&mut self.current, &change);
        self.unsynced.push(change);
    }

    pub(super) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            apply(&mut self.durable, &change);
        }
    }

    /// Keeps a prefix of the changes, and of every remaining file what a crash leaves of it.
    pub(super) fn crash(&mut self, random: &mut Random) {
        let unsynced = std::mem::take(&mut self.unsynced);
        let kept = usize::try_from(random.below(unsynced.len() as u64 + 1)).unwrap_or_default();
        for change in &unsynced[..kept] {
            apply(&mut self.durable, change);
        }
        self.current = self.durable.clone();
        for contents in self.current.values() {
            lock(contents).crash(random);
        }
    }
}

fn apply(names: &mut Names, change: &NameChange) {
    match change {
        NameChange::Set(name, contents) => drop(names.insert(name.clone(), Arc::clone(contents))),
        NameChange::Rename(from, to) => {
            if let Some(contents) = names.remove(from) {
                names.insert(to.clone(), contents);
            }
        }
        NameChange::Remove(name) => drop(names.remove(name)),
    }
}
