//! Which objects of a collection have a label: what makes the cost of a selection follow its result.

use std::collections::BTreeSet;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use imbl::OrdSet;
use synod_model::{LabelSelector, Labels, NamespacedName, Rule};

/// A line for each label of each object, so that an object costs nothing beside its own labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelIndex(OrdSet<Line>);

type Line = (Arc<str>, Arc<str>, NamespacedName);

/// The values of one label, of which an object must have one.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    key: Arc<str>,
    values: Vec<Arc<str>>,
}

impl Wanted {
    /// What a selector asks for that the index can answer. What it forbids is left to whoever looks at the objects.
    pub(crate) fn all_of(selector: &LabelSelector) -> Vec<Self> {
        let wanted = selector.requirements().iter().filter_map(|requirement| {
            let Rule::In(values) = &requirement.rule else {
                return None;
            };
            Some(Self {
                key: requirement.key.as_str().into(),
                values: values.iter().map(|value| value.as_str().into()).collect(),
            })
        });
        wanted.collect()
    }
}

impl LabelIndex {
    pub(crate) fn insert(&mut self, labels: &Labels, name: &NamespacedName) {
        for (key, value) in labels.shared() {
            self.0
                .insert((Arc::clone(key), Arc::clone(value), name.clone()));
        }
    }

    pub(crate) fn remove(&mut self, labels: &Labels, name: &NamespacedName) {
        for (key, value) in labels.shared() {
            self.0
                .remove(&(Arc::clone(key), Arc::clone(value), name.clone()));
        }
    }

    /// The first name from `from` on that has all of these labels, of which there is at least one.
    ///
    /// Each label is asked in turn for its next name not before the candidate, until all name the same one: it costs
    /// as many questions as the rarest of the labels has objects, whatever the others have.
    pub(crate) fn first_from(
        &self,
        wanted: &[Wanted],
        from: Bound<&NamespacedName>,
    ) -> Option<NamespacedName> {
        let mut candidate = self.first_of(wanted.first()?, from)?;
        let mut agreed = 1;
        for label in wanted.iter().cycle().skip(1) {
            if agreed == wanted.len() {
                break;
            }
            let found = self.first_of(label, Bound::Included(&candidate))?;
            agreed = if found == candidate { agreed + 1 } else { 1 };
            candidate = found;
        }
        Some(candidate)
    }

    fn first_of(&self, label: &Wanted, from: Bound<&NamespacedName>) -> Option<NamespacedName> {
        let of_value = |value: &Arc<str>| {
            let line =
                |name: &NamespacedName| (Arc::clone(&label.key), Arc::clone(value), name.clone());
            let from = from.map(line);
            let (key, found, name) = self.0.range((from, Bound::Unbounded)).next()?;
            (*key == label.key && found == value).then(|| name.clone())
        };
        label.values.iter().filter_map(of_value).min()
    }

    /// Every name from `from` on that has the label, with whatever value.
    pub(crate) fn having(
        &self,
        key: &str,
        from: Bound<NamespacedName>,
    ) -> BTreeSet<NamespacedName> {
        let first = (
            Arc::from(key),
            Arc::from(""),
            NamespacedName::before_all_of(None),
        );
        self.0
            .range((Bound::Included(first), Bound::Unbounded))
            .take_while(|(found, _, _)| **found == *key)
            .map(|(_, _, name)| name)
            .filter(|name| (from.as_ref(), Bound::Unbounded).contains(*name))
            .cloned()
            .collect()
    }
}
