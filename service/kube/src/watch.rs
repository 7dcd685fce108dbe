//! Watches: one document a line, for as long as the client asks.

use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use synod_model::{ErrorKind, Refusal};
use synod_proto::v1;
use synod_server::Events;
use tokio::time::Instant;

use crate::answer::{self, Response, Shape};
use crate::kinds::Source;
use crate::request::{Asked, Query};
use crate::selectors::labels_match;
use crate::serve::PATIENCE;
use crate::sources::{Calls, PAGE_MAX, Page, Scope, Start};
use crate::status::{About, Fault};
use crate::{documents, leases, shown};

/// How long a watch lasts whose client does not say: all of Kubernetes' clients do, or open another one at its end.
const LASTING: Duration = Duration::from_mins(45);

/// The longest that a client can ask for. One that is gone without a word is found out by then, if nothing is sent to it.
const LASTING_MAX: Duration = Duration::from_hours(1);

/// How often a silent watch tells up to where it is.
const BOOKMARK_MS: u32 = 30_000;

/// The annotation of the bookmark behind the objects that a watch began with.
const INITIAL_END: &str = "k8s.io/initial-events-end";

/// A watch that is sent.
struct Watching {
    calls: Calls,
    scope: Scope,
    shape: Shape,
    phase: Phase,
    until: Instant,
    /// Whether the client takes bookmarks.
    bookmarks: bool,
    /// Whether it is told where the objects end that there were.
    tells_initial_end: bool,
    seen: u64,
    /// Whether more of the revision behind `seen` follows.
    is_within: bool,
    overlap: Overlap,
    is_first: bool,
}

/// What a client has of the revision that it goes on from.
///
/// A client of Kubernetes names the revision of the last line that it has read. If this revision changed several objects,
/// there may be lines that it has not read, so its events are sent again: a cache takes them twice without harm. If it
/// changed one, that is what the client has read.
#[derive(Debug, PartialEq)]
enum Overlap {
    /// Nothing of what comes.
    Nothing,
    /// At least one event of this revision, if it has any.
    Some(u64),
    /// This event of this revision, if it has no other.
    One(u64, &'static str, Box<Value>),
}

impl Overlap {
    /// What is to be sent when this event comes.
    fn passes(
        &mut self,
        revision: u64,
        name: &'static str,
        object: Value,
    ) -> Vec<(&'static str, Value)> {
        match std::mem::replace(self, Self::Nothing) {
            Self::Some(at) if at == revision => {
                *self = Self::One(at, name, Box::new(object));
                Vec::new()
            }
            Self::One(at, first, had) if at == revision => vec![(first, *had), (name, object)],
            Self::Nothing | Self::Some(_) | Self::One(..) => vec![(name, object)],
        }
    }
}

enum Phase {
    /// The objects that there are.
    Initial(Page),
    Live(Box<Events>),
    Over,
}

/// Where a watch begins.
enum Beginning {
    /// With the objects that there are.
    Objects(Asked),
    /// With what happens behind this revision.
    Behind(u64),
    /// With what happens from now on.
    Now,
}

fn beginning(query: &Query, about: &About<'_>) -> Result<Beginning, Fault> {
    let revision = query
        .number("resourceVersion")?
        .filter(|revision| *revision > 0);
    let initial = query
        .get("sendInitialEvents")
        .map(|_| query.is("sendInitialEvents"))
        .transpose()?;
    match (initial, query.get("resourceVersionMatch")) {
        (None, None) | (Some(_), Some("NotOlderThan")) => {}
        (Some(_), _) => {
            let rule =
                "Forbidden: resourceVersionMatch=NotOlderThan is required with sendInitialEvents";
            return Err(Fault::invalid(
                about,
                &[("resourceVersionMatch".to_owned(), rule.to_owned())],
            ));
        }
        (None, Some(_)) => {
            let rule = "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            return Err(Fault::invalid(
                about,
                &[("resourceVersionMatch".to_owned(), rule.to_owned())],
            ));
        }
    }
    Ok(match (initial, revision) {
        (Some(true), Some(revision)) => Beginning::Objects(Asked::NotOlderThan(revision)),
        (Some(true) | None, None) => Beginning::Objects(Asked::Newest),
        (_, Some(revision)) => Beginning::Behind(revision),
        (Some(false), None) => Beginning::Now,
    })
}

/// Opens a watch.
pub(crate) async fn watch(
    calls: &Calls,
    scope: Scope,
    shape: Shape,
    about: &About<'_>,
    query: &Query,
) -> Result<Response, Fault> {
    let beginning = beginning(query, about)?;
    let lasting = query
        .number("timeoutSeconds")?
        .filter(|seconds| *seconds > 0);
    let lasting = lasting.map_or(LASTING, |seconds| {
        Duration::from_secs(seconds).min(LASTING_MAX)
    });
    let tells_initial_end = query.is("sendInitialEvents")?;
    let mut watching = Watching {
        calls: calls.clone(),
        scope,
        shape,
        phase: Phase::Over,
        until: Instant::now() + lasting,
        bookmarks: query.is("allowWatchBookmarks")?,
        tells_initial_end,
        seen: 0,
        is_within: false,
        overlap: Overlap::Nothing,
        is_first: true,
    };
    let began = match beginning {
        Beginning::Objects(asked) => {
            let page = watching
                .calls
                .page(&watching.scope, Start::First(asked), PAGE_MAX)
                .await;
            page.map(Phase::Initial)
        }
        Beginning::Behind(revision) => watching.go_on(revision).await,
        Beginning::Now => watching.open(None).await,
    };
    watching.phase = began.map_err(|refusal| Fault::of(&refusal, about))?;
    let parts = stream::unfold(watching, |mut watching| async move {
        let part = watching.part().await?;
        Some((part, watching))
    });
    Ok(answer::parts(parts.map(Ok)))
}

impl Watching {
    /// Opens the stream of what happens behind the revision of the last line that the client has read.
    async fn go_on(&mut self, revision: u64) -> Result<Phase, Refusal> {
        self.overlap = Overlap::Some(revision);
        self.seen = revision;
        self.open(Some(revision)).await
    }

    /// Opens the stream of what happens behind a revision that was told whole.
    async fn follow(&mut self, revision: u64) -> Result<Phase, Refusal> {
        self.overlap = Overlap::Nothing;
        self.seen = revision;
        self.open(Some(revision.saturating_add(1))).await
    }

    /// Opens the stream of what happens from a revision, or from now on.
    async fn open(&self, from_revision: Option<u64>) -> Result<Phase, Refusal> {
        use v1::ObjectKind;
        let Scope {
            kind,
            namespace,
            selection,
        } = &self.scope;
        let of_kind = match kind.source {
            Source::Objects => ObjectKind::Object,
            Source::LeaseCandidates => ObjectKind::LeaseCandidate,
            Source::Leases => ObjectKind::Lease,
            Source::ControllerRevisions => ObjectKind::ControllerRevision,
            Source::StorageVersions => ObjectKind::StorageVersion,
            Source::Agreements | Source::StorageStates => ObjectKind::StorageState,
            Source::Migrations => ObjectKind::Migration,
            Source::Members => ObjectKind::Member,
            Source::Settings => ObjectKind::Settings,
        };
        let is_object = kind.source == Source::Objects;
        let resources = if is_object {
            vec![kind.resource()]
        } else {
            Vec::new()
        };
        // A field selector lets objects of collections pass alone.
        let field_selector = if is_object {
            selection.fields.text()
        } else {
            String::new()
        };
        let request = v1::WatchRequest {
            from_revision,
            filter: Some(v1::WatchFilter {
                kinds: vec![of_kind.into()],
                resources,
                namespaces: namespace.clone().into_iter().collect(),
                label_selector: selection.label_text.clone(),
                field_selector,
                ..v1::WatchFilter::default()
            }),
            bookmark_interval_ms: Some(BOOKMARK_MS),
            cluster_id: String::new(),
        };
        let calls = self.calls.until(Instant::now() + PATIENCE);
        Ok(Phase::Live(Box::new(calls.watch(&request).await?)))
    }

    /// The next lines; `None` at the end.
    async fn part(&mut self) -> Option<Vec<Bytes>> {
        loop {
            let lines = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Initial(page) => self.initial(page).await,
                Phase::Live(events) => self.live(events).await,
            };
            if !lines.is_empty() {
                return Some(self.calls.origin.counted(lines.into()));
            }
        }
    }

    /// The lines of a page of what there is. Behind the last page follows what happens.
    async fn initial(&mut self, page: Page) -> String {
        let mut lines = String::new();
        for object in page.items {
            lines.push_str(&self.line("ADDED", object));
        }
        let next = if page.next.is_empty() {
            if self.tells_initial_end {
                let metadata = json!({
                    "resourceVersion": page.revision.to_string(),
                    "creationTimestamp": null,
                    "annotations": { INITIAL_END: "true" },
                });
                lines.push_str(&self.bookmark(&metadata));
            }
            self.follow(page.revision).await
        } else {
            let calls = self.calls.until(Instant::now() + PATIENCE);
            let page = calls
                .page(&self.scope, Start::After(page.next), PAGE_MAX)
                .await;
            page.map(Phase::Initial)
        };
        match next {
            Ok(phase) => self.phase = phase,
            Err(refusal) => lines.push_str(&error(&Fault::of_any(refusal.kind, &refusal.message))),
        }
        lines
    }

    /// The lines of the next message.
    async fn live(&mut self, mut events: Box<Events>) -> String {
        use v1::watch_response::Message;
        let stopped = self.calls.front.stopped();
        // What is told of a revision is told whole.
        let until = match self.is_within {
            true => self.until + PATIENCE,
            false => self.until,
        };
        let message = tokio::select! {
            biased;
            () = stopped => None,
            () = tokio::time::sleep_until(until) => None,
            response = events.next() => response.and_then(|response| response.message),
        };
        let lines = match message {
            Some(Message::Events(told)) => match self.events(told).await {
                Ok(lines) => lines,
                Err(lines) => return lines,
            },
            Some(Message::Bookmark(bookmark)) => {
                self.seen = bookmark.revision;
                self.bookmark_if_taken()
            }
            Some(Message::Compacted(compacted)) => return self.compacted(&compacted).await,
            // It goes on where it ended, on this replica or another.
            Some(Message::Ended(_)) | None => return self.bookmark_if_taken(),
        };
        self.phase = Phase::Live(events);
        lines
    }

    /// The lines of these events, or the last lines of a watch that cannot tell one of them whole.
    async fn events(&mut self, told: v1::WatchEvents) -> Result<String, String> {
        let mut lines = String::new();
        for event in told.events {
            match self.event(told.revision, event).await {
                Ok(told) => lines.push_str(&told),
                Err(refusal) => {
                    lines.push_str(&self.broken_off(&refusal));
                    return Err(lines);
                }
            }
        }
        self.is_within = told.more_fragments;
        if !told.more_fragments {
            self.seen = told.revision;
        }
        Ok(lines)
    }

    /// The end of a watch whose next event cannot be told: the client goes on behind what it was told whole.
    fn broken_off(&mut self, refusal: &Refusal) -> String {
        match refusal.kind {
            ErrorKind::Compacted => error(&Fault::expired(refusal.message.clone())),
            _ => self.bookmark_if_taken(),
        }
    }

    /// What follows when the beginning is not kept any more.
    async fn compacted(&mut self, compacted: &v1::WatchCompacted) -> String {
        if let Overlap::Some(revision) = self.overlap
            && compacted.current_revision == revision
        {
            // Nothing happened since, so a list would begin here, too.
            match self.follow(revision).await {
                Ok(phase) => self.phase = phase,
                Err(refusal) => return self.broken_off(&refusal),
            }
            return String::new();
        }
        error(&Fault::expired(format!(
            "too old resource version: {} ({})",
            self.seen,
            compacted.oldest_revision.saturating_sub(1)
        )))
    }

    /// The lines of an event; none if it is not for this watch, or if the client has it.
    async fn event(&mut self, revision: u64, event: v1::Event) -> Result<String, Refusal> {
        let is_gone = match told_as(&event) {
            v1::EventType::Unspecified => return Ok(String::new()),
            told => told == v1::EventType::Removed,
        };
        let name = match event.r#type() {
            _ if is_gone => "DELETED",
            v1::EventType::Added => "ADDED",
            _ => "MODIFIED",
        };
        let Some(mut object) = self.object(revision, event, is_gone).await? else {
            return Ok(String::new());
        };
        if is_gone {
            object["metadata"]["resourceVersion"] = json!(revision.to_string());
        }
        let selection = &self.scope.selection;
        let is_wanted = selection.fields.matches(&object)
            && (is_gone || labels_match(&selection.labels, &object));
        if !is_wanted {
            return Ok(String::new());
        }
        let told = self.overlap.passes(revision, name, object);
        let lines = told
            .into_iter()
            .map(|(name, object)| self.line(name, object));
        Ok(lines.collect())
    }

    /// The document of an event's object.
    async fn object(
        &self,
        revision: u64,
        event: v1::Event,
        is_gone: bool,
    ) -> Result<Option<Value>, Refusal> {
        use v1::event::Object;
        let kind = &self.scope.kind;
        let Some(object) = event.object else {
            return Ok(None);
        };
        Ok(Some(match object {
            Object::StoredObject(object) => documents::object(kind, &object),
            Object::Lease(lease) => leases::of(kind, &lease, None, 0),
            Object::ControllerRevision(one) => shown::controller_revision(kind, &one),
            Object::StorageState(state) => shown::state(kind, &state),
            Object::Migration(migration) => shown::migration(kind, &migration),
            Object::Member(member) => shown::member(kind, &member),
            Object::Settings(settings) => shown::settings(kind, &settings),
            Object::StorageVersion(change) if is_gone => {
                let last = v1::StorageVersion {
                    metadata: change.metadata,
                    resource: change.resource,
                    entries: change.changed_entries,
                    status: change.status,
                };
                shown::storage_version(kind, &last)
            }
            Object::StorageVersion(change) => {
                // An event tells only the entries that changed, and a client takes it for the whole.
                let name = change.metadata.unwrap_or_default().name;
                let calls = self.calls.until(Instant::now() + PATIENCE);
                calls.get(kind, None, &name, Asked::Exact(revision)).await?
            }
            Object::LeaseCandidate(one) => shown::lease_candidate(kind, &one, None),
            Object::Collection(_) | Object::Roster(_) => {
                return Ok(None);
            }
        }))
    }

    fn line(&mut self, name: &str, object: Value) -> String {
        let is_first = std::mem::replace(&mut self.is_first, false);
        self.shape.now_ms = self.calls.now_ms();
        let object = self.shape.one_of_many(is_first, object);
        let line = json!({ "type": name, "object": object });
        format!("{}\n", answer::text(&line))
    }

    fn bookmark_if_taken(&mut self) -> String {
        if !self.bookmarks || self.seen == 0 {
            return String::new();
        }
        let metadata =
            json!({ "resourceVersion": self.seen.to_string(), "creationTimestamp": null });
        self.bookmark(&metadata)
    }

    fn bookmark(&mut self, metadata: &Value) -> String {
        let is_first = std::mem::replace(&mut self.is_first, false);
        let object = self.shape.bookmark(is_first, metadata);
        format!("{}\n", json!({ "type": "BOOKMARK", "object": object }))
    }
}

/// What an event is to clients: a migration goes when it is called off by request.
fn told_as(event: &v1::Event) -> v1::EventType {
    let told = event.r#type();
    match &event.object {
        Some(v1::event::Object::Migration(migration)) if shown::is_deleted(migration) => match told
        {
            v1::EventType::Modified => v1::EventType::Removed,
            // It went before.
            _ => v1::EventType::Unspecified,
        },
        _ => told,
    }
}

/// The line after which a watch ends.
fn error(fault: &Fault) -> String {
    format!("{}\n", json!({ "type": "ERROR", "object": fault.status() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events that are sent to a client which goes on from revision 7.
    fn sent(events: &[(u64, &str)]) -> Vec<String> {
        let mut overlap = Overlap::Some(7);
        let passed = events
            .iter()
            .flat_map(|(revision, name)| overlap.passes(*revision, "ADDED", json!(name)));
        passed
            .map(|(_, object)| object.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn the_only_change_of_a_revision_is_not_told_twice() {
        assert_eq!(sent(&[(7, "a"), (8, "b"), (8, "c")]), ["b", "c"]);
        assert_eq!(sent(&[(8, "b")]), ["b"]);
        assert_eq!(sent(&[(7, "a")]), Vec::<String>::new());
    }

    #[test]
    fn several_changes_of_a_revision_are_told_again() {
        assert_eq!(
            sent(&[(7, "a"), (7, "b"), (7, "c"), (8, "d")]),
            ["a", "b", "c", "d"]
        );
    }
}
