//! The objects of a resource behind an API server, as the worker of the client library rewrites them.
//!
//! Why no object is lost or keeps its old encoding:
//!
//! - An object is written back byte for byte, with its resource version: the API server takes it only if nobody has
//!   written it since. It stores it anew if its encoding or its key is another one, and writes nothing otherwise.
//! - A conflict is believed only if the object has another resource version by then: then somebody else has written it, in
//!   the agreed encoding. A hook that refuses a write by the same status code is a refusal.
//! - That an object is gone is believed only if the API server says so of this object: one that does not serve the resource
//!   just now answers 404, too.
//! - Before the first page and after each one was written, the API server must show that it encodes as agreed, if it shows
//!   that at all: one that was not restarted yet, or was taken back, would store the old encoding. If it does not, the list
//!   begins anew, once an API server shows the agreed encoding again, by this worker or another one. What another worker wrote
//!   last is written once more, since nobody may have looked after it.
//! - The list goes on from the token that the server hands out, so what is created behind it is stored in the agreed
//!   encoding, as the migration requires. A token that is too old is replaced by the one that comes with the refusal.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use synod_apiserver::{ApiServer, Fault, Item, Page, Reply, Resource, may_pass};
use synod_client::{ContinueToken, Migration, MigrationTarget, Store, StoreError, StorePage, Walk};
use tokio::time::{Instant, sleep_until};

use super::report::{Event, Report};
use super::tally::Tally;

/// The objects of one resource.
pub(super) struct Objects {
    pub(super) server: ApiServer,
    pub(super) resource: Resource,
    pub(super) page_size: PageSize,
    pub(super) paces: Paces,
    pub(super) tally: Arc<Tally>,
    pub(super) report: Arc<Report>,
    pub(super) began: Began,
    pub(super) given: Given,
    /// How often the API server was found to encode in another version behind the first page.
    pub(super) strayed: AtomicU32,
}

/// How often the list begins anew under one claim because the API server encodes in another version: then the claim is given
/// back, before the worker would fail for a list that never ends.
const STRAYED_MAX: u32 = 3;

/// Where a list goes on: what our tokens say, as JSON.
#[derive(Serialize, Deserialize)]
struct Place {
    /// How the definition of the resource was when the first page was listed.
    began: Option<String>,
    /// The API server's token of the page that was listed last; `None` for the first one.
    last: Option<String>,
    /// The API server's token of the next page; `None` behind the last one.
    next: Option<String>,
}

/// The token that this worker was given last. Any other one comes from another worker.
#[derive(Default)]
pub(super) struct Given(Mutex<Option<ContinueToken>>);

impl Given {
    fn note(&self, token: &ContinueToken) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
    }

    fn is(&self, token: &ContinueToken) -> bool {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.as_ref() == Some(token)
    }
}

/// Why what is written back is not encoded as the migration requires; `None` also if the API server does not say how it
/// encodes.
pub(super) fn strays_from(found: &Resource, target: &MigrationTarget) -> Option<String> {
    let hash = found.storage_version_hash.as_deref()?;
    (hash != target.hash.to_string()).then(|| {
        let plural = &found.plural;
        format!("the API server encodes {plural} as {hash}, and the migration is to {target}")
    })
}

/// How many objects to list at a time.
pub(super) struct PageSize(AtomicU32);

impl From<NonZeroU32> for PageSize {
    fn from(objects: NonZeroU32) -> Self {
        Self(AtomicU32::new(objects.get()))
    }
}

impl PageSize {
    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Halves it; returns false if a page is one object already.
    fn halved(&self) -> bool {
        let objects = self.get();
        self.0.store(objects.div_ceil(2), Ordering::Relaxed);
        objects > 1
    }
}

/// The definition of the resource as it was when the first page of the whole pass was listed, by whichever worker: it
/// stands in each token. Clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Began(Arc<Mutex<Option<String>>>);

impl From<Option<String>> for Began {
    fn from(fingerprint: Option<String>) -> Self {
        Self(Arc::new(Mutex::new(fingerprint)))
    }
}

impl Began {
    /// Whether the whole pass began with this definition.
    pub(super) fn is(&self, fingerprint: &str) -> bool {
        self.get().as_deref() == Some(fingerprint)
    }

    fn get(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, fingerprint: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = fingerprint;
    }
}

/// How fast bytes may go.
pub(super) struct Paces {
    bytes_per_second: Option<NonZeroU32>,
    next: Mutex<Instant>,
}

impl Paces {
    pub(super) fn new(bytes_per_second: Option<NonZeroU32>) -> Self {
        Self {
            bytes_per_second,
            next: Mutex::new(Instant::now()),
        }
    }

    /// Waits until so many bytes may go.
    async fn wait(&self, bytes: usize) {
        let Some(rate) = self.bytes_per_second else {
            return;
        };
        // Sizes of objects are far below 2^52.
        let takes = Duration::from_secs_f64(bytes as f64 / f64::from(rate.get()));
        let begin = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let begin = (*next).max(Instant::now());
            *next = begin + takes;
            begin
        };
        sleep_until(begin).await;
    }
}

impl Place {
    /// What a token says. The list begins anew with one that is none of ours.
    fn of(token: &ContinueToken) -> Result<Self, StoreError> {
        serde_json::from_str(token.as_str()).map_err(|_| StoreError::Expired(None))
    }
}

impl Store for Objects {
    type Object = Item;

    /// API servers list what they have stored, wherever that is.
    fn walks(&self) -> Walk {
        Walk::Both
    }

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Item>, StoreError> {
        let place = token.map(Place::of).transpose()?;
        if let Some(place) = &place {
            self.began.set(place.began.clone());
        }
        if self.tally.begins() {
            self.report.quietly(&Event::claimed(&self.tally));
        }
        self.encodes_in(&migration.target, token.is_none()).await?;
        let at = match (token, place) {
            (Some(token), Some(place)) if self.given.is(token) => match place.next {
                Some(next) => Some(next),
                None => return Ok(self.end()),
            },
            (_, place) => place.and_then(|place| place.last),
        };
        let page = self.listed(at.as_deref()).await?;
        let objects = page.items.len() as u64;
        let is_last = page.next.is_none();
        self.tally.listed(objects, page.remaining, is_last);
        Ok(StorePage {
            objects: page.items,
            next: Some(self.token(at, page.next)?),
            remaining: page.remaining,
        })
    }

    async fn await_turn(&self, item: &Item) {
        self.paces.wait(item.document.len()).await;
    }

    async fn rewrite(&self, _migration: &Migration, item: &Item) -> Result<(), StoreError> {
        let path = self.resource.object(item.namespace.as_deref(), &item.name);
        let reply = match self.server.put(&path, item.document.clone()).await {
            Ok(reply) if reply.status.is_success() => {
                self.tally.rewrote(item.document.len() as u64);
                return Ok(());
            }
            Ok(reply) => reply,
            Err(fault) => return Err(self.no_answer(&fault)),
        };
        let error = match reply.status {
            StatusCode::NOT_FOUND => self.gone(&reply, item),
            StatusCode::CONFLICT => self.conflicted(&reply, &path, item).await,
            _ => self.refusal(&reply, Some(item)),
        };
        if matches!(error, StoreError::NotFound | StoreError::Conflict) {
            self.tally.skipped();
        }
        Err(error)
    }
}

impl Objects {
    /// Fails unless the API server encodes in the target. If it does not, nobody knows since when: behind the first page the list
    /// begins anew. Before it the claim is given back, since another worker's API server may encode in it by now; and also if this
    /// one has encoded in another version too often, as two behind one address do of which one was not restarted yet.
    async fn encodes_in(&self, target: &MigrationTarget, is_first: bool) -> Result<(), StoreError> {
        let Resource {
            group,
            plural,
            version,
            ..
        } = &self.resource;
        let found = self.server.find(group, plural, Some(version)).await;
        let found = found.map_err(|fault| self.no_answer(&fault))?;
        let found = found.ok_or(StoreError::NotFound)?;
        let Some(why) = strays_from(&found, target) else {
            let often = self.strayed.load(Ordering::Relaxed);
            if is_first && often >= STRAYED_MAX {
                let plural = &self.resource.plural;
                let why = format!(
                    "the API server has encoded {plural} in another version than {target} now and then"
                );
                self.tally.faulted(&why);
                return Err(StoreError::NotReady(why));
            }
            return Ok(());
        };
        self.tally.faulted(&why);
        if is_first {
            return Err(StoreError::NotReady(why));
        }
        self.strayed.fetch_add(1, Ordering::Relaxed);
        Err(StoreError::Expired(None))
    }

    /// What stands behind the last page: nothing, once it was looked at how that one was encoded.
    fn end(&self) -> StorePage<Item> {
        self.tally.listed(0, None, true);
        StorePage {
            objects: Vec::new(),
            next: None,
            remaining: None,
        }
    }

    /// A token of ours for what follows a page.
    fn token(
        &self,
        last: Option<String>,
        next: Option<String>,
    ) -> Result<ContinueToken, StoreError> {
        let began = self.began.get();
        let place = serde_json::to_string(&Place { began, last, next });
        let token = place
            .ok()
            .and_then(|place| ContinueToken::parse(&place).ok());
        let token = token
            .ok_or_else(|| StoreError::Refused("its continue token is too long".to_owned()))?;
        self.given.note(&token);
        Ok(token)
    }

    /// A page that begins at this token of the server. A page that is too long is asked for with fewer objects.
    async fn listed(&self, token: Option<&str>) -> Result<Page, StoreError> {
        loop {
            let path = Page::path(&self.resource, self.page_size.get(), token);
            let reply = match self.server.get(&path).await {
                Err(Fault::TooLarge(_)) if self.page_size.halved() => continue,
                Err(fault) => return Err(self.no_answer(&fault)),
                Ok(reply) => reply,
            };
            if reply.status == StatusCode::OK {
                return Page::parse(&self.resource, &reply.body).map_err(|why| {
                    self.tally.faulted(&why);
                    StoreError::Busy { retry_after: None }
                });
            }
            return Err(self.refusal(&reply, None));
        }
    }

    /// There is no answer. If a write was executed all the same, the next try finds another resource version.
    fn no_answer(&self, fault: &Fault) -> StoreError {
        self.tally.faulted(&fault.to_string());
        match fault {
            Fault::TooLarge(_) => StoreError::Refused(fault.to_string()),
            Fault::NotSent(_)
            | Fault::Unanswered(_)
            | Fault::NoIdentity(_)
            | Fault::Answered(..) => StoreError::Busy { retry_after: None },
        }
    }

    fn refusal(&self, reply: &Reply, item: Option<&Item>) -> StoreError {
        let words = reply.words();
        let named = match item {
            Some(item) => format!("{}: {words}", item.key()),
            None => words,
        };
        self.tally.faulted(&named);
        match reply.status {
            StatusCode::GONE => {
                let next = reply.says().metadata.next;
                let next = Some(next).filter(|next| !next.is_empty());
                let token = next.and_then(|next| self.token(Some(next.clone()), Some(next)).ok());
                StoreError::Expired(token)
            }
            _ if may_pass(reply.status) => StoreError::Busy {
                retry_after: reply.retry_after(),
            },
            StatusCode::NOT_FOUND if item.is_none() => StoreError::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => StoreError::NotSupported,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => StoreError::Forbidden,
            _ => StoreError::Refused(named),
        }
    }

    /// What a 404 to a write means.
    fn gone(&self, reply: &Reply, item: &Item) -> StoreError {
        let says = reply.says();
        if says.reason == "NotFound" && says.details.name == item.name {
            return StoreError::NotFound;
        }
        self.tally
            .faulted(&format!("{}: {}", item.key(), reply.words()));
        StoreError::Busy { retry_after: None }
    }

    /// What a 409 to a write means.
    async fn conflicted(&self, refusal: &Reply, path: &str, item: &Item) -> StoreError {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            resource_version: String,
        }
        let reply = match self.server.get(path).await {
            Ok(reply) => reply,
            Err(fault) => return self.no_answer(&fault),
        };
        match reply.status {
            StatusCode::OK => match serde_json::from_slice::<Object>(&reply.body) {
                Ok(object) if object.metadata.resource_version != item.resource_version => {
                    StoreError::Conflict
                }
                _ => StoreError::Refused(format!("{}: {}", item.key(), refusal.words())),
            },
            StatusCode::NOT_FOUND => self.gone(&reply, item),
            _ => self.refusal(&reply, Some(item)),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::time::advance;

    use super::*;

    /// Waits, and returns after how many milliseconds so many bytes may go.
    async fn waited(paces: &Paces, bytes: usize) -> u64 {
        let since = Instant::now();
        paces.wait(bytes).await;
        // The clock of tests may stop up to a millisecond behind a deadline.
        u64::try_from(since.elapsed().as_millis()).unwrap() / 10 * 10
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_go_as_fast_as_they_may_and_no_faster() {
        let paces = Paces::new(NonZeroU32::new(1_000));
        let mut waits = Vec::new();
        for bytes in [500, 2_000, 0, 100, 1] {
            waits.push(waited(&paces, bytes).await);
        }
        // Each waits as long as what went before it takes.
        assert_eq!(waits, [0, 500, 2_000, 0, 100]);

        // Of several at once each waits for those before it.
        advance(Duration::from_secs(60)).await;
        let at_once = futures::join!(
            waited(&paces, 300),
            waited(&paces, 300),
            waited(&paces, 300)
        );
        assert_eq!(
            at_once,
            (0, 300, 600),
            "a minute without work saves nothing up"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_nothing_waits() {
        let paces = Paces::new(None);
        for _ in 0..3 {
            assert!(paces.wait(1 << 30).now_or_never().is_some());
        }
    }
}
