//! Collections and objects, at a revision.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use synod_model::{
    ApiVersion, Collection, GroupResource, LabelSelector, Namespace, NamespacedName, Object,
    ObjectKey, ObjectName, PackedObject,
};

use super::{Past, beyond, merged};
use crate::objects::Held;
use crate::objects::labels::Wanted;
use crate::{Deadline, Holder, State};

impl<'a> Past<'a> {
    /// A collection, by its resource.
    #[must_use]
    pub fn collection(&self, resource: &GroupResource) -> Option<Arc<Collection>> {
        let held = self.state.collections.get(resource);
        self.one::<Collection>(resource, held.map(|held| &held.row))
    }

    /// The collections after `after`, by (group, resource).
    pub fn collections(
        &self,
        after: Option<&GroupResource>,
    ) -> impl Iterator<Item = Arc<Collection>> {
        let kept = &self.state.collections;
        let kept = kept.range::<_, GroupResource>(beyond(after));
        self.all::<Collection>(kept.map(|(key, held)| (key, &held.row)), after)
    }

    /// An object, by its key. It is unpacked for each caller.
    #[must_use]
    pub fn object(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        let packed = self.one::<Object>(key, self.state.packed_object(key))?;
        Some(Arc::new(packed.unpack_named(key.name.clone())))
    }

    /// The objects of a resource that the selector matches, in one namespace if it is given, after `after`, by
    /// namespace and name. None for a resource without a collection.
    ///
    /// Costs one step for each object in the namespace that has the rarest of the required labels, for each value that
    /// a label may have, and for each object that has changed since the revision; without a required label it costs one
    /// step for each object in the namespace.
    pub fn objects<'b>(
        &'b self,
        resource: &GroupResource,
        namespace: Option<&Namespace>,
        selector: &'b LabelSelector,
        after: Option<&NamespacedName>,
    ) -> impl Iterator<Item = Arc<Object>> + use<'a, 'b> {
        let (from, undone_from) = range(resource, namespace, after);
        let kept = self.state.collections.get(resource).into_iter();
        let kept = kept.flat_map({
            let namespace = namespace.cloned();
            move |held| candidates(held, selector, namespace.as_ref(), from.clone())
        });
        let objects = merged(kept, self.undone_objects(resource, undone_from));
        let namespace = namespace.cloned();
        objects
            .take_while(move |((scope, _), _)| {
                namespace.as_ref().is_none_or(|it| it.as_str() == *scope)
            })
            .filter(|(_, object)| selector.matches(&object.attributes().labels))
            .map(|(_, object)| Arc::new(object.unpack()))
    }

    /// The objects of a resource that have this name, after `after`, by namespace. Costs one step for each namespace.
    pub fn objects_named<'b>(
        &'b self,
        resource: &GroupResource,
        name: &ObjectName,
        after: Option<&NamespacedName>,
    ) -> impl Iterator<Item = Arc<Object>> + use<'a, 'b> {
        let (resource, name) = (resource.clone(), name.clone());
        let mut after = after.cloned();
        let next_namespace = move || {
            let all = LabelSelector::default();
            let mut rest = self.objects(&resource, None, &all, after.as_ref());
            let first = rest.next()?.key.name.clone();
            let named = first.sibling(first.namespace().is_some(), &name)?;
            let passed = after.as_ref().is_some_and(|after| *after >= named);
            after = Some(first.after_all_beside());
            let key = ObjectKey {
                resource: resource.clone(),
                name: named,
            };
            Some(self.object(&key).filter(|_| !passed))
        };
        std::iter::from_fn(next_namespace).flatten()
    }

    /// The number of objects of a resource in each encoding. At a past revision it costs one step for each object that
    /// has changed since.
    #[must_use]
    pub fn object_counts(&self, resource: &GroupResource) -> BTreeMap<ApiVersion, u64> {
        let held = self.state.collections.get(resource);
        let mut counts = held.map(Held::counts).unwrap_or_default();
        let (_, from) = range(resource, None, None);
        for (name, before) in self.undone_objects(resource, from) {
            if let Some(before) = before {
                *counts.entry(before.alike().encoding.clone()).or_default() += 1;
            }
            if let Some(present) = held.and_then(|held| held.get(name)) {
                let count = counts.get_mut(&present.alike().encoding);
                *count.expect("every present object is counted") -= 1;
            }
        }
        counts.retain(|_, count| *count > 0);
        counts
    }

    /// The objects of a resource that have changed since, as they were at the revision.
    fn undone_objects<'b>(
        &'b self,
        resource: &GroupResource,
        from: Bound<ObjectKey>,
    ) -> impl Iterator<Item = (Name<'b>, Option<&'b PackedObject>)> + use<'a, 'b> {
        let resource = resource.clone();
        self.undone_from::<Object>(from)
            .take_while(move |(key, _)| key.resource == resource)
            .map(|(key, object)| (key.name.scope_and_name(), object))
    }
}

/// A namespace, empty for none, and a name, which are in the order of [`NamespacedName`].
type Name<'a> = (&'a str, &'a str);

type Candidate<'a> = (Name<'a>, &'a PackedObject);

/// Objects of a collection, by name, which include all of the namespace that the selector matches.
fn candidates<'a>(
    held: &'a Held,
    selector: &LabelSelector,
    namespace: Option<&Namespace>,
    from: Bound<NamespacedName>,
) -> Box<dyn Iterator<Item = Candidate<'a>> + 'a> {
    let wanted = Wanted::all_of(selector);
    if wanted.is_empty() {
        return Box::new(held.range(from).map(by_name));
    }
    let names = held.labels.search(wanted, namespace, from);
    Box::new(names.filter_map(move |name| held.get(name.scope_and_name()).map(by_name)))
}

fn by_name(object: &PackedObject) -> Candidate<'_> {
    (object.scope_and_name(), object)
}

/// Where to begin among the names of a collection, and among the keys of undone changes.
fn range(
    resource: &GroupResource,
    namespace: Option<&Namespace>,
    after: Option<&NamespacedName>,
) -> (Bound<NamespacedName>, Bound<ObjectKey>) {
    let from = match after {
        Some(after) => Bound::Excluded(after.clone()),
        None => Bound::Included(NamespacedName::before_all_of(namespace)),
    };
    let undone = from.clone().map(|name| ObjectKey {
        resource: resource.clone(),
        name,
    });
    (from, undone)
}

impl State {
    /// The deadline of an object with a TTL, lifts included. It is kept apart from the object.
    #[must_use]
    pub fn object_deadline(&self, key: &ObjectKey) -> Option<Deadline> {
        self.deadlines.kept(&Holder::Object(key.clone()))
    }
}
