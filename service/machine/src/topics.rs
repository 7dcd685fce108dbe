//! Where the rule of storage versions asks of which kind a topic is.
//!
//! What the kinds demand is said by [`TopicKind`]; this says since when it is in force, and refuses what no other topic
//! than an encoding has.

use synod_model::{ErrorKind, GroupResource, Refusal, TOPICS_SINCE, Topic, TopicKind, Violation};

use crate::{Command, State};

impl State {
    /// The kind whose rules are in force for a resource. Before topics are known, each is an encoding like any other.
    pub(crate) fn topic_kind(&self, resource: &GroupResource) -> TopicKind {
        if self.machine_version < TOPICS_SINCE {
            TopicKind::Encoding
        } else {
            TopicKind::of(resource)
        }
    }

    /// Whether a collection counts all that is stored of a resource: it has one, and was never stored outside.
    pub(crate) fn is_counted(&self, resource: &GroupResource) -> bool {
        let kept = self.state_of(resource);
        let is_outside = kept.is_some_and(|kept| kept.row.status.stored_outside);
        !is_outside && self.counts_objects(resource)
    }

    /// Whether a collection counts objects of a resource. Of what a key encrypts it knows nothing, also where one was created
    /// before there were topics.
    pub(crate) fn counts_objects(&self, resource: &GroupResource) -> bool {
        self.topic_kind(resource).is_seen_in_stores() && self.collections.contains_key(resource)
    }

    /// Refuses a report, an observation and a collection of a topic before the rules of its kind are in force: until then a
    /// key would be agreed on by those of encodings, which let in a server that does not hold it, and believe a collection.
    ///
    /// This is asked before a command is proposed. Apply takes such a command for one of an encoding, since replicas of the
    /// older version do.
    ///
    /// # Errors
    ///
    /// `UNAVAILABLE`, with the replicas that have to be upgraded first.
    pub fn check_topics(&self, command: &Command) -> Result<(), Refusal> {
        if self.machine_version >= TOPICS_SINCE {
            return Ok(());
        }
        let (mut reported, mut resource) = (None, None);
        if let Command::Report(report) = command {
            reported = Some(report.entries.iter().map(|entry| &entry.resource));
        } else if let Command::ObserveStorage(observe) = command {
            resource = Some(&observe.resource);
        } else if let Command::CreateCollection(create) = command {
            resource = Some(&create.resource);
        }
        let mut named = reported.into_iter().flatten().chain(resource);
        let topic = named.find(|one| TopicKind::of(one) != TopicKind::Encoding);
        topic.map_or(Ok(()), |resource| {
            let topic = Topic::of(resource);
            Err(self
                .too_early("topics", TOPICS_SINCE, &format!("topic \"{topic}\""))
                .with("resource", resource.storage_version_name()))
        })
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
