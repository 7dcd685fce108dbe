//! What an object must be for a change of it to be right.

use crate::{Metadata, Revision, Uid, Violation, Violations};

/// Which object a change was made for. The default is any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The object with this uid, and no later one of the same name.
    pub uid: Option<Uid>,
    /// The object as it was at this resource version.
    pub resource_version: Option<Revision>,
}

impl Preconditions {
    /// What is wrong with its shape.
    #[must_use]
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if self.resource_version == Some(Revision::ZERO) {
            let rule = "must be the resource version of an object; leave it out to ask for any";
            violations.push(Violation::invalid_number(0, rule).at("resourceVersion"));
        }
        violations
    }

    /// What does not hold of an object with this metadata, word for word as in Kubernetes; `None` if all does.
    #[must_use]
    pub fn fault(&self, metadata: &Metadata) -> Option<String> {
        let Self {
            uid,
            resource_version,
        } = self;
        if let Some(uid) = uid.filter(|uid| *uid != metadata.uid) {
            return Some(format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                metadata.uid
            ));
        }
        let present = metadata.resource_version;
        let version = resource_version.filter(|version| *version != present)?;
        Some(format!(
            "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in object meta: {present}"
        ))
    }

    /// Whether nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
