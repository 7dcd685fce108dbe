//! Preconditions: which object, at which resource version, a change was made for.

use crate::{Metadata, Revision, Uid, Violation, Violations};

/// Kubernetes' message for a change that was made for another resource version.
pub(crate) const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// Which object a change was made for. The default is any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The object with this uid, and no later one of the same name.
    pub uid: Option<Uid>,
    /// The object as it was at this resource version.
    pub resource_version: Option<Revision>,
}

impl Preconditions {
    /// The broken rules of the preconditions that do not depend on the state.
    #[must_use]
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if self.resource_version == Some(Revision::ZERO) {
            let rule = "must be the resource version of an object; leave it out to ask for any";
            violations.push(Violation::invalid_number(0, rule).at("resourceVersion"));
        }
        violations
    }

    /// The precondition that fails for an update or a patch of an object with this metadata, in the words of
    /// Kubernetes; `None` if all hold.
    #[must_use]
    pub fn fault_of_update(&self, metadata: &Metadata) -> Option<String> {
        self.wrong_uid(metadata)
            .or_else(|| self.wrong_version(metadata).map(|_| MODIFIED.to_owned()))
    }

    /// The precondition that fails for a deletion of an object with this metadata, in the words of Kubernetes; `None`
    /// if all hold.
    #[must_use]
    pub fn fault_of_delete(&self, metadata: &Metadata) -> Option<String> {
        self.wrong_uid(metadata).or_else(|| {
            let version = self.wrong_version(metadata)?;
            Some(format!(
                "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in object meta: {}",
                metadata.resource_version
            ))
        })
    }

    fn wrong_uid(&self, metadata: &Metadata) -> Option<String> {
        let uid = self.uid.filter(|uid| *uid != metadata.uid)?;
        Some(format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            metadata.uid
        ))
    }

    fn wrong_version(&self, metadata: &Metadata) -> Option<Revision> {
        let version = self.resource_version;
        version.filter(|version| *version != metadata.resource_version)
    }

    /// Whether there is no precondition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
