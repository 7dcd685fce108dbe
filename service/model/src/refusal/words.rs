//! Refusals that are made from a value: from violations, keys and scopes.

use std::fmt;

use crate::{
    ErrorKind, NamespacedName, ObjectKey, Refusal, ResourceScope, Revision, Roster, Violations,
};

impl Violations {
    /// `Ok` if there are no violations.
    ///
    /// # Errors
    ///
    /// An [`ErrorKind::InvalidArgument`] that carries all violations.
    pub fn into_result(self) -> Result<(), Refusal> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.into_refusal())
        }
    }

    /// The [`ErrorKind::InvalidArgument`] that carries all of them.
    pub fn into_refusal(self) -> Refusal {
        let message = format!("the request is invalid: {self}");
        let mut refusal = Refusal::new(ErrorKind::InvalidArgument, message);
        refusal.violations = self.into_kept();
        refusal
    }
}

impl NamespacedName {
    /// The refusal for an object of this name that does not exist, in the words of [`Refusal::not_found`].
    #[must_use]
    pub fn not_found(&self, resource: &str) -> Refusal {
        self.beside(Refusal::not_found(resource, self.name()))
    }

    /// The refusal of a change that was made for another state of the object of this name, in the words of
    /// [`Refusal::conflict`].
    #[must_use]
    pub fn conflict(&self, resource: &str, why: impl fmt::Display) -> Refusal {
        self.beside(Refusal::conflict(resource, self.name(), why))
    }

    /// Adds the namespace for programs, since Kubernetes' messages do not contain it.
    fn beside(&self, refusal: Refusal) -> Refusal {
        match self.namespace() {
            Some(namespace) => refusal.with("namespace", namespace),
            None => refusal,
        }
    }
}

impl ObjectKey {
    /// The refusal of an object that is not there, in the words of [`Refusal::not_found`].
    #[must_use]
    pub fn not_found(&self) -> Refusal {
        self.name.not_found(self.resource.qualified())
    }

    /// The refusal of an object that is there already, in the words of [`Refusal::already_exists`].
    #[must_use]
    pub fn already_exists(&self) -> Refusal {
        let refusal = Refusal::already_exists(self.resource.qualified(), self.name.name());
        self.name.beside(refusal)
    }

    /// The refusal of a change that was made for another state of the object, in the words of [`Refusal::conflict`].
    #[must_use]
    pub fn conflict(&self, why: impl fmt::Display) -> Refusal {
        self.name.conflict(self.resource.qualified(), why)
    }
}

impl Roster {
    /// The refusal for a scope that has no roster, at a revision if the roster was read at one.
    pub fn not_found(scope: &ResourceScope, at: Option<Revision>) -> Refusal {
        let at = at.map_or_else(String::new, |at| format!(" at revision {at}"));
        let message = format!(
            "roster \"{scope}\" does not exist{at}; its resources use the roster of the next wider scope, if any"
        );
        Refusal::new(ErrorKind::NotFound, message).with("roster", scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GroupResource, Namespace, ObjectName};

    #[test]
    fn a_refusal_names_an_object_as_kubernetes_does_and_the_namespace_beside_it() {
        let key = |group: &str, namespace: Option<&str>| {
            let namespace = namespace.map(|text| Namespace::parse(text).unwrap());
            let resource = GroupResource::new(group, "widgets").unwrap();
            ObjectKey::new(
                resource,
                namespace.as_ref(),
                &ObjectName::parse("one").unwrap(),
            )
        };
        let refusal = key("example.io", Some("a")).not_found();
        assert_eq!(
            refusal.to_string(),
            "NOT_FOUND: widgets.example.io \"one\" not found"
        );
        assert_eq!(refusal.metadata["namespace"], "a");
        // The core group has no name.
        let refusal = key("", None).conflict("it is late");
        assert_eq!(
            refusal.to_string(),
            "CONFLICT: Operation cannot be fulfilled on widgets \"one\": it is late"
        );
        assert!(refusal.metadata.is_empty());
        let refusal = key("", Some("b")).already_exists();
        assert_eq!(
            refusal.to_string(),
            "ALREADY_EXISTS: widgets \"one\" already exists"
        );
    }
}
