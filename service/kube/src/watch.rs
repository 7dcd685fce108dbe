//! Watches: one document a line, for as long as the client asks.

use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use synod_model::Refusal;
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

/// The longest that a client can ask for.
const LASTING_MAX: Duration = Duration::from_hours(24);

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
    is_first: bool,
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
        Beginning::Behind(revision) => watching.open(Some(revision)).await,
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
    /// Opens the stream of what happens behind a revision, or from now on.
    async fn open(&mut self, behind: Option<u64>) -> Result<Phase, Refusal> {
        use v1::ObjectKind;
        let Scope {
            kind,
            namespace,
            selection,
        } = &self.scope;
        self.seen = behind.unwrap_or_default();
        let of_kind = match kind.source {
            Source::Objects => ObjectKind::Object,
            Source::Leases => ObjectKind::Lease,
            Source::ControllerRevisions => ObjectKind::ControllerRevision,
            Source::StorageVersions => ObjectKind::StorageVersion,
            Source::Agreements => ObjectKind::StorageState,
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
            from_revision: behind.map(|revision| revision + 1),
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
            self.open(Some(page.revision)).await
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
        let message = tokio::select! {
            biased;
            () = stopped => None,
            () = tokio::time::sleep_until(self.until) => None,
            response = events.next() => response.and_then(|response| response.message),
        };
        let lines = match message {
            Some(Message::Events(told)) => {
                let mut lines = String::new();
                for event in told.events {
                    lines.push_str(&self.event(told.revision, event).await);
                }
                if !told.more_fragments {
                    self.seen = told.revision;
                }
                lines
            }
            Some(Message::Bookmark(bookmark)) => {
                self.seen = bookmark.revision;
                self.bookmark_if_taken()
            }
            Some(Message::Compacted(compacted)) => {
                let message = format!(
                    "too old resource version: {} ({})",
                    self.seen,
                    compacted.oldest_revision.saturating_sub(1)
                );
                return error(&Fault::expired(message));
            }
            // It goes on where it ended, on this replica or another.
            Some(Message::Ended(_)) | None => return self.bookmark_if_taken(),
        };
        self.phase = Phase::Live(events);
        lines
    }

    /// The line of an event; empty if it is not for this watch.
    async fn event(&mut self, revision: u64, event: v1::Event) -> String {
        let name = match event.r#type() {
            v1::EventType::Added => "ADDED",
            v1::EventType::Modified => "MODIFIED",
            v1::EventType::Removed => "DELETED",
            v1::EventType::Unspecified => return String::new(),
        };
        let is_gone = event.r#type() == v1::EventType::Removed;
        let Some(mut object) = self.object(revision, event, is_gone).await else {
            return String::new();
        };
        if is_gone {
            object["metadata"]["resourceVersion"] = json!(revision.to_string());
        }
        let selection = &self.scope.selection;
        let is_wanted = selection.fields.matches(&object)
            && (is_gone || labels_match(&selection.labels, &object));
        if !is_wanted {
            return String::new();
        }
        self.line(name, object)
    }

    /// The document of an event's object.
    async fn object(&self, revision: u64, event: v1::Event, is_gone: bool) -> Option<Value> {
        use v1::event::Object;
        let kind = &self.scope.kind;
        Some(match event.object? {
            Object::StoredObject(object) => documents::object(kind, &object),
            Object::Lease(lease) => leases::of(kind, &lease, None, 0),
            Object::ControllerRevision(one) => shown::controller_revision(kind, &one),
            Object::StorageState(state) => shown::agreement(kind, &state),
            Object::Migration(migration) => shown::migration(kind, &migration),
            Object::Member(member) => shown::member(kind, &member),
            Object::Settings(settings) => shown::settings(kind, &settings),
            Object::StorageVersion(change) => {
                let name = change.metadata.as_ref()?.name.clone();
                let calls = self.calls.until(Instant::now() + PATIENCE);
                // An event tells only the entries that changed.
                let whole = match is_gone {
                    true => None,
                    false => calls
                        .get(kind, None, &name, Asked::Exact(revision))
                        .await
                        .ok(),
                };
                whole.unwrap_or_else(|| {
                    let last = v1::StorageVersion {
                        metadata: change.metadata,
                        resource: change.resource,
                        entries: change.changed_entries,
                        status: change.status,
                    };
                    shown::storage_version(kind, &last)
                })
            }
            Object::Collection(_) | Object::LeaseCandidate(_) | Object::Roster(_) => return None,
        })
    }

    fn line(&mut self, name: &str, object: Value) -> String {
        let is_first = std::mem::replace(&mut self.is_first, false);
        self.shape.now_ms = self.calls.now_ms();
        let object = self.shape.one_of_many(is_first, object);
        format!("{}\n", json!({ "type": name, "object": object }))
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

/// The line after which a watch ends.
fn error(fault: &Fault) -> String {
    format!("{}\n", json!({ "type": "ERROR", "object": fault.status() }))
}
