//! Where the rule of storage versions asks of which kind a topic is.
//!
//! What the kinds demand is said by [`TopicKind`]; this says since when it is in force, and refuses what no other topic
//! than an encoding has.

use synod_model::{ErrorKind, GroupResource, Refusal, Topic, TopicKind, Violation};

use crate::State;

/// The machine version since which topics of other kinds than encodings have rules of their own. Before it, each is an
/// encoding like any other.
const TOPICS_SINCE: u32 = 1;

impl State {
    /// The kind whose rules are in force for a resource.
    pub(crate) fn topic_kind(&self, resource: &GroupResource) -> TopicKind {
        if self.machine_version < TOPICS_SINCE {
            TopicKind::Encoding
        } else {
            TopicKind::of(resource)
        }
    }

    /// Refuses to take as a resource with a store what is a topic of another kind.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`.
    pub(crate) fn check_has_store(&self, resource: &GroupResource) -> Result<(), Refusal> {
        let kind = self.topic_kind(resource);
        if kind.is_seen_in_stores() {
            return Ok(());
        }
        let topic = Topic::of(resource);
        let message = format!(
            "resource \"{resource}\" is the topic \"{topic}\": it has no collection and no discovery, and its members alone \
             say what is written"
        );
        let mut refusal = Refusal::new(ErrorKind::InvalidArgument, message);
        let violation = Violation::invalid(resource.qualified(), "must be no topic of Synod");
        refusal.violations.push(violation.at("resource"));
        Err(refusal)
    }
}
