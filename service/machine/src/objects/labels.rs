//! The index of the objects of a collection by label: with it, the cost of a selection follows its result.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use imbl::OrdSet;
use synod_model::{LabelSelector, Labels, Namespace, NamespacedName, Rule};

/// Two lines for each label of each object: one with its value, and one for any value. An object without labels costs
/// nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelIndex(OrdSet<Line>);

type Line = (Arc<str>, Option<Arc<str>>, NamespacedName);

/// A label that an object must have, with one of some values.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    key: Arc<str>,
    /// `None` stands for any value.
    values: Vec<Option<Arc<str>>>,
}

impl Wanted {
    /// The requirements of a selector that the index can answer. The caller checks the others on the objects.
    pub(crate) fn all_of(selector: &LabelSelector) -> Vec<Self> {
        let wanted = selector.requirements().iter().filter_map(|requirement| {
            let values = match &requirement.rule {
                Rule::In(values) => values.iter().map(|it| Some(it.as_str().into())).collect(),
                Rule::Exists => vec![None],
                Rule::NotIn(_) | Rule::Absent => return None,
            };
            Some(Self {
                key: requirement.key.as_str().into(),
                values,
            })
        });
        wanted.collect()
    }
}

impl LabelIndex {
    pub(crate) fn insert(&mut self, labels: &Labels, name: &NamespacedName) {
        for line in lines(labels, name) {
            self.0.insert(line);
        }
    }

    pub(crate) fn remove(&mut self, labels: &Labels, name: &NamespacedName) {
        for line in lines(labels, name) {
            self.0.remove(&line);
        }
    }

    /// The names that have all of these labels, of which there is at least one, from `from` on. `from` is not before
    /// the namespace, if one is given.
    pub(crate) fn search(
        &self,
        wanted: Vec<Wanted>,
        namespace: Option<&Namespace>,
        from: Bound<NamespacedName>,
    ) -> impl Iterator<Item = NamespacedName> + use<'_> {
        Search::new(
            move |line| self.next(line),
            wanted,
            namespace.cloned(),
            from,
        )
    }

    /// The first line of the index from this bound on.
    fn next(&self, from: Bound<Line>) -> Option<&Line> {
        self.0.range((from, Bound::Unbounded)).next()
    }
}

fn lines(labels: &Labels, name: &NamespacedName) -> impl Iterator<Item = Line> {
    labels.shared().flat_map(move |(key, value)| {
        let line = |value| (Arc::clone(key), value, name.clone());
        [line(None), line(Some(Arc::clone(value)))]
    })
}

/// Whether the name is in the namespace, if one is given.
pub(crate) fn is_in(name: &NamespacedName, namespace: Option<&Namespace>) -> bool {
    namespace.is_none_or(|namespace| name.namespace() == Some(namespace.as_str()))
}

/// Walks the names that have all of some labels, in their order.
///
/// Each label is asked in turn for its next name not before the candidate, until all name the same one. A label queries
/// the index once for each of its values, and after that only for a value whose name was passed. So a search costs one
/// query for each value, plus as many as the rarest of the labels has objects, whatever the others have; if candidates
/// of that label pass several values of another label, it costs one query for each of those.
struct Search<A> {
    /// Returns the first line of the index from a bound on.
    ask: A,
    labels: Vec<Heads>,
    namespace: Option<Namespace>,
    from: Bound<NamespacedName>,
}

/// A label of the search, with the next name of each of its values that has one: the first name on top.
struct Heads {
    wanted: Wanted,
    next: BinaryHeap<Reverse<(NamespacedName, usize)>>,
}

impl<'a, A: Fn(Bound<Line>) -> Option<&'a Line>> Search<A> {
    fn new(
        ask: A,
        wanted: Vec<Wanted>,
        namespace: Option<Namespace>,
        from: Bound<NamespacedName>,
    ) -> Self {
        let mut search = Self {
            ask,
            labels: Vec::new(),
            namespace,
            from,
        };
        for wanted in wanted {
            let values = wanted.values.iter().enumerate();
            let next = values.filter_map(|(i, value)| {
                let name = search.first(&wanted.key, value.as_ref(), search.from.as_ref())?;
                Some(Reverse((name, i)))
            });
            let next = next.collect();
            search.labels.push(Heads { wanted, next });
        }
        search
    }

    /// The first name from `from` on that has the label with this value.
    fn first(
        &self,
        key: &Arc<str>,
        value: Option<&Arc<str>>,
        from: Bound<&NamespacedName>,
    ) -> Option<NamespacedName> {
        let line = |name: &NamespacedName| (Arc::clone(key), value.cloned(), name.clone());
        let (found, with, name) = (self.ask)(from.map(line))?;
        let is_meant = found == key && with.as_ref() == value;
        (is_meant && is_in(name, self.namespace.as_ref())).then(|| name.clone())
    }

    /// The first name from `from` on that has the label with one of its values.
    fn first_of(&mut self, label: usize, from: Bound<&NamespacedName>) -> Option<NamespacedName> {
        loop {
            let heads = &mut self.labels[label];
            let Reverse((name, _)) = heads.next.peek()?;
            if (from, Bound::Unbounded).contains(name) {
                return Some(name.clone());
            }
            let Reverse((_, i)) = heads.next.pop()?;
            let Wanted { key, values } = &self.labels[label].wanted;
            let next = self.first(key, values[i].as_ref(), from);
            let heads = &mut self.labels[label];
            heads.next.extend(next.map(|name| Reverse((name, i))));
        }
    }
}

impl<'a, A: Fn(Bound<Line>) -> Option<&'a Line>> Iterator for Search<A> {
    type Item = NamespacedName;

    fn next(&mut self) -> Option<NamespacedName> {
        let from = self.from.clone();
        let mut candidate = self.first_of(0, from.as_ref())?;
        let mut agreed = 1;
        for label in (0..self.labels.len()).cycle().skip(1) {
            if agreed == self.labels.len() {
                break;
            }
            let found = self.first_of(label, Bound::Included(&candidate))?;
            agreed = if found == candidate { agreed + 1 } else { 1 };
            candidate = found;
        }
        self.from = Bound::Excluded(candidate.clone());
        Some(candidate)
    }
}
