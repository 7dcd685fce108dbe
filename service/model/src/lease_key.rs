//! The name of a lease.

use std::sync::Arc;

use crate::names::{dns1123_label, dns1123_subdomain};
use crate::text::shared_text;
use crate::{Violation, Violations};

/// A namespace and a name in it, written `namespace/name`.
///
/// Keys are ordered by that text, so the keys of one namespace are adjacent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseKey(Arc<str>);

impl LeaseKey {
    /// The key with this text.
    ///
    /// # Errors
    ///
    /// No slash, a namespace that is no DNS-1123 label, or a name that is no DNS-1123 subdomain.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        let (namespace, name) = text
            .split_once('/')
            .ok_or_else(|| Violation::invalid(text, "must be <namespace>/<name>"))?;
        dns1123_label(namespace).map_err(|rule| Violation::invalid(namespace, rule))?;
        dns1123_subdomain(name).map_err(|rule| Violation::invalid(name, rule))?;
        Ok(Self(text.into()))
    }

    /// The key of these two.
    ///
    /// # Errors
    ///
    /// What [`LeaseKey::parse`] refuses, both faults at once, at `namespace` and `name`.
    pub fn new(namespace: &str, name: &str) -> Result<Self, Violations> {
        let mut found = Violations::new();
        if let Err(rule) = dns1123_label(namespace) {
            found.push(Violation::invalid(namespace, rule).at("namespace"));
        }
        if let Err(rule) = dns1123_subdomain(name) {
            found.push(Violation::invalid(name, rule).at("name"));
        }
        if found.is_empty() {
            Ok(Self(format!("{namespace}/{name}").into()))
        } else {
            Err(found)
        }
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        self.parts().0
    }

    /// Its name in the namespace.
    pub fn name(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        self.0
            .split_once('/')
            .expect("a key has one slash, as every constructor sees to")
    }
}

shared_text!(LeaseKey);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_from_its_text_and_names_its_parts() {
        let key = LeaseKey::new("kube-system", "kube-scheduler.v1").unwrap();
        assert_eq!(key.to_string(), "kube-system/kube-scheduler.v1");
        assert_eq!(
            (key.namespace(), key.name()),
            ("kube-system", "kube-scheduler.v1")
        );
        assert_eq!(LeaseKey::parse(key.as_str()), Ok(key));
    }

    #[test]
    fn both_faults_of_a_key_are_named() {
        let found = LeaseKey::new("a.b", "-x").unwrap_err();
        let fields: Vec<&str> = found
            .iter()
            .map(|violation| violation.field.as_str())
            .collect();
        assert_eq!(fields, ["namespace", "name"]);
    }

    #[test]
    fn a_text_that_is_no_key_is_refused() {
        for bad in ["", "name", "/name", "ns/", "ns/a/b", "Ns/a", "ns/A"] {
            assert!(LeaseKey::parse(bad).is_err(), "{bad:?}");
        }
    }
}
