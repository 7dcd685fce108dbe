//! The store of the API servers. It knows nothing of Synod except, in some years, a fence.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::Revision;

/// A storage version, by its number: `example.io/v3` is 3.
pub(crate) type Version = u8;

/// One of the resources, by its place in [`RESOURCES`](crate::cluster::RESOURCES).
pub(crate) type Resource = usize;

/// A write on its way.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// The process that sent it.
    pub(crate) process: usize,
    pub(crate) resource: Resource,
    pub(crate) object: usize,
    pub(crate) version: Version,
    /// The revision at which the sender knew that its entry allows the version.
    pub(crate) known: Revision,
}

/// An object.
#[derive(Clone, Copy, Debug)]
struct Stored {
    version: Version,
    /// The process that wrote it; `None`: a worker did.
    by: Option<usize>,
}

/// The stored objects.
#[derive(Debug, Default)]
pub(crate) struct Store {
    objects: BTreeMap<(Resource, usize), Stored>,
    /// The agreement revision that a worker wrote last, by resource.
    fences: BTreeMap<Resource, Revision>,
    is_fenced: bool,
}

impl Store {
    pub(crate) fn new(is_fenced: bool) -> Self {
        Self {
            is_fenced,
            ..Self::default()
        }
    }

    /// A worker begins: writes that were allowed before this agreement and have not landed are refused from now on.
    pub(crate) fn fence(&mut self, resource: Resource, agreement: Revision) {
        if self.is_fenced {
            let fence = self.fences.entry(resource).or_insert(agreement);
            *fence = (*fence).max(agreement);
        }
    }

    /// A write lands, unless the fence is newer. The last write wins: the store compares nothing else.
    pub(crate) fn land(&mut self, write: &Write) -> bool {
        let fence = self.fences.get(&write.resource);
        let passes = fence.is_none_or(|fence| write.known >= *fence);
        if passes {
            let key = (write.resource, write.object);
            let stored = Stored {
                version: write.version,
                by: Some(write.process),
            };
            self.objects.insert(key, stored);
        }
        passes
    }

    /// A worker puts an object back, in the version that is agreed on.
    pub(crate) fn rewrite(&mut self, resource: Resource, object: usize, version: Version) {
        if let Some(stored) = self.objects.get_mut(&(resource, object)) {
            *stored = Stored { version, by: None };
        }
    }

    /// The versions in which objects of a resource are stored.
    pub(crate) fn versions(&self, resource: Resource) -> BTreeSet<Version> {
        self.versions_but(resource, |_| false)
    }

    /// As [`Self::versions`], without the objects that these processes wrote.
    pub(crate) fn versions_but(
        &self,
        resource: Resource,
        is_excused: impl Fn(usize) -> bool,
    ) -> BTreeSet<Version> {
        let objects = self.objects.iter().filter(|((of, _), _)| *of == resource);
        let objects = objects.map(|(_, stored)| stored);
        let objects = objects.filter(|stored| !stored.by.is_some_and(&is_excused));
        objects.map(|stored| stored.version).collect()
    }
}
