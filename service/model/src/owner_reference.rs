//! Owners: the objects with which an object is removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::limits::OWNER_REFERENCES_MAX;
use crate::{ApiVersion, Kind, ObjectName, Uid, Violation, Violations};

/// One owner of an object: in the same namespace, or without one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerReference {
    /// The group, and a version of it: only the group is compared.
    pub api_version: ApiVersion,
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: ObjectName,
    /// Its uid: a later object of the same name is not the owner.
    pub uid: Uid,
    /// Whether it is the one that manages the object.
    pub controller: bool,
    /// Whether the owner, when it is deleted in the foreground, waits for the removal of the object.
    pub block_owner_deletion: bool,
}

impl OwnerReference {
    /// Whether both name the same owner; the version and the two flags do not count.
    #[must_use]
    pub fn names_the_same(&self, other: &Self) -> bool {
        let Self {
            api_version,
            kind,
            name,
            uid,
            controller: _,
            block_owner_deletion: _,
        } = other;
        self.api_version.group() == api_version.group()
            && (&self.kind, &self.name, &self.uid) == (kind, name, uid)
    }
}

/// At most 64 owners, in the order in which they were given. An empty list takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerReferences(Option<Arc<[OwnerReference]>>);

impl OwnerReferences {
    pub(crate) const NONE: Self = Self(None);

    /// These owners.
    ///
    /// # Errors
    ///
    /// Too many, an owner that is given twice, or a second controller; all faults at once.
    pub fn new(references: Vec<OwnerReference>) -> Result<Self, Violations> {
        let mut violations = Violations::new();
        if references.len() > OWNER_REFERENCES_MAX {
            violations.push(Violation::too_many(references.len(), OWNER_REFERENCES_MAX));
        }
        let mut seen = BTreeSet::new();
        let mut controller: Option<&OwnerReference> = None;
        for (i, reference) in references.iter().enumerate() {
            if !seen.insert(reference.uid) {
                let duplicate = Violation::duplicate(&reference.uid.to_string());
                violations.push(duplicate.at(&format!("[{i}].uid")));
            }
            match controller {
                Some(first) if reference.controller => {
                    let rule = format_args!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {}/{} \
                         and {}/{}",
                        first.kind, first.name, reference.kind, reference.name
                    );
                    violations.push(Violation::invalid(&reference.uid.to_string(), rule));
                }
                None if reference.controller => controller = Some(reference),
                Some(_) | None => {}
            }
        }
        if violations.is_empty() {
            Ok(Self::of(references))
        } else {
            Err(violations)
        }
    }

    /// The reference to this owner.
    #[must_use]
    pub fn get(&self, uid: &Uid) -> Option<&OwnerReference> {
        self.iter().find(|reference| reference.uid == *uid)
    }

    /// The owners in the order in which they were given.
    pub fn iter(&self) -> std::slice::Iter<'_, OwnerReference> {
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

    /// These owners without the one with this uid.
    #[must_use]
    pub fn without(&self, uid: &Uid) -> Self {
        let others = self.iter().filter(|reference| reference.uid != *uid);
        Self::of(others.cloned().collect())
    }

    fn of(references: Vec<OwnerReference>) -> Self {
        Self((!references.is_empty()).then(|| references.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(uid: u8, controller: bool) -> OwnerReference {
        OwnerReference {
            api_version: ApiVersion::parse("apps/v1").unwrap(),
            kind: Kind::parse("Deployment").unwrap(),
            name: ObjectName::parse("web").unwrap(),
            uid: Uid::from_bytes([uid; 16]),
            controller,
            block_owner_deletion: true,
        }
    }

    #[test]
    fn an_object_has_several_owners_of_which_one_may_manage_it() {
        let owners = OwnerReferences::new(vec![owner(1, false), owner(2, true)]).unwrap();
        assert_eq!(
            owners.get(&Uid::from_bytes([1; 16])),
            Some(&owner(1, false))
        );
        let left = owners.without(&Uid::from_bytes([2; 16]));
        assert_eq!(left, OwnerReferences::new(vec![owner(1, false)]).unwrap());
        assert!(left.without(&Uid::from_bytes([1; 16])).is_empty());
    }

    #[test]
    fn a_second_controller_and_an_owner_that_stands_twice_are_both_named() {
        let faults = OwnerReferences::new(vec![owner(1, true), owner(1, true)]).unwrap_err();
        let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert!(
            texts[0].starts_with("[1].uid: Duplicate value"),
            "{texts:?}"
        );
        assert!(
            texts[1].contains(
                "Only one reference can have Controller set to true. Found \"true\" in references for \
                 Deployment/web and Deployment/web"
            ),
            "{texts:?}"
        );
    }

    #[test]
    fn sixty_four_owners_are_allowed_and_one_more_is_not() {
        let of =
            |count: u8| OwnerReferences::new((0..count).map(|uid| owner(uid, false)).collect());
        assert_eq!(of(63).unwrap().len(), 63);
        assert_eq!(of(64).unwrap().len(), 64);
        assert!(of(65).is_err());
    }
}
