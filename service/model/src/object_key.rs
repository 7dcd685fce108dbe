//! The key of an object: its resource, namespace and name.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::names::dns1123_subdomain;
use crate::text::shared_text;
use crate::{GroupResource, Namespace, Violation};

/// The name of an object: a DNS-1123 subdomain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName(Arc<str>);

impl ObjectName {
    /// The name with this text.
    ///
    /// # Errors
    ///
    /// Not a DNS-1123 subdomain.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        dns1123_subdomain(text).map_err(|rule| Violation::invalid(text, rule))?;
        Ok(Self(text.into()))
    }
}

shared_text!(ObjectName);

/// A name in its namespace, or without one; unique within a resource. Ordered by namespace, then by name; names without
/// a namespace come first.
///
/// It is one text to save memory, since every object has one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct NamespacedName {
    /// `namespace/name`, or `name`.
    text: Arc<str>,
    /// The length of the namespace, which is a label; zero if there is none.
    namespace_len: u8,
}

impl NamespacedName {
    /// The name in the namespace.
    #[must_use]
    pub fn new(namespace: Option<&Namespace>, name: &ObjectName) -> Self {
        Self::of_parts(namespace.map_or("", Namespace::as_str), name.as_str())
    }

    /// The namespace, if there is one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        (self.namespace_len > 0).then(|| self.scope())
    }

    /// The namespace, empty if there is none, and the name: names are ordered as these are.
    #[must_use]
    pub fn scope_and_name(&self) -> (&str, &str) {
        (self.scope(), self.name())
    }

    /// The name without the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.namespace_len {
            0 => &self.text,
            length => &self.text[usize::from(length) + 1..],
        }
    }

    /// Another name in the same namespace, or without one. `None` if a namespace is asked for and there is none.
    #[must_use]
    pub fn sibling(&self, namespaced: bool, name: &ObjectName) -> Option<Self> {
        match (namespaced, self.scope()) {
            (false, _) => Some(Self::of_parts("", name.as_str())),
            (true, "") => None,
            (true, namespace) => Some(Self::of_parts(namespace, name.as_str())),
        }
    }

    /// The lower bound of all names of the namespace, for ranges; it is not a legal name itself.
    #[must_use]
    pub fn before_all_of(namespace: Option<&Namespace>) -> Self {
        Self::of_parts(namespace.map_or("", Namespace::as_str), "")
    }

    /// The upper bound of all names of the same namespace, for ranges; it is not a legal name itself.
    #[must_use]
    pub fn after_all_beside(&self) -> Self {
        Self::of_parts(self.scope(), "~")
    }

    /// Of a namespace, or nothing, and a name that are legal.
    pub(crate) fn of_parts(namespace: &str, name: &str) -> Self {
        let text = match namespace {
            "" => name.into(),
            _ => format!("{namespace}/{name}").into(),
        };
        // A label has at most 63 bytes.
        let namespace_len = namespace.len() as u8;
        Self {
            text,
            namespace_len,
        }
    }

    fn scope(&self) -> &str {
        &self.text[..usize::from(self.namespace_len)]
    }
}

impl Ord for NamespacedName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.scope_and_name().cmp(&other.scope_and_name())
    }
}

impl PartialOrd for NamespacedName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for NamespacedName {
    /// `namespace/name`, or `name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for NamespacedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NamespacedName({self})")
    }
}

/// The key of an object in the store. Ordered by resource, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The resource of its collection.
    pub resource: GroupResource,
    /// Its name in the collection.
    pub name: NamespacedName,
}

impl ObjectKey {
    /// The key of these parts.
    #[must_use]
    pub fn new(resource: GroupResource, namespace: Option<&Namespace>, name: &ObjectName) -> Self {
        Self {
            resource,
            name: NamespacedName::new(namespace, name),
        }
    }
}

impl fmt::Display for ObjectKey {
    /// As Kubernetes' messages name an object: `widgets.example.io "default/one"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\"", self.resource.qualified(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(namespace: &str, name: &str) -> NamespacedName {
        let namespace = (!namespace.is_empty()).then(|| Namespace::parse(namespace).unwrap());
        NamespacedName::new(namespace.as_ref(), &ObjectName::parse(name).unwrap())
    }

    #[test]
    fn a_key_gives_back_its_parts_and_reads_as_kubernetes_writes_it() {
        let resource = GroupResource::new("example.io", "widgets").unwrap();
        let namespace = Namespace::parse("default").unwrap();
        let key = ObjectKey::new(
            resource,
            Some(&namespace),
            &ObjectName::parse("a.b").unwrap(),
        );
        assert_eq!(
            (key.name.namespace(), key.name.name()),
            (Some("default"), "a.b")
        );
        assert_eq!(key.to_string(), "widgets.example.io \"default/a.b\"");
        let cluster = name("", "node-1");
        assert_eq!((cluster.namespace(), cluster.name()), (None, "node-1"));
    }

    #[test]
    fn names_are_ordered_by_namespace_first() {
        // As plain texts, "a-b/x" comes before "a/x".
        let mut names = [
            name("a-b", "x"),
            name("a", "z"),
            name("", "y"),
            name("a", "x"),
        ];
        names.sort();
        let texts: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["y", "a/x", "a/z", "a-b/x"]);
    }

    #[test]
    fn the_beginning_of_a_namespace_is_before_its_names_and_after_those_of_others() {
        let namespace = Namespace::parse("b").unwrap();
        let beginning = NamespacedName::before_all_of(Some(&namespace));
        assert!(name("a", "zzz") < beginning && beginning < name("b", "0"));
        assert!(NamespacedName::before_all_of(None) < name("", "0"));
    }

    #[test]
    fn the_end_of_a_namespace_is_after_its_names_and_before_those_of_others() {
        let end = name("b", "x").after_all_beside();
        assert!(name("b", "z.z-z") < end && end < name("b-0", "0") && end < name("c", "0"));
        let end = name("", "x").after_all_beside();
        assert!(name("", "zzz") < end && end < name("a", "0"));
    }
}
