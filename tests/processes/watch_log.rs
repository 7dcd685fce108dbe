//! Records a watch, and checks what every watch promises: ordered, unique, reliable, atomic, resumable, with true
//! bookmarks.

use std::collections::BTreeSet;

use synod_proto::v1;
use v1::watch_response::Message;

/// All events of one revision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) revision: u64,
    pub(crate) events: Vec<v1::Event>,
}

/// The record of one watch of everything, over any number of streams, each of which continues the one before.
#[derive(Clone, Debug)]
pub(crate) struct WatchLog {
    /// The first revision that was asked for.
    from: u64,
    groups: Vec<Group>,
    /// The revision whose fragments are still arriving.
    open: Option<Group>,
    /// Everything up to this revision was delivered, as the watch claims.
    reached: u64,
}

/// Whether a stream goes on after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The stream goes on.
    More,
    /// The replica has ended the stream, with the revision to continue from.
    Ended,
}

impl WatchLog {
    /// A log that begins at this revision.
    pub(crate) fn new(from: u64) -> Self {
        Self {
            from,
            groups: Vec::new(),
            open: None,
            reached: from.saturating_sub(1),
        }
    }

    /// The revision up to which everything has been delivered.
    pub(crate) fn reached(&self) -> u64 {
        self.reached
    }

    /// The revisions that had events, in order of arrival.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The events of one revision.
    pub(crate) fn group(&self, revision: u64) -> Option<&Group> {
        let place = self
            .groups
            .binary_search_by_key(&revision, |group| group.revision);
        place.ok().map(|place| &self.groups[place])
    }

    /// The record as a watch of these kinds alone would have it.
    pub(crate) fn only(&self, kinds: &[v1::ObjectKind]) -> Self {
        let groups = self.groups.iter().map(|group| {
            let mut group = group.clone();
            group.events.retain(|event| kinds.contains(&event.kind()));
            group
        });
        Self {
            groups: groups.filter(|group| !group.events.is_empty()).collect(),
            ..self.clone()
        }
    }

    /// Records that the stream broke, and returns the revision to continue from. Incomplete fragments come again.
    pub(crate) fn reopen(&mut self) -> u64 {
        self.open = None;
        self.reached + 1
    }

    /// Records a message.
    ///
    /// # Errors
    ///
    /// The promise that the message breaks.
    pub(crate) fn take(&mut self, message: Message) -> Result<Next, String> {
        match message {
            Message::Events(events) => self.take_events(events),
            Message::Bookmark(bookmark) => self.take_bookmark(bookmark.revision),
            Message::Ended(ended) => self.take_end(ended.resume_revision),
            Message::Compacted(compacted) => Err(format!(
                "not resumable: after {} the history begins at {}",
                self.reached, compacted.oldest_revision
            )),
        }
    }

    fn take_events(&mut self, events: v1::WatchEvents) -> Result<Next, String> {
        let v1::WatchEvents {
            revision,
            events,
            more_fragments,
            ..
        } = events;
        if revision <= self.reached {
            let reached = self.reached;
            return Err(format!(
                "not ordered or not unique: revision {revision} after {reached} was complete"
            ));
        }
        let mut group = self.open.take().unwrap_or(Group {
            revision,
            events: Vec::new(),
        });
        if group.revision != revision {
            let fault = format!(
                "revision {revision} in between the fragments of {}",
                group.revision
            );
            return Err(format!("not atomic: {fault}"));
        }
        if events.is_empty() {
            return Err(format!("revision {revision} without an event"));
        }
        group.events.extend(events);
        if more_fragments {
            self.open = Some(group);
            return Ok(Next::More);
        }
        check_group(&group)?;
        self.reached = revision;
        self.groups.push(group);
        Ok(Next::More)
    }

    fn take_bookmark(&mut self, revision: u64) -> Result<Next, String> {
        if revision < self.reached || self.open.is_some() {
            let reached = self.reached;
            return Err(format!(
                "bookmark {revision} when {reached} was complete, or in between fragments"
            ));
        }
        // From now on, events up to this revision would be late.
        self.reached = revision;
        Ok(Next::More)
    }

    fn take_end(&mut self, resume_revision: u64) -> Result<Next, String> {
        if resume_revision <= self.reached {
            let reached = self.reached;
            return Err(format!(
                "not resumable: it is to go on from {resume_revision}, and {reached} was complete"
            ));
        }
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.revision != resume_revision)
        {
            return Err(format!(
                "not resumable: it is to go on from {resume_revision}, in between fragments"
            ));
        }
        self.reached = resume_revision - 1;
        Ok(Next::Ended)
    }
}

/// Checks the events of one revision by themselves.
fn check_group(Group { revision, events }: &Group) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for event in events {
        let name = format!("{} {:?} of revision {revision}", event.name, event.kind());
        let resource = event.resource.as_ref();
        let resource = resource.map(|resource| (&resource.group, &resource.resource));
        if !seen.insert((event.kind, resource, &event.namespace, &event.name)) {
            return Err(format!("not unique: {name} comes twice"));
        }
        let (changed, created) = revisions(event).ok_or_else(|| format!("{name} has no object"))?;
        let is_right = match event.r#type() {
            v1::EventType::Added => changed == *revision && created == *revision,
            v1::EventType::Modified => changed == *revision && created < *revision,
            // A removed object is shown as it was last changed.
            v1::EventType::Removed => changed <= *revision,
            v1::EventType::Unspecified => false,
        };
        if !is_right {
            let kind = event.r#type();
            return Err(format!(
                "{name} is {kind:?}, and its object was created at {created} and changed at {changed}"
            ));
        }
    }
    Ok(())
}

/// The revisions of the last change and of the creation of an event's object.
fn revisions(event: &v1::Event) -> Option<(u64, u64)> {
    use v1::event::Object;
    let metadata = match event.object.as_ref()? {
        Object::Member(member) => member.metadata.as_ref()?,
        Object::StorageVersion(version) => version.metadata.as_ref()?,
        Object::StorageState(state) => state.metadata.as_ref()?,
        Object::Collection(collection) => collection.metadata.as_ref()?,
        Object::StoredObject(object) => object.metadata.as_ref()?,
        Object::ControllerRevision(revision) => revision.metadata.as_ref()?,
        Object::Lease(lease) => lease.metadata.as_ref()?,
        Object::LeaseCandidate(candidate) => candidate.metadata.as_ref()?,
        Object::Roster(roster) => roster.metadata.as_ref()?,
        Object::Migration(migration) => migration.metadata.as_ref()?,
        // The first command forms the cluster, with its settings.
        Object::Settings(settings) => return Some((settings.resource_version, 1)),
    };
    Some((metadata.resource_version, metadata.create_revision))
}

/// Checks that two watches of everything delivered the same for the revisions that both cover. This shows that a watch
/// is reliable: an event that one of them missed would be in the other.
///
/// # Errors
///
/// The first revision where they differ.
pub(crate) fn compare(one: &WatchLog, other: &WatchLog) -> Result<usize, String> {
    let begin = one.from.max(other.from);
    let end = one.reached.min(other.reached);
    let within = |log: &'_ WatchLog| -> Vec<Group> {
        log.groups
            .iter()
            .filter(|group| (begin..=end).contains(&group.revision))
            .cloned()
            .collect()
    };
    let (ours, theirs) = (within(one), within(other));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        if ours != theirs {
            return Err(format!("two watches differ: {ours:?} against {theirs:?}"));
        }
    }
    if ours.len() != theirs.len() {
        let counts = (ours.len(), theirs.len());
        return Err(format!(
            "not reliable: {counts:?} revisions with events from {begin} to {end}"
        ));
    }
    Ok(ours.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, kind: v1::EventType, created: u64, changed: u64) -> v1::Event {
        let metadata = v1::Metadata {
            resource_version: changed,
            create_revision: created,
            ..v1::Metadata::default()
        };
        let member = v1::Member {
            metadata: Some(metadata),
            ..v1::Member::default()
        };
        v1::Event {
            r#type: kind.into(),
            kind: v1::ObjectKind::Member.into(),
            name: name.to_owned(),
            namespace: String::new(),
            object: Some(v1::event::Object::Member(member)),
            ..v1::Event::default()
        }
    }

    fn added(name: &str, revision: u64) -> v1::Event {
        event(name, v1::EventType::Added, revision, revision)
    }

    fn events(revision: u64, events: Vec<v1::Event>, more_fragments: bool) -> Message {
        Message::Events(v1::WatchEvents {
            revision,
            events,
            more_fragments,
            ..v1::WatchEvents::default()
        })
    }

    fn bookmark(revision: u64) -> Message {
        Message::Bookmark(v1::WatchBookmark {
            revision,
            ..v1::WatchBookmark::default()
        })
    }

    fn ended(resume_revision: u64) -> Message {
        Message::Ended(v1::WatchEnded {
            resume_revision,
            reason: 0,
        })
    }

    /// The record of these messages, from revision 5 on.
    fn log(messages: Vec<Message>) -> Result<WatchLog, String> {
        let mut log = WatchLog::new(5);
        messages
            .into_iter()
            .try_for_each(|message| log.take(message).map(drop))?;
        Ok(log)
    }

    #[test]
    fn a_good_watch_passes() {
        let messages = vec![
            bookmark(4),
            events(6, vec![added("a", 6)], true),
            events(6, vec![added("b", 6)], false),
            events(7, vec![event("a", v1::EventType::Modified, 6, 7)], false),
            bookmark(9),
            ended(10),
        ];
        let mut log = log(messages).unwrap();
        assert_eq!(
            (log.groups().len(), log.reached(), log.reopen()),
            (2, 9, 10)
        );
        assert_eq!(log.group(6).unwrap().events.len(), 2);
        assert_eq!(compare(&log, &log), Ok(2));
    }

    #[test]
    fn what_only_shares_its_name_is_not_taken_for_the_same() {
        let mut elsewhere = added("a", 6);
        elsewhere.namespace = "other".to_owned();
        let mut of_another_resource = elsewhere.clone();
        of_another_resource.resource = Some(v1::GroupResource::default());
        let all = vec![added("a", 6), elsewhere, of_another_resource];
        let log = log(vec![events(6, all, false)]).unwrap();
        assert_eq!(log.only(&[v1::ObjectKind::Member]).groups().len(), 1);
        assert_eq!(log.only(&[v1::ObjectKind::Object]).groups().len(), 0);
    }

    #[test]
    fn each_broken_promise_is_found() {
        let once = || events(7, vec![added("a", 7)], false);
        let broken = [
            ("an event that comes again", vec![once(), once()]),
            (
                "an older event",
                vec![once(), events(6, vec![added("b", 6)], false)],
            ),
            ("an event behind its bookmark", vec![bookmark(7), once()]),
            ("a bookmark that goes back", vec![once(), bookmark(6)]),
            (
                "a bookmark between fragments",
                vec![events(7, vec![added("a", 7)], true), bookmark(8)],
            ),
            (
                "a revision between fragments",
                vec![events(6, vec![added("a", 6)], true), once()],
            ),
            (
                "an object twice in a revision",
                vec![events(7, vec![added("a", 7), added("a", 7)], false)],
            ),
            (
                "an object of another revision",
                vec![events(7, vec![added("a", 6)], false)],
            ),
            ("an end that repeats", vec![once(), ended(7)]),
            ("a revision without events", vec![events(7, vec![], false)]),
        ];
        for (what, messages) in broken {
            assert!(log(messages).is_err(), "{what} was not found");
        }
    }

    #[test]
    fn a_gap_is_found_beside_a_watch_without_one() {
        let whole = || {
            vec![
                events(6, vec![added("a", 6)], false),
                events(8, vec![added("b", 8)], false),
            ]
        };
        let one = log(whole()).unwrap();
        let other = log([whole(), vec![bookmark(12)]].concat()).unwrap();
        assert_eq!(compare(&one, &other), Ok(2));
        for left_out in 0..2 {
            let mut messages = whole();
            messages.remove(left_out);
            let gap = log([messages, vec![bookmark(12)]].concat()).unwrap();
            assert!(compare(&one, &gap).is_err());
        }
    }
}
