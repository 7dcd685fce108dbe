//! Scopes of rosters as people type them.

use crate::{ResourceScope, ResourceSpelling, Violation, Violations};

/// A text that names the scope of a roster, as people type it: `*`, `<group>.*`, or a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeSpelling {
    /// All resources, or all of a group.
    Many(ResourceScope),
    /// One resource.
    One(ResourceSpelling),
}

impl ScopeSpelling {
    /// Reads a text, without asking what is known.
    ///
    /// # Errors
    ///
    /// It has none of the forms, or a part that breaks its rule.
    pub fn parse(text: &str) -> Result<Self, Violations> {
        if text.is_empty() {
            return Err(Violation::required(FORMS).into());
        }
        if text == "*" || text.ends_with(".*") {
            return Ok(Self::Many(ResourceScope::parse(text)?));
        }
        ResourceSpelling::parse(text).map(Self::One)
    }

    /// The scope of the first form that fits. For checks of what is typed before a cluster is asked.
    pub fn first_reading(&self) -> ResourceScope {
        match self {
            Self::Many(scope) => scope.clone(),
            Self::One(resource) => ResourceScope::Resource(resource.first_reading().clone()),
        }
    }
}

/// The forms of a scope.
const FORMS: &str = "must be `*`, `<group>.*`, with `core` for the core group, or a resource as `<resource>.<group>`";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupResource;

    #[test]
    fn a_scope_of_many_is_read_whole_and_one_resource_as_a_spelling() {
        for (text, group) in [("core.*", ""), ("apps.*", "apps")] {
            let many = ScopeSpelling::Many(ResourceScope::group(group).unwrap());
            assert_eq!(ScopeSpelling::parse(text).unwrap(), many);
        }
        let all = ScopeSpelling::Many(ResourceScope::All);
        assert_eq!(ScopeSpelling::parse("*").unwrap(), all);
        for (text, group, resource) in [
            ("pods", "", "pods"),
            ("widgets.example.io", "example.io", "widgets"),
            ("keys/secrets", "keys.synod", "secrets"),
        ] {
            let ScopeSpelling::One(one) = ScopeSpelling::parse(text).unwrap() else {
                panic!("{text} is one resource");
            };
            let resource = GroupResource::new(group, resource).unwrap();
            assert_eq!(one.as_written().unwrap(), resource, "{text}");
        }
    }

    #[test]
    fn a_text_of_no_form_is_refused() {
        for text in ["", ".*", "*.*", "Apps.*", "Pods", "keys/*", "pods."] {
            assert!(ScopeSpelling::parse(text).is_err(), "{text:?}");
        }
        let refusal = ScopeSpelling::parse("").unwrap_err().to_string();
        for form in ["`*`", "`<group>.*`", "`<resource>.<group>`"] {
            assert!(refusal.contains(form), "{refusal}");
        }
    }
}
