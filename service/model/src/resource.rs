//! Resources, whose objects API servers encode: a group and a plural name.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::names::{Faults, dns1035_label, dns1123_subdomain};
use crate::{Violation, Violations};

/// A group and a resource in it, ordered by group and then by resource.
///
/// The core group is the empty string. The name of a StorageVersion writes it as `core`, so no
/// group can have that name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct GroupResource {
    /// `resource.group`, or `resource` in the core group.
    text: Arc<str>,
    /// The length of the resource in `text`. A resource is a label, so it contains no dot.
    resource_len: u8,
}

/// How the core group is written in the name of a StorageVersion.
const CORE: &str = "core";

impl GroupResource {
    /// The resource of this name in this group.
    ///
    /// # Errors
    ///
    /// A group that is neither empty nor a DNS-1123 subdomain, or that is called `core`; a
    /// resource that is no DNS-1035 label. All at once, at `group` and `resource`.
    pub fn new(group: &str, resource: &str) -> Result<Self, Violations> {
        let mut violations = Violations::new();
        if group == CORE {
            let rule = "the core group is written as the empty string";
            violations.push(Violation::invalid(group, rule).at("group"));
        } else if !group.is_empty()
            && let Err(rule) = dns1123_subdomain(group)
        {
            violations.push(Violation::invalid(group, rule).at("group"));
        }
        if resource.is_empty() {
            let rule = "name it in the plural, such as pods";
            violations.push(Violation::required(rule).at("resource"));
        } else if let Err(rule) = dns1035_label(resource) {
            violations.push(Violation::invalid(resource, rule).at("resource"));
        }
        if violations.is_empty() {
            Ok(Self::of_legal(group, resource))
        } else {
            Err(violations)
        }
    }

    /// The resource whose StorageVersion has this name: `core.pods`, `apps.deployments`.
    ///
    /// # Errors
    ///
    /// Not of the form `<group>.<resource>`, split at the last dot, or a part that breaks its
    /// rule.
    pub fn parse_storage_version_name(name: &str) -> Result<Self, Violation> {
        let Some((group, resource)) = name.rsplit_once('.') else {
            return Err(Violation::invalid(
                name,
                "name must be in the form of <group>.<resource>",
            ));
        };
        let mut faults = Faults::default();
        faults.nest("the group segment ", dns1123_subdomain(group));
        faults.nest("the resource segment ", dns1035_label(resource));
        faults
            .into_result()
            .map_err(|rule| Violation::invalid(name, rule))?;
        let group = if group == CORE { "" } else { group };
        Ok(Self::of_legal(group, resource))
    }

    /// The resource with this [qualified](Self::qualified) name: `pods`, `deployments.apps`.
    ///
    /// # Errors
    ///
    /// A part that breaks its rule; the name is split at the first dot.
    pub fn parse_qualified(name: &str) -> Result<Self, Violations> {
        match name.split_once('.') {
            None => Self::new("", name),
            Some((_, "")) => Err(Violation::invalid(name, "must not end with a dot").into()),
            Some((resource, group)) => Self::new(group, resource),
        }
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        // The text behind the dot; the core group has no dot.
        self.text.get(self.resource_end() + 1..).unwrap_or_default()
    }

    /// The plural name.
    pub fn resource(&self) -> &str {
        &self.text[..self.resource_end()]
    }

    /// The name of its StorageVersion: `core.pods`, `apps.deployments`.
    pub fn storage_version_name(&self) -> String {
        self.to_string()
    }

    /// The name of its StorageState: `pods`, `deployments.apps`.
    pub fn storage_state_name(&self) -> &str {
        &self.text
    }

    /// The form that people type and read, which Kubernetes' messages have, too: `pods`, `deployments.apps`.
    pub fn qualified(&self) -> &str {
        &self.text
    }

    fn of_legal(group: &str, resource: &str) -> Self {
        let text = match group {
            "" => resource.into(),
            _ => [resource, ".", group].concat().into(),
        };
        // A label has at most 63 bytes.
        let resource_len = resource.len() as u8;
        Self { text, resource_len }
    }

    fn resource_end(&self) -> usize {
        usize::from(self.resource_len)
    }

    /// The bytes of the resource, and those of the group with the dot before it. They have the order of both, and nobody has
    /// to look for where characters begin.
    fn parts(&self) -> (&[u8], &[u8]) {
        self.text.as_bytes().split_at(self.resource_end())
    }
}

impl Ord for GroupResource {
    /// By group, then by resource.
    fn cmp(&self, other: &Self) -> Ordering {
        let ((resource, group), (other_resource, other_group)) = (self.parts(), other.parts());
        group
            .cmp(other_group)
            .then_with(|| resource.cmp(other_resource))
    }
}

impl PartialOrd for GroupResource {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for GroupResource {
    /// The name of its StorageVersion.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = match self.group() {
            "" => CORE,
            group => group,
        };
        write!(f, "{group}.{}", self.resource())
    }
}

impl fmt::Debug for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GroupResource({self})")
    }
}

#[cfg(test)]
mod tests;
