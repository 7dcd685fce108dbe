//! Finalizers: the tasks that must be done before an object is removed.

use std::sync::Arc;

use crate::limits::FINALIZERS_MAX;
use crate::names::qualified_name;
use crate::text::shared_text;
use crate::{Violation, Violations};

/// The name of a task that must be done before an object is removed: a qualified name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finalizer(Arc<str>);

impl Finalizer {
    /// The finalizer with this name.
    ///
    /// # Errors
    ///
    /// Not a qualified name.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        qualified_name(text).map_err(|rule| Violation::invalid(text, rule))?;
        Ok(Self(text.into()))
    }

    /// [`Finalizers::FOREGROUND`].
    #[must_use]
    pub fn foreground() -> Self {
        Self(Finalizers::FOREGROUND.into())
    }

    /// [`Finalizers::ORPHAN`].
    #[must_use]
    pub fn orphan() -> Self {
        Self(Finalizers::ORPHAN.into())
    }
}

shared_text!(Finalizer);

/// At most 64 finalizers without duplicates, in the order in which they were given. An empty list takes no memory.
///
/// [`Finalizers::FOREGROUND`] and [`Finalizers::ORPHAN`] do not count towards the limit: a deletion adds them to the
/// others.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finalizers(Option<Arc<[Finalizer]>>);

impl Finalizers {
    pub(crate) const NONE: Self = Self(None);

    /// The finalizer of an object that waits until the dependents that block it are gone, as Kubernetes names it.
    pub const FOREGROUND: &'static str = "foregroundDeletion";
    /// The finalizer of an object that waits until its dependents no longer name it as an owner, as Kubernetes names
    /// it.
    pub const ORPHAN: &'static str = "orphan";

    /// The most items of a list: those that count towards the limit, and the two that a deletion adds.
    pub const ITEMS_MAX: usize = FINALIZERS_MAX + 2;

    /// The finalizers with these names.
    ///
    /// # Errors
    ///
    /// Too many, one that is no qualified name, or one that is given twice; all faults at once.
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, Violations> {
        let mut violations = Violations::new();
        let mut kept: Vec<Finalizer> = Vec::new();
        let mut given = 0;
        for (i, text) in texts.into_iter().enumerate() {
            let text = text.as_ref();
            let of_deletions = [Self::FOREGROUND, Self::ORPHAN].contains(&text);
            given += usize::from(!of_deletions);
            let Some(finalizer) = violations.parsed(format_args!("[{i}]"), Finalizer::parse(text))
            else {
                continue;
            };
            if kept.contains(&finalizer) {
                violations.push(Violation::duplicate(text).at(&format!("[{i}]")));
            } else if of_deletions || given <= FINALIZERS_MAX {
                kept.push(finalizer);
            }
        }
        if given > FINALIZERS_MAX {
            violations.push(Violation::too_many(given, FINALIZERS_MAX));
        }
        if violations.is_empty() {
            Ok(Self::of(kept))
        } else {
            Err(violations)
        }
    }

    /// Whether the finalizer of this name is among them.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|finalizer| finalizer.as_str() == name)
    }

    /// The finalizers in the order in which they were given.
    pub fn iter(&self) -> std::slice::Iter<'_, Finalizer> {
        self.0.as_deref().unwrap_or_default().iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// These finalizers and this one, unless it is among them already.
    #[must_use]
    pub fn with(&self, finalizer: Finalizer) -> Self {
        if self.contains(finalizer.as_str()) {
            return self.clone();
        }
        Self::of(self.iter().cloned().chain([finalizer]).collect())
    }

    /// These finalizers without the one of this name.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let others = self.iter().filter(|finalizer| finalizer.as_str() != name);
        Self::of(others.cloned().collect())
    }

    fn of(finalizers: Vec<Finalizer>) -> Self {
        Self((!finalizers.is_empty()).then(|| finalizers.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finalizers_keep_their_order_and_stand_once() {
        let finalizers = Finalizers::parse(["example.com/b", "a", "orphan"]).unwrap();
        let texts: Vec<&str> = finalizers.iter().map(Finalizer::as_str).collect();
        assert_eq!(texts, ["example.com/b", "a", "orphan"]);
        assert!(finalizers.contains("a") && !finalizers.contains("b"));
        let faults = Finalizers::parse(["a", "a", "not a name"]).unwrap_err();
        let fields: Vec<&str> = faults.iter().map(|fault| &*fault.field).collect();
        assert_eq!(fields, ["[1]", "[2]"]);
    }

    #[test]
    fn sixty_four_finalizers_are_allowed_and_one_more_is_not() {
        let of = |count: usize| Finalizers::parse((0..count).map(|i| format!("f-{i}")));
        assert_eq!(of(63).unwrap().len(), 63);
        assert_eq!(of(64).unwrap().len(), 64);
        assert!(of(65).unwrap_err().to_string().starts_with("Too many: 65"));
        // The finalizers that a deletion adds do not count, so that an object that has them can be read back.
        let most = of(64).unwrap().with(Finalizer::foreground());
        let texts: Vec<&str> = most.iter().map(Finalizer::as_str).collect();
        assert_eq!(Finalizers::parse(texts).unwrap(), most);
    }

    #[test]
    fn adding_and_taking_away_a_finalizer_leaves_the_others() {
        let one = Finalizers::parse(["a"]).unwrap();
        let two = one.with(Finalizer::parse("b").unwrap());
        assert_eq!(two, Finalizers::parse(["a", "b"]).unwrap());
        assert_eq!(two.with(Finalizer::parse("a").unwrap()), two);
        assert_eq!(two.without("b"), one);
        assert_eq!(one.without("a"), Finalizers::default());
        assert!(one.without("a").is_empty());
    }
}
