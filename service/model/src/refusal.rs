//! Refusals: the kind of an error, its message, and what the caller needs to continue.

mod words;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::{
    Collection, ControllerRevision, ErrorKind, GroupResource, Lease, Member, Object, Roster,
    Settings, Violation,
};

/// Why a request was refused.
///
/// The kind and the metadata are for programs, the message is for people and is not part of the
/// interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kind, for programs.
    pub kind: ErrorKind,
    /// The object, the rule, and what to do, in one sentence.
    pub message: String,
    /// The broken rules of an invalid request, all of them.
    pub violations: Vec<Violation>,
    /// Facts for programs, by name: the oldest usable revision, the time left, and so on.
    pub metadata: BTreeMap<String, String>,
    /// The current object, if a comparison with it failed.
    pub current: Option<Box<Current>>,
}

/// The current object of a failed comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Current {
    /// The replicated settings.
    Settings(Settings),
    /// A member.
    Member(Member),
    /// A collection.
    Collection(Arc<Collection>),
    /// An object.
    Object(Arc<Object>),
    /// A ControllerRevision.
    ControllerRevision(ControllerRevision),
    /// A lease.
    Lease(Lease),
    /// A roster.
    Roster(Arc<Roster>),
}

impl Refusal {
    /// A refusal with nothing but its kind and message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            violations: Vec::new(),
            metadata: BTreeMap::new(),
            current: None,
        }
    }

    /// Kubernetes' message for an object that does not exist. `resource` is the
    /// [`qualified`](crate::GroupResource::qualified) name.
    #[must_use]
    pub fn not_found(resource: &str, name: &str) -> Self {
        Self::new(
            ErrorKind::NotFound,
            format!("{resource} \"{name}\" not found"),
        )
    }

    /// Kubernetes' message for an object that exists already.
    #[must_use]
    pub fn already_exists(resource: &str, name: &str) -> Self {
        Self::new(
            ErrorKind::AlreadyExists,
            format!("{resource} \"{name}\" already exists"),
        )
    }

    /// Kubernetes' message for a change that was made for another state of the object. `why` may be
    /// [`Preconditions::fault_of_update`](crate::Preconditions::fault_of_update) or
    /// [`fault_of_delete`](crate::Preconditions::fault_of_delete).
    #[must_use]
    pub fn conflict(resource: &str, name: &str, why: impl fmt::Display) -> Self {
        Self::new(
            ErrorKind::Conflict,
            format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}"),
        )
    }

    /// The refusal for a resource that has no collection.
    #[must_use]
    pub fn no_collection(resource: &GroupResource) -> Self {
        let resource = resource.qualified();
        let message = format!("there is no collection {resource}: declare it first");
        Self::new(ErrorKind::NotFound, message).with("resource", resource)
    }

    /// The same refusal with one more fact for programs.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.metadata.insert(key.into(), value.to_string());
        self
    }

    /// The same refusal with the current object.
    #[must_use]
    pub fn with_current(mut self, current: Current) -> Self {
        self.current = Some(Box::new(current));
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubernetes_has_words_for_is_said_in_them() {
        let texts = [
            Refusal::not_found("pods", "one"),
            Refusal::already_exists("widgets.example.io", "one"),
            Refusal::conflict("widgets.example.io", "one", "it is late"),
        ]
        .map(|refusal| refusal.to_string());
        assert_eq!(
            texts,
            [
                "NOT_FOUND: pods \"one\" not found",
                "ALREADY_EXISTS: widgets.example.io \"one\" already exists",
                "CONFLICT: Operation cannot be fulfilled on widgets.example.io \"one\": it is late",
            ]
        );
    }

    #[test]
    fn a_refusal_reads_as_kind_and_message_and_carries_its_facts() {
        let refusal = Refusal::new(ErrorKind::Compacted, "revision 3 is older than the history")
            .with("oldest_revision", 17)
            .with_current(Current::Settings(Settings::default()));
        assert_eq!(
            refusal.to_string(),
            "COMPACTED: revision 3 is older than the history"
        );
        assert_eq!(refusal.metadata["oldest_revision"], "17");
        assert!(refusal.current.is_some());
    }
}
