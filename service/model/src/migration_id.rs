//! What a migration is called: its id, and the alias that whoever started it may have given it.

use std::fmt;
use std::sync::Arc;

use crate::names::dns1123_subdomain;
use crate::text::shared_text;
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

/// A name that whoever started a migration gave it: a DNS-1123 subdomain that is no [`MigrationId`]. No two migrations of a
/// cluster have the same one at a time; when one is gone, another may have its alias.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MigrationAlias(Arc<str>);

impl MigrationAlias {
    /// The alias with this text.
    ///
    /// # Errors
    ///
    /// Not a DNS-1123 subdomain, or the id of a migration that there may be.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        dns1123_subdomain(text).map_err(|rule| Violation::invalid(text, rule))?;
        if MigrationId::parse(text).is_ok() {
            let rule = "must not end with '-' and a number, as the ids of migrations do";
            return Err(Violation::invalid(text, rule));
        }
        Ok(Self(text.into()))
    }
}

shared_text!(MigrationAlias);

/// The id of a migration, or its alias. No text is both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MigrationName {
    /// Its id.
    Id(MigrationId),
    /// Its alias.
    Alias(MigrationAlias),
}

impl MigrationName {
    /// The name with this text.
    ///
    /// # Errors
    ///
    /// Neither an id nor an alias.
    pub fn parse(text: &str) -> Result<Self, Violations> {
        if let Ok(id) = MigrationId::parse(text) {
            return Ok(Self::Id(id));
        }
        Ok(Self::Alias(MigrationAlias::parse(text)?))
    }
}

impl fmt::Display for MigrationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Alias(alias) => alias.fmt(f),
        }
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
    fn no_text_is_an_id_and_an_alias() {
        for alias in [
            "my-migration",
            "secrets",
            "a.b-c",
            "pods-17a",
            "pods-017",
            "7",
            "pods-0",
        ] {
            let parsed = MigrationAlias::parse(alias).unwrap();
            assert_eq!(parsed.as_str(), alias);
            assert_eq!(
                MigrationName::parse(alias),
                Ok(MigrationName::Alias(parsed))
            );
        }
        for id in ["pods-17", "my-migration-1", "deployments.apps-42"] {
            assert!(MigrationAlias::parse(id).is_err(), "{id}");
            let parsed = MigrationId::parse(id).unwrap();
            assert_eq!(MigrationName::parse(id), Ok(MigrationName::Id(parsed)));
        }
        let long = "a".repeat(254);
        for neither in ["", "Mine", "a_b", "a/b", "-a", "a-", long.as_str()] {
            assert!(MigrationAlias::parse(neither).is_err(), "{neither}");
            assert!(MigrationName::parse(neither).is_err(), "{neither}");
        }
        assert!(MigrationAlias::parse(&long[1..]).is_ok());
    }

    #[test]
    fn migrations_of_a_resource_come_oldest_first() {
        let id = |name| MigrationId::parse(name).unwrap();
        assert!(id("pods-9") < id("pods-10"));
        assert!(id("pods-10") < id("deployments.apps-1"));
    }
}
