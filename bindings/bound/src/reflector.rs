//! A local cache of the cluster's objects that a watch keeps up to date.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use synod_client::json::{self as form, Document};
use synod_client::{
    GroupResource, LeaseKey, MemberId, MigrationId, NamespacedName, ObjectKind, Reflector as Cache,
    ResourceScope, Revision, Violation, Violations,
};

use crate::counts::{Counted, Live};
use crate::options::{Options, list, rule, text};
use crate::{Bound, Failure};

/// A cache that follows the cluster by a watch until it is dropped: [`synod_client::Reflector`], by documents.
#[derive(Debug)]
pub struct Reflector {
    cache: Cache,
    _live: Live,
}

impl Bound {
    /// Makes a cache of all objects of some kinds. Returns once it is filled.
    ///
    /// Options: `kinds`, such as `OBJECT_KIND_MEMBER`; without it, all kinds except the objects of collections.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch, or could not be read in time.
    pub async fn reflect(&self, options: &str) -> Result<Reflector, Failure> {
        let mut options = Options::parse(options)?;
        let kinds = options.take("kinds", list(text(kind))).unwrap_or_default();
        let kinds = options.end(Some(kinds))?;
        Ok(Reflector {
            cache: self.client().reflect(kinds).await?,
            _live: Live::new(Counted::Reflector),
        })
    }
}

/// The kind of this name.
fn kind(name: &str) -> Result<ObjectKind, Violation> {
    let mut kinds = ObjectKind::ALL.iter().copied();
    let known = kinds.find(|kind| form::kind(*kind) == name && *kind != ObjectKind::Object);
    known.ok_or_else(|| {
        Violation::invalid(
            name,
            "must be a kind of object, but no object of a collection",
        )
    })
}

impl Reflector {
    /// Returns an object, as the message of its kind; `None` if there is none.
    ///
    /// Options: `kind`; `name`, as in the object's events, with `namespace` for kinds that have one. Storage versions,
    /// storage states and collections are also found by `resource`, a `GroupResource`, in place of the name.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule.
    pub fn get(&self, options: &str) -> Result<Option<String>, Failure> {
        let mut options = Options::parse(options)?;
        let kind = options.need("kind", text(kind));
        let own = |text: &str| Ok::<_, Violation>(text.to_owned());
        let name = options.take("name", text(own));
        let namespace = options.take("namespace", text(own));
        let resource = options.take("resource", crate::options::message::<GroupResource>);
        let kind = options.end(kind)?;
        let asked = Asked {
            name: name.unwrap_or_default(),
            namespace: namespace.unwrap_or_default(),
            resource,
        };
        let found = self.find(kind, &asked).map_err(Failure::invalid)?;
        Ok(found.map(|object| object.to_string()))
    }

    fn find(&self, kind: ObjectKind, asked: &Asked) -> Result<Option<Value>, Violations> {
        let cache = &self.cache;
        Ok(match kind {
            ObjectKind::Member => {
                let id = MemberId::parse(&asked.name).map_err(|fault| fault.at("name"))?;
                cache.member(&id).as_ref().map(form::of)
            }
            ObjectKind::StorageVersion => first(cache.storage_versions(), |it| {
                asked.is(&it.resource, &it.name)
            }),
            ObjectKind::StorageState => first(cache.storage_states(), |it| {
                asked.is(&it.resource, &it.name)
            }),
            ObjectKind::Settings => cache.settings().as_ref().map(form::of),
            ObjectKind::Collection => first(cache.collections(), |it| {
                asked.is(&it.resource, it.resource.qualified())
            }),
            ObjectKind::ControllerRevision => {
                first(cache.controller_revisions(), |it| asked.is_named(&it.key))
            }
            ObjectKind::Lease => {
                let key = LeaseKey::new(&asked.namespace, &asked.name)?;
                cache.lease(&key).as_ref().map(form::of)
            }
            ObjectKind::LeaseCandidate => first(cache.lease_candidates(), |it| {
                it.identity.to_string() == asked.name && it.lease.namespace() == asked.namespace
            }),
            ObjectKind::Migration => {
                let id = MigrationId::parse(&asked.name)?;
                cache.migration(&id).as_ref().map(form::of)
            }
            ObjectKind::Roster => {
                let scope = ResourceScope::parse(&asked.name).map_err(|fault| fault.at("name"))?;
                cache.roster(&scope).as_ref().map(form::of)
            }
            // `kind` refuses this kind before.
            ObjectKind::Object => return Err(rule("objects of collections are not kept").into()),
        })
    }

    /// All objects of a kind, each as the message of that kind, in their order.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: it is not a kind that the cache can keep.
    pub fn list(&self, of: &str) -> Result<String, Failure> {
        let cache = &self.cache;
        let objects = match kind(of).map_err(|fault| Failure::invalid(fault.at("kind")))? {
            ObjectKind::Member => all(cache.members()),
            ObjectKind::StorageVersion => all(cache.storage_versions()),
            ObjectKind::StorageState => all(cache.storage_states()),
            ObjectKind::Settings => all(cache.settings()),
            ObjectKind::Collection => all(cache.collections()),
            ObjectKind::ControllerRevision => all(cache.controller_revisions()),
            ObjectKind::Lease => all(cache.leases()),
            ObjectKind::LeaseCandidate => all(cache.lease_candidates()),
            ObjectKind::Migration => all(cache.migrations()),
            ObjectKind::Roster => all(cache.rosters()),
            ObjectKind::Object => Value::Array(Vec::new()),
        };
        Ok(objects.to_string())
    }

    /// The revision that the cache shows.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.cache.revision().get()
    }

    /// Waits until something in the cache has changed after `since`, and answers the revision of the last change.
    ///
    /// # Errors
    ///
    /// Why the cache no longer follows the cluster.
    pub async fn changed(&self, since: u64) -> Result<u64, Failure> {
        Ok(self.cache.changed(Revision::new(since)).await?.get())
    }

    /// Waits until the cache shows this revision or a later one, but no longer than the limit.
    ///
    /// # Errors
    ///
    /// `DEADLINE_EXCEEDED`: the cache did not reach it in time. Otherwise why it no longer follows the cluster.
    pub async fn reached(&self, revision: u64, limit: Duration) -> Result<(), Failure> {
        Ok(self.cache.reached(Revision::new(revision), limit).await?)
    }
}

/// The first object that is meant, as the message of its kind.
fn first<T: Document>(objects: Vec<Arc<T>>, meant: impl Fn(&T) -> bool) -> Option<Value> {
    let found = objects.iter().find(|object| meant(object));
    found.map(form::of)
}

/// All objects, each as the message of its kind.
fn all<T: Document>(objects: impl IntoIterator<Item = Arc<T>>) -> Value {
    form::list(objects, |object| form::of(&object))
}

/// The options that an object is found by.
struct Asked {
    name: String,
    namespace: String,
    resource: Option<GroupResource>,
}

impl Asked {
    fn is(&self, resource: &GroupResource, name: &str) -> bool {
        match &self.resource {
            Some(asked) => asked == resource,
            None => self.name == name,
        }
    }

    fn is_named(&self, key: &NamespacedName) -> bool {
        key.name() == self.name && key.namespace().unwrap_or_default() == self.namespace
    }
}
