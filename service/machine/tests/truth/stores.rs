//! The stores: the objects that are really in them, and the writes that are on their way.

use synod_model::Revision;

use crate::schedule::{ResourceName, Version};

/// The number of objects in a store.
pub(crate) const KEYS: usize = 2;

/// The most writes that are on their way at once.
const FLYING_MAX: usize = 6;

/// The sender of a write, by its place in the world's list of processes or workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    Process(usize),
    Worker(usize),
}

/// An object of a store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Object {
    /// The version that it is in; `None` before it is created.
    pub(crate) version: Option<Version>,
    /// The number of its changes.
    pub(crate) changes: u64,
    /// The sender of the last write.
    pub(crate) writer: Option<Writer>,
}

/// A write that was sent and has not reached its store.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// Tells this write from all others.
    pub(crate) number: u64,
    pub(crate) store: usize,
    pub(crate) key: usize,
    pub(crate) version: Version,
    pub(crate) writer: Writer,
    /// The first second at which the request has ended, whatever became of it.
    pub(crate) ends: u64,
    /// The conditions of a worker's rewrite.
    pub(crate) condition: Option<Condition>,
}

/// The state in which a store still takes a rewrite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    /// The number of changes of the object that the worker has listed.
    pub(crate) changes: u64,
    /// The fence of the worker's claim; `None` if it compares none.
    pub(crate) fence: Option<Revision>,
}

/// All stores of a world.
pub(crate) struct Stores {
    /// Whether both resources are in one store.
    is_one: bool,
    pub(crate) objects: Vec<[Object; KEYS]>,
    /// The agreement revision in each store's fence key.
    pub(crate) fences: Vec<Revision>,
    pub(crate) flying: Vec<Write>,
    sent: u64,
}

impl Stores {
    /// Stores whose objects are in this version.
    pub(crate) fn new(is_one: bool, version: Option<Version>) -> Self {
        let object = Object {
            version,
            ..Object::default()
        };
        let count = if is_one { 1 } else { 2 };
        Self {
            is_one,
            objects: vec![[object; KEYS]; count],
            fences: vec![Revision::ZERO; count],
            flying: Vec::new(),
            sent: 0,
        }
    }

    /// The store of a resource.
    pub(crate) fn place(&self, resource: ResourceName) -> usize {
        match resource {
            ResourceName::Gadgets if !self.is_one => 1,
            ResourceName::Widgets | ResourceName::Gadgets => 0,
        }
    }

    pub(crate) fn object(&self, store: usize, key: usize) -> &Object {
        &self.objects[store][key]
    }

    /// Returns whether another write can be sent.
    pub(crate) fn has_room(&self) -> bool {
        self.flying.len() < FLYING_MAX
    }

    /// Sends the write, and returns its number.
    pub(crate) fn send(&mut self, write: Write) -> u64 {
        self.sent += 1;
        let number = self.sent;
        self.flying.push(Write { number, ..write });
        number
    }

    /// The oldest write on its way that fits.
    pub(crate) fn find(&self, fits: impl Fn(&Write) -> bool) -> Option<&Write> {
        self.flying.iter().find(|write| fits(write))
    }

    /// Returns whether the store would take the write now.
    pub(crate) fn takes(&self, write: &Write) -> bool {
        write.condition.is_none_or(|condition| {
            let is_unchanged = self.object(write.store, write.key).changes == condition.changes;
            let fence = condition.fence.unwrap_or(self.fences[write.store]);
            is_unchanged && fence == self.fences[write.store]
        })
    }

    /// The write reaches its store. Returns whether the store took it; `None` if it is on its way no longer.
    pub(crate) fn land(&mut self, number: u64) -> Option<bool> {
        let at = self.flying.iter().position(|it| it.number == number)?;
        let write = self.flying.remove(at);
        let taken = self.takes(&write);
        if taken {
            let object = &mut self.objects[write.store][write.key];
            object.version = Some(write.version);
            object.changes += 1;
            object.writer = Some(write.writer);
        }
        Some(taken)
    }

    /// The writes that fit are answered: none of them is on its way any more.
    pub(crate) fn answer(&mut self, fits: impl Fn(&Write) -> bool) {
        self.flying.retain(|write| !fits(write));
    }
}
