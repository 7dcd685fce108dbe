//! Which objects of a collection have a label: what makes the cost of a selection follow its result.

use std::ops::Bound;
use std::sync::Arc;

use imbl::OrdSet;
use synod_model::{LabelSelector, Labels, NamespacedName, Rule};

/// Two lines for each label of each object, so that an object costs nothing beside its own labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelIndex {
    by_value: OrdSet<(Arc<str>, Arc<str>, NamespacedName)>,
    by_key: OrdSet<(Arc<str>, NamespacedName)>,
}

/// A label that an object must have.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    key: Arc<str>,
    /// One of these values; with `None`, whatever value.
    values: Option<Vec<Arc<str>>>,
}

impl Wanted {
    /// What a selector asks for that the index can answer. What it forbids is left to whoever looks at the objects.
    pub(crate) fn all_of(selector: &LabelSelector) -> Vec<Self> {
        let wanted = selector.requirements().iter().filter_map(|requirement| {
            let values = match &requirement.rule {
                Rule::In(values) => {
                    Some(values.iter().map(|value| value.as_str().into()).collect())
                }
                Rule::Exists => None,
                Rule::NotIn(_) | Rule::Absent => return None,
            };
            let key = requirement.key.as_str().into();
            Some(Self { key, values })
        });
        wanted.collect()
    }
}

impl LabelIndex {
    pub(crate) fn insert(&mut self, labels: &Labels, name: &NamespacedName) {
        for (key, value) in labels.shared() {
            let (key, value) = (Arc::clone(key), Arc::clone(value));
            self.by_key.insert((Arc::clone(&key), name.clone()));
            self.by_value.insert((key, value, name.clone()));
        }
    }

    pub(crate) fn remove(&mut self, labels: &Labels, name: &NamespacedName) {
        for (key, value) in labels.shared() {
            let (key, value) = (Arc::clone(key), Arc::clone(value));
            self.by_key.remove(&(Arc::clone(&key), name.clone()));
            self.by_value.remove(&(key, value, name.clone()));
        }
    }

    /// The names from `from` on that have all of these labels, in order. None if no label is asked for.
    pub(crate) fn joined(&self, wanted: Vec<Wanted>, from: Bound<NamespacedName>) -> Joined<'_> {
        Joined {
            index: self,
            wanted,
            turn: 0,
            agreed: 0,
            from,
        }
    }

    /// The first name from `from` on that has the label.
    fn first_of(&self, label: &Wanted, from: Bound<&NamespacedName>) -> Option<NamespacedName> {
        let Some(values) = &label.values else {
            let from = from.map(|name| (Arc::clone(&label.key), name.clone()));
            let (key, name) = self.by_key.range((from, Bound::Unbounded)).next()?;
            return (*key == label.key).then(|| name.clone());
        };
        let of_value = |value: &Arc<str>| {
            let line =
                |name: &NamespacedName| (Arc::clone(&label.key), Arc::clone(value), name.clone());
            let mut lines = self.by_value.range((from.map(line), Bound::Unbounded));
            let (key, found, name) = lines.next()?;
            (*key == label.key && found == value).then(|| name.clone())
        };
        values.iter().filter_map(of_value).min()
    }
}

/// The names that have several labels.
///
/// Each label is asked in turn for its next name not before the candidate, until all name the same one: it costs as many
/// questions as the rarest of the labels has objects, whatever the others have.
#[derive(Debug)]
pub(crate) struct Joined<'a> {
    index: &'a LabelIndex,
    wanted: Vec<Wanted>,
    /// Which label is asked next.
    turn: usize,
    /// How many labels, one after the other, have named the candidate.
    agreed: usize,
    /// The candidate; or, before there is one, where to begin.
    from: Bound<NamespacedName>,
}

/// What one question tells.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// A name that has all labels.
    Found(NamespacedName),
    /// Another label is to be asked.
    AskOn,
    /// There is no other name.
    End,
}

impl Joined<'_> {
    fn ask(&mut self) -> Told {
        let Some(label) = self.wanted.get(self.turn) else {
            return Told::End;
        };
        let Some(name) = self.index.first_of(label, self.from.as_ref()) else {
            return Told::End;
        };
        self.turn = (self.turn + 1) % self.wanted.len();
        let again = matches!(&self.from, Bound::Included(candidate) if *candidate == name);
        self.agreed = if again { self.agreed + 1 } else { 1 };
        if self.agreed < self.wanted.len() {
            self.from = Bound::Included(name);
            return Told::AskOn;
        }
        self.agreed = 0;
        self.from = Bound::Excluded(name.clone());
        Told::Found(name)
    }
}

impl Iterator for Joined<'_> {
    type Item = NamespacedName;

    fn next(&mut self) -> Option<NamespacedName> {
        loop {
            match self.ask() {
                Told::Found(name) => return Some(name),
                Told::AskOn => {}
                Told::End => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use synod_model::{Namespace, ObjectName};

    use super::*;

    /// So many objects of which every one has `app`, ten are `rare`, and one of these is `single`.
    fn index(objects: usize) -> LabelIndex {
        let namespace = Namespace::parse("a").unwrap();
        let mut index = LabelIndex::default();
        for i in 0..objects {
            let name = ObjectName::parse(&format!("o-{i:05}")).unwrap();
            let app = format!("app-{}", i % 2);
            let mut labels = vec![("app", app.as_str())];
            if i % (objects / 10) == 0 {
                labels.push(("rare", "yes"));
            }
            if i == objects / 10 {
                labels.push(("single", "yes"));
            }
            let labels = Labels::parse(labels).unwrap();
            index.insert(&labels, &NamespacedName::new(Some(&namespace), &name));
        }
        index
    }

    /// How many names a selection finds, and how many questions it asks.
    fn questions(index: &LabelIndex, selector: &str) -> (usize, usize) {
        let selector = LabelSelector::parse(selector).unwrap();
        let from = Bound::Included(NamespacedName::before_all_of(None));
        let mut joined = index.joined(Wanted::all_of(&selector), from);
        let (mut found, mut asked) = (BTreeSet::new(), 0);
        loop {
            asked += 1;
            match joined.ask() {
                Told::Found(name) => assert!(found.insert(name), "a name once"),
                Told::AskOn => {}
                Told::End => return (found.len(), asked),
            }
        }
    }

    #[test]
    fn a_selection_asks_as_often_as_its_rarest_label_has_objects_whatever_else_there_is() {
        for (selector, names, most) in [
            ("single=yes", 1, 2),
            ("single", 1, 2),
            ("rare=yes,app in (app-0,app-1)", 10, 31),
            ("app,rare", 10, 31),
            ("single,app,rare=yes", 1, 12),
            ("rare=yes,single=no", 0, 2),
            ("app=app-0,nothing", 0, 2),
            ("nothing,app=app-0", 0, 1),
        ] {
            for objects in [100, 4_000] {
                let (found, asked) = questions(&index(objects), selector);
                assert_eq!(found, names, "{selector} of {objects}");
                assert!(asked <= most, "{selector} of {objects}: {asked} questions");
            }
        }
    }

    #[test]
    fn what_is_removed_leaves_nothing_behind() {
        let mut index = index(100);
        let lines: Vec<_> = index.by_value.iter().cloned().collect();
        for (key, value, name) in lines {
            let labels = Labels::parse([(&*key, &*value)]).unwrap();
            index.remove(&labels, &name);
        }
        assert!(index.by_value.is_empty() && index.by_key.is_empty());
    }
}
