//! Reading one object, and lists.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use serde_json::Value;
use synod_model::{ErrorKind, Refusal};
use tokio::time::Instant;

use crate::answer::{self, Response, Shape};
use crate::escaped;
use crate::kinds::Verb;
use crate::negotiate::Media;
use crate::request::{Asked, Query};
use crate::sources::{Calls, PAGE_MAX, Page, Scope, Start};
use crate::status::{About, Fault};

/// How long a read waits for a revision that it is to be no older than.
const REVISION_PATIENCE: Duration = Duration::from_secs(3);

/// What is said of a token whose revision is not kept any more.
const TOO_OLD: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list \
                       without the continue parameter, or use the continue token in this response to retrieve the remainder of \
                       the results. Continuing with the provided token results in an inconsistent list - objects that were \
                       created, modified, or deleted between the time the first chunk was returned and now may show up in the \
                       list.";

/// What stands before a token that continues a list as it is now.
const AT_PRESENT: &str = "now.";

/// One object.
pub(crate) async fn get(
    calls: &Calls,
    shape: &Shape,
    about: &About<'_>,
    query: &Query,
) -> Result<Response, Fault> {
    let asked = query.asked()?;
    let (kind, namespace, name) = (&shape.kind, about.namespace, about.name);
    let mut found = patient(calls, asked)
        .get(kind, namespace, name, asked)
        .await;
    if let Some(revision) = late_revision(&found, asked) {
        let exact = calls.get(kind, namespace, name, Asked::Exact(revision));
        found = exact.await.map_err(|refusal| or_future(refusal, revision));
    }
    let found = shape.one(found.map_err(|refusal| Fault::of(&refusal, about))?);
    Ok(answer::document(&calls.origin, shape.media, 200, &found))
}

/// A list: the page that is asked for, or all of it, which is read and sent page by page.
pub(crate) async fn list(
    calls: &Calls,
    scope: Scope,
    shape: Shape,
    about: &About<'_>,
    query: &Query,
) -> Result<Response, Fault> {
    let start = start(query)?;
    let limit = query.number("limit")?.filter(|limit| *limit > 0);
    let size = limit.map_or(PAGE_MAX, |limit| u32::try_from(limit).unwrap_or(PAGE_MAX));
    let page = page(calls, &scope, start, size, about).await?;
    let is_whole = limit.is_some() || page.next.is_empty();
    if shape.media == Media::Protobuf && is_whole {
        let page = shape.page(&page.items, page.revision, &page.next);
        return Ok(answer::document(&calls.origin, shape.media, 200, &page));
    }
    // A message begins with its length, so who asks for more than a page gets JSON.
    if shape.media == Media::Protobuf && !shape.or_json {
        return Err(Fault::too_long_for_protobuf(PAGE_MAX));
    }
    if is_whole {
        let tail = Shape::tail(page.revision, &page.next);
        let text = format!("{}{}{tail}", shape.head(), items(&shape, &page.items, true));
        return Ok(answer::text(&calls.origin, text));
    }
    let listing = Listing {
        calls: calls.clone(),
        scope,
        shape,
        next: Next::Page(page),
        has_begun: false,
        is_empty: true,
    };
    Ok(answer::pages(stream::try_unfold(
        listing,
        |mut listing| async move {
            let part = listing.part().await?;
            Ok(part.map(|part| (part, listing)))
        },
    )))
}

/// Where a list begins.
pub(crate) fn start(query: &Query) -> Result<Start, Fault> {
    let forbidden = |field: &str, rule: &str| Err(Fault::of_options(Verb::List, field, rule));
    if query.has("sendInitialEvents") {
        let rule = "Forbidden: sendInitialEvents is forbidden for list";
        return forbidden("sendInitialEvents", rule);
    }
    match query.get("continue") {
        None => Ok(Start::First(query.asked()?)),
        Some(_) if query.get("resourceVersionMatch").is_some() => {
            let rule = "Forbidden: resourceVersionMatch is forbidden when continue is provided";
            forbidden("resourceVersionMatch", rule)
        }
        Some(token) => Ok(after(token)),
    }
}

/// Where a list goes on that a client was told of this token for.
pub(crate) fn after(token: &str) -> Start {
    match token.strip_prefix(AT_PRESENT) {
        Some(token) => Start::AtPresent(token.to_owned()),
        None => Start::After(token.to_owned()),
    }
}

/// A page of a list, from where it is asked for. If that is too old, the fault tells where it could go on.
pub(crate) async fn page(
    calls: &Calls,
    scope: &Scope,
    start: Start,
    size: u32,
    about: &About<'_>,
) -> Result<Page, Fault> {
    let asked = match &start {
        Start::First(asked) => *asked,
        Start::After(_) | Start::AtPresent(_) => Asked::Newest,
    };
    let mut page = patient(calls, asked).page(scope, start.clone(), size).await;
    if let Some(revision) = late_revision(&page, asked) {
        let exact = calls.page(scope, Start::First(Asked::Exact(revision)), size);
        page = exact.await.map_err(|refusal| or_future(refusal, revision));
    }
    page.map_err(|refusal| match (refusal.kind, start) {
        (ErrorKind::Compacted, Start::After(token)) => {
            let mut fault = Fault::expired(TOO_OLD);
            fault.continue_token = Some(format!("{AT_PRESENT}{token}"));
            fault
        }
        (ErrorKind::InvalidArgument, Start::After(_) | Start::AtPresent(_))
            if is_of_token(&refusal) =>
        {
            Fault::bad_request(format!("continue key is not valid: {}", refusal.message))
        }
        _ => Fault::of(&refusal, about),
    })
}

/// Whether a refusal faults the token.
fn is_of_token(refusal: &Refusal) -> bool {
    let mut faults = refusal.violations.iter();
    faults.any(|fault| fault.field == "continueToken")
}

/// The calls of a read at least as new as a revision, which waits for that a little only, as in Kubernetes.
fn patient(calls: &Calls, asked: Asked) -> Calls {
    match asked {
        Asked::NotOlderThan(_) => calls.until(Instant::now() + REVISION_PATIENCE),
        Asked::Newest | Asked::Exact(_) => calls.clone(),
    }
}

/// The revision that a read was to be no older than, if it did not come in time.
///
/// A read at exactly this revision finds it, or is refused with the present one.
fn late_revision<T>(found: &Result<T, Refusal>, asked: Asked) -> Option<u64> {
    match (found, asked) {
        (Err(refusal), Asked::NotOlderThan(revision))
            if refusal.kind == ErrorKind::DeadlineExceeded =>
        {
            Some(revision)
        }
        _ => None,
    }
}

/// The refusal of a read at a late revision. A replica that cannot prove what the present revision is does not name it.
fn or_future(refusal: Refusal, revision: u64) -> Refusal {
    match refusal.kind {
        // Of these, the first two say that the revision has come meanwhile.
        ErrorKind::Compacted | ErrorKind::NotFound | ErrorKind::FutureRevision => refusal,
        _ => Refusal::new(ErrorKind::FutureRevision, revision.to_string()),
    }
}

/// A list that is sent page by page.
struct Listing {
    calls: Calls,
    scope: Scope,
    shape: Shape,
    next: Next,
    has_begun: bool,
    /// Whether no object was sent so far: a selector may leave nothing of a page.
    is_empty: bool,
}

/// What of a list is sent next.
enum Next {
    Page(Page),
    /// The page behind this token.
    After(String),
    Nothing,
}

impl Listing {
    async fn part(&mut self) -> io::Result<Option<Vec<Bytes>>> {
        let page = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Nothing => return Ok(None),
            Next::Page(page) => page,
            Next::After(token) => {
                // Each page has the time of a request: the client takes them at its own pace.
                let calls = self.calls.until(Instant::now() + crate::serve::PATIENCE);
                let page = calls.page(&self.scope, Start::After(token), PAGE_MAX).await;
                // The status is sent already, so the client is to see that the answer broke off.
                page.map_err(|refusal| io::Error::other(refusal.message))?
            }
        };
        let mut text = String::new();
        if !std::mem::replace(&mut self.has_begun, true) {
            text.push_str(&self.shape.head());
        }
        text.push_str(&items(&self.shape, &page.items, self.is_empty));
        self.is_empty &= page.items.is_empty();
        if page.next.is_empty() {
            text.push_str(&Shape::tail(page.revision, ""));
        } else {
            self.next = Next::After(page.next);
        }
        Ok(Some(self.calls.origin.counted(text.into())))
    }
}

/// The objects of a page, with commas between them and, behind another page, before them.
fn items(shape: &Shape, objects: &[Value], is_first: bool) -> String {
    let mut text = String::new();
    for object in objects {
        if !text.is_empty() || !is_first {
            text.push(',');
        }
        text.push_str(&escaped::text(&shape.item(object)));
    }
    text
}
