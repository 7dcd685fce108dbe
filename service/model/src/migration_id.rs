//! The id of a migration.

use std::fmt;

use crate::{GroupResource, Revision, Violation, Violations};

/// A migration: its resource, and the revision of the command that created it. Ordered by
/// resource, the oldest first.
///
/// It is written `<resource>.<group>-<revision>`: `pods-17`, `deployments.apps-42`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MigrationId {
    resource: GroupResource,
    number: Revision,
}

impl MigrationId {
    /// The migration of the resource that this revision created.
    pub const fn new(resource: GroupResource, number: Revision) -> Self {
        Self { resource, number }
    }

    /// The migration with this name.
    ///
    /// # Errors
    ///
    /// Not of the form `<resource>[.<group>]-<revision>`, or a part that breaks its rule.
    pub fn parse(name: &str) -> Result<Self, Violations> {
        let parts = name.rsplit_once('-').and_then(|(resource, number)| {
            // Only the form in which an id is written: no sign and no leading zero.
            let parsed = number.parse::<u64>().ok()?;
            (parsed > 0 && parsed.to_string() == number).then_some((resource, parsed))
        });
        let Some((resource, number)) = parts else {
            let rule = "must be in the form of <resource>[.<group>]-<revision>, as 'pods-17'";
            return Err(Violation::invalid(name, rule).into());
        };
        let resource = GroupResource::parse_qualified(resource)?;
        Ok(Self::new(resource, Revision::new(number)))
    }

    /// The resource that is migrated.
    pub const fn resource(&self) -> &GroupResource {
        &self.resource
    }

    /// The revision of the command that created it.
    pub const fn number(&self) -> Revision {
        self.number
    }
}

impl fmt::Display for MigrationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.resource.qualified(), self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_migration_goes_by_its_resource_and_its_revision() {
        for name in ["pods-17", "deployments.apps-1", "widgets.my-group.io-42"] {
            let id = MigrationId::parse(name).unwrap();
            assert_eq!(id.to_string(), name);
        }
        let id = MigrationId::parse("widgets.my-9.io-42").unwrap();
        assert_eq!(id.resource().group(), "my-9.io");
        assert_eq!(id.number(), Revision::new(42));
    }

    #[test]
    fn what_is_no_resource_with_a_revision_names_no_migration() {
        for bad in [
            "",
            "pods",
            "pods-",
            "pods-0",
            "pods-017",
            "pods-+1",
            "Pods-1",
            "pods-1x",
            "-1",
            "pods.-1",
            "pods-18446744073709551616",
        ] {
            assert!(MigrationId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn migrations_of_a_resource_come_oldest_first() {
        let id = |name| MigrationId::parse(name).unwrap();
        assert!(id("pods-9") < id("pods-10"));
        assert!(id("pods-10") < id("deployments.apps-1"));
    }
}
