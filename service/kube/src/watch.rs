//! Watches: one document a line, or one message after the other, for as long as the client asks.

use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use serde_json::{Value, json};
use synod_model::{ErrorKind, Refusal};
use synod_proto::v1;
use synod_server::Events;
use tokio::time::Instant;

use crate::answer::{self, Response, Shape};
use crate::kinds::Source;
use crate::overlap::Overlap;
use crate::request::{Asked, Query};
use crate::selectors::labels_match;
use crate::serve::PATIENCE;
use crate::sources::{Calls, PAGE_MAX, Page, Scope, Start};
use crate::status::{About, Fault};
use crate::{documents, events, identity, leases, shadows, shown};

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

enum Phase {
    /// The objects that there are.
    Initial(Page),
    /// The objects that there are behind this token. They are read when the client has taken those before.
    After(String),
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
        .has("sendInitialEvents")
        .then(|| query.is("sendInitialEvents"))
        .transpose()?;
    match (initial, query.get("resourceVersionMatch")) {
        (None, None) | (Some(_), Some("NotOlderThan")) => {}
        (Some(_), _) => {
            let rule = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            return Err(Fault::of_options(about.verb, "resourceVersionMatch", rule));
        }
        (None, Some(_)) => {
            let rule = "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            return Err(Fault::of_options(about.verb, "resourceVersionMatch", rule));
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
    let media = shape.media;
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
    Ok(answer::events(media, parts))
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
        let request = v1::WatchRequest {
            from_revision,
            filter: Some(self.filter()),
            bookmark_interval_ms: Some(BOOKMARK_MS),
            cluster_id: String::new(),
        };
        let calls = self.calls.until(Instant::now() + PATIENCE);
        Ok(Phase::Live(Box::new(calls.watch(&request).await?)))
    }

    /// Which events are for this watch. What the filter cannot say is looked at when they come.
    fn filter(&self) -> v1::WatchFilter {
        use v1::ObjectKind;
        let Scope {
            kind,
            namespace,
            selection,
        } = &self.scope;
        let mut namespaces: Vec<String> = namespace.clone().into_iter().collect();
        let kinds = match kind.source {
            Source::Objects => vec![ObjectKind::Object],
            Source::Leases => {
                let shown = identity::shown_in(&self.scope);
                if shown.members {
                    // Members are in no namespace, and a filter by namespaces would hide them.
                    namespaces.clear();
                }
                let lease = shown.leases.then_some(ObjectKind::Lease);
                let member = shown.members.then_some(ObjectKind::Member);
                lease.into_iter().chain(member).collect()
            }
            Source::LeaseCandidates => vec![ObjectKind::LeaseCandidate],
            Source::ControllerRevisions => vec![ObjectKind::ControllerRevision],
            Source::StorageVersions => vec![ObjectKind::StorageVersion],
            Source::Events => {
                namespaces.clear();
                vec![ObjectKind::StorageState]
            }
            Source::Agreements | Source::StorageStates => vec![ObjectKind::StorageState],
            Source::Migrations => vec![ObjectKind::Migration],
            Source::Members => vec![ObjectKind::Member],
            Source::Settings => vec![ObjectKind::Settings],
        };
        let is_object = kind.source == Source::Objects;
        // What has no labels matches no selector there, and leases have none.
        let is_looked_at = kinds.contains(&ObjectKind::Lease);
        v1::WatchFilter {
            kinds: kinds.into_iter().map(Into::into).collect(),
            resources: is_object.then(|| kind.resource()).into_iter().collect(),
            namespaces,
            label_selector: match is_looked_at {
                true => String::new(),
                false => selection.label_text.clone(),
            },
            // A field selector lets objects of collections pass alone.
            field_selector: match is_object {
                true => selection.fields.text(),
                false => String::new(),
            },
            ..v1::WatchFilter::default()
        }
    }

    /// The next lines; `None` at the end.
    async fn part(&mut self) -> Option<Vec<Bytes>> {
        loop {
            let lines = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Initial(page) => self.initial(page).await,
                Phase::After(token) => self.after(token).await,
                Phase::Live(events) => self.live(events).await,
            };
            if !lines.is_empty() {
                return Some(self.calls.origin.counted(lines.into()));
            }
        }
    }

    /// The lines of a page of what there is. Behind the last page follows what happens.
    async fn initial(&mut self, page: Page) -> Vec<u8> {
        let mut lines = Vec::new();
        for object in page.items {
            lines.extend(self.line("ADDED", object));
        }
        if !page.next.is_empty() {
            self.phase = Phase::After(page.next);
            return lines;
        }
        if self.tells_initial_end {
            let metadata = json!({
                "resourceVersion": page.revision.to_string(),
                "creationTimestamp": null,
                "annotations": { INITIAL_END: "true" },
            });
            lines.extend(self.bookmark(&metadata));
        }
        match self.follow(page.revision).await {
            Ok(phase) => self.phase = phase,
            Err(refusal) => lines.extend(self.failed(&refusal)),
        }
        lines
    }

    /// The lines of the next page of what there is.
    async fn after(&mut self, token: String) -> Vec<u8> {
        let calls = self.calls.until(Instant::now() + PATIENCE);
        let page = calls.page(&self.scope, Start::After(token), PAGE_MAX).await;
        match page {
            Ok(page) => self.initial(page).await,
            Err(refusal) => self.failed(&refusal),
        }
    }

    /// The line after which a watch ends that has not told what there is.
    fn failed(&self, refusal: &Refusal) -> Vec<u8> {
        self.error(&Fault::of_any(refusal.kind, &refusal.message))
    }

    /// The lines of the next message.
    async fn live(&mut self, mut events: Box<Events>) -> Vec<u8> {
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
            // A stream that tells the last revision once more begins before it, where the client is not.
            Some(Message::Bookmark(bookmark)) if bookmark.revision < self.seen => Vec::new(),
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
    async fn events(&mut self, told: v1::WatchEvents) -> Result<Vec<u8>, Vec<u8>> {
        let mut lines = Vec::new();
        for event in told.events {
            match self.event(told.revision, event).await {
                Ok(told) => lines.extend(told),
                Err(refusal) => {
                    lines.extend(self.broken_off(&refusal));
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
    fn broken_off(&mut self, refusal: &Refusal) -> Vec<u8> {
        match refusal.kind {
            ErrorKind::Compacted => self.error(&Fault::expired(refusal.message.clone())),
            _ => self.bookmark_if_taken(),
        }
    }

    /// What follows when the beginning is not kept any more.
    async fn compacted(&mut self, compacted: &v1::WatchCompacted) -> Vec<u8> {
        if let Overlap::Some(revision) = self.overlap
            && compacted.current_revision == revision
        {
            // Nothing happened since, so a list would begin here, too.
            match self.follow(revision).await {
                Ok(phase) => self.phase = phase,
                Err(refusal) => return self.broken_off(&refusal),
            }
            return Vec::new();
        }
        self.error(&Fault::expired(format!(
            "too old resource version: {} ({})",
            self.seen,
            compacted.oldest_revision.saturating_sub(1)
        )))
    }

    /// The lines of an event; none if it is not for this watch, or if the client has it.
    async fn event(&mut self, revision: u64, event: v1::Event) -> Result<Vec<u8>, Refusal> {
        let of = event.r#type();
        let name = match of {
            // What has happened is told once.
            v1::EventType::Modified if self.scope.kind.source == Source::Events => "ADDED",
            v1::EventType::Added => "ADDED",
            v1::EventType::Modified => "MODIFIED",
            v1::EventType::Removed => "DELETED",
            v1::EventType::Unspecified => return Ok(Vec::new()),
        };
        let found = match event.object {
            Some(v1::event::Object::Member(member)) if self.scope.kind.source == Source::Leases => {
                let calls = self.calls.until(Instant::now() + PATIENCE);
                shadows::told(&calls, &self.scope, revision, of, &member).await?
            }
            _ => {
                let is_gone = of == v1::EventType::Removed;
                let found = self.object(revision, event, is_gone).await?;
                found.map(|object| (name, object))
            }
        };
        let Some((name, mut object)) = found else {
            return Ok(Vec::new());
        };
        let is_gone = name == "DELETED";
        if is_gone {
            object["metadata"]["resourceVersion"] = json!(revision.to_string());
        }
        let selection = &self.scope.selection;
        let is_wanted = selection.fields.matches(&object)
            && (is_gone || labels_match(&selection.labels, &object));
        if !is_wanted {
            return Ok(Vec::new());
        }
        let told = self.overlap.passes(revision, name, object);
        let lines = told
            .into_iter()
            .flat_map(|(name, object)| self.line(name, object));
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
            Object::Lease(lease) if !self.scope.is_in_namespace(lease.metadata.as_ref()) => {
                return Ok(None);
            }
            Object::Lease(lease) => {
                let calls = self.calls.until(Instant::now() + PATIENCE);
                if shadows::hides(&calls, &lease, revision).await? {
                    return Ok(None);
                }
                leases::of(kind, &lease, None, 0)
            }
            Object::ControllerRevision(one) => shown::controller_revision(kind, &one),
            Object::StorageState(state) if kind.source == Source::Events => {
                let calls = self.calls.until(Instant::now() + PATIENCE);
                return match is_gone {
                    true => Ok(None),
                    false => events::of_change(&calls, &self.scope, revision, state).await,
                };
            }
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

    fn line(&mut self, name: &str, object: Value) -> Vec<u8> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        self.shape.now_ms = self.calls.now_ms();
        let object = self.shape.one_of_many(is_first, object);
        self.shape.event(name, &object)
    }

    fn bookmark_if_taken(&mut self) -> Vec<u8> {
        if !self.bookmarks || self.seen == 0 {
            return Vec::new();
        }
        let metadata =
            json!({ "resourceVersion": self.seen.to_string(), "creationTimestamp": null });
        self.bookmark(&metadata)
    }

    fn bookmark(&mut self, metadata: &Value) -> Vec<u8> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        let object = self.shape.bookmark(is_first, metadata);
        self.shape.event("BOOKMARK", &object)
    }

    /// The line after which a watch ends.
    fn error(&self, fault: &Fault) -> Vec<u8> {
        self.shape.event("ERROR", &fault.status())
    }
}
