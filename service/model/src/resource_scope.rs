//! Scopes: one resource, all of a group, or all.

use std::fmt;
use std::sync::Arc;

use crate::names::dns1123_subdomain;
use crate::{GroupResource, Violation};

/// A set of resources under one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceScope {
    /// Every resource.
    All,
    /// Every resource of an API group; the core group is the empty text.
    Group(Arc<str>),
    /// One resource.
    Resource(GroupResource),
}

/// How the core group is written in a name.
const CORE: &str = "core";

impl ResourceScope {
    /// Every resource of a group.
    ///
    /// # Errors
    ///
    /// A group that is neither empty nor a DNS-1123 subdomain, or that is called `core`.
    pub fn group(group: &str) -> Result<Self, Violation> {
        if group == CORE {
            let rule = "the core group is written as the empty string";
            return Err(Violation::invalid(group, rule));
        }
        if !group.is_empty() {
            dns1123_subdomain(group).map_err(|rule| Violation::invalid(group, rule))?;
        }
        Ok(Self::Group(group.into()))
    }

    /// The scope with this name, the form of the protocol: `*`, `<group>.*` or `<group>.<resource>`, the core group written `core`.
    ///
    /// # Errors
    ///
    /// Another form, or a part that breaks its rule.
    pub fn parse(name: &str) -> Result<Self, Violation> {
        let forms =
            "must be `*`, `<group>.*` or `<group>.<resource>`, the core group written `core`";
        match name {
            "*" => return Ok(Self::All),
            "" => return Err(Violation::required(forms)),
            _ if !name.contains('.') => return Err(Violation::invalid(name, forms)),
            _ => {}
        }
        match name.strip_suffix(".*") {
            Some(CORE) => Ok(Self::Group("".into())),
            Some("") => Err(Violation::invalid(
                name,
                "the core group is written core, as in core.*",
            )),
            Some(group) => Self::group(group),
            None => GroupResource::parse_storage_version_name(name).map(Self::Resource),
        }
    }

    /// The form that people read and type: `*`, `<group>.*`, or a resource as [`GroupResource::qualified`] prints it.
    pub fn qualified(&self) -> String {
        match self {
            Self::All | Self::Group(_) => self.to_string(),
            Self::Resource(resource) => resource.qualified().to_owned(),
        }
    }

    /// The scopes that cover a resource, the narrowest first.
    pub fn covering(resource: &GroupResource) -> [Self; 3] {
        [
            Self::Resource(resource.clone()),
            Self::Group(resource.group().into()),
            Self::All,
        ]
    }

    /// Whether it covers a resource.
    pub fn covers(&self, resource: &GroupResource) -> bool {
        match self {
            Self::All => true,
            Self::Group(group) => **group == *resource.group(),
            Self::Resource(one) => one == resource,
        }
    }
}

impl fmt::Display for ResourceScope {
    /// Its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.pad("*"),
            Self::Group(group) if group.is_empty() => write!(f, "{CORE}.*"),
            Self::Group(group) => write!(f, "{group}.*"),
            Self::Resource(resource) => resource.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_which_resources_are_covered_and_reads_back() {
        let pods = GroupResource::new("", "pods").unwrap();
        let deployments = GroupResource::new("apps", "deployments").unwrap();
        for (name, covers_pods, covers_deployments) in [
            ("*", true, true),
            ("core.*", true, false),
            ("apps.*", false, true),
            ("core.pods", true, false),
            ("apps.deployments", false, true),
        ] {
            let scope = ResourceScope::parse(name).unwrap();
            assert_eq!(scope.to_string(), name);
            let is_one = matches!(scope, ResourceScope::Resource(_));
            let qualified = if is_one {
                scope.qualified()
            } else {
                name.to_owned()
            };
            let spelling = crate::ScopeSpelling::parse(&qualified).unwrap();
            assert_eq!(spelling.first_reading(), scope);
            assert_eq!(scope.covers(&pods), covers_pods, "{name}");
            assert_eq!(scope.covers(&deployments), covers_deployments, "{name}");
            let covering = ResourceScope::covering(&pods);
            assert_eq!(covering.contains(&scope), covers_pods, "{name}");
        }
        for name in [
            "",
            ".*",
            "pods",
            "Apps.*",
            "core",
            "*.*",
            "apps.Deployments",
        ] {
            assert!(ResourceScope::parse(name).is_err(), "{name:?}");
        }
        // The refusal of any other text names the forms.
        for name in ["", "pods", "core"] {
            let told = ResourceScope::parse(name).unwrap_err().to_string();
            for form in ["`*`", "`<group>.*`", "`<group>.<resource>`"] {
                assert!(told.contains(form), "{name:?}: {told}");
            }
        }
        assert!(ResourceScope::group("core").is_err());
    }
}
