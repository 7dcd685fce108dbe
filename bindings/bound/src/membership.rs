//! Memberships: joining as a member, reporting, and leaving.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use synod_client::json as form;
use synod_client::{
    BinaryVersion, Endpoint, Epoch, GroupResource, JoinOptions, Labels, MemberId,
    Membership as Inner, MembershipState, Ttl,
};
use tokio::runtime::Handle;

use crate::counts::{Counted, Live};
use crate::options::{Options, list, message, millis, number, text, texts, used_up, value, values};
use crate::{Bound, Failure, Feed, Gate, Taken};

/// A membership, kept alive in the background until it is closed or dropped: [`synod_client::Membership`], by documents.
#[derive(Debug)]
pub struct Membership {
    /// `None` once the membership is closed.
    inner: Mutex<Option<Arc<Inner>>>,
    gate: Gate,
    id: String,
    instance: String,
    taken: AtomicBool,
    home: Handle,
    _live: Live,
}

impl Bound {
    /// Joins the cluster as a member. A membership that is never popped from the feed leaves again.
    ///
    /// Options: `id` (required), `ttlMs`, `labels`, `version`, `endpoint`, `equivalents` (lists of `GroupResource`),
    /// `permitWaitMs` and `drainLimitMs`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule. The feed fails as
    /// [`synod_client::Client::join`] does.
    pub fn join(&self, options: &str) -> Result<Feed<Membership>, Failure> {
        let options = join_options(options)?;
        let (client, home) = (self.client().clone(), self.home().clone());
        Ok(Feed::once(async move {
            Ok(Membership::new(client.join(options).await?, home))
        }))
    }
}

fn join_options(options: &str) -> Result<JoinOptions, Failure> {
    let mut options = Options::parse(options)?;
    let mut join = options
        .need("id", text(MemberId::parse))
        .map(JoinOptions::new);
    let ttl = options.take("ttlMs", |value| Ttl::from_millis(number(value)?));
    if let Some(ttl) = ttl {
        join = join.map(|join| join.ttl(ttl));
    }
    let labels = options.take("labels", |value| Labels::parse(&texts(value)?));
    if let Some(labels) = labels {
        join = join.map(|join| join.labels(labels));
    }
    if let Some(version) = options.take("version", text(BinaryVersion::parse)) {
        join = join.map(|join| join.version(version));
    }
    if let Some(endpoint) = options.take("endpoint", text(Endpoint::parse)) {
        join = join.map(|join| join.endpoint(endpoint));
    }
    let equivalents = options.take("equivalents", list(list(message::<GroupResource>)));
    if let Some(equivalents) = equivalents {
        join = join.map(|join| join.equivalents(equivalents));
    }
    if let Some(wait) = options.take("permitWaitMs", millis) {
        join = join.map(|join| join.permit_wait(wait));
    }
    if let Some(limit) = options.take("drainLimitMs", millis) {
        join = join.map(|join| join.drain_limit(limit));
    }
    options.end(join)
}

impl Membership {
    fn new(inner: Inner, home: Handle) -> Self {
        Self {
            gate: Gate::new(inner.gate()),
            id: inner.id().to_string(),
            instance: inner.instance().to_string(),
            inner: Mutex::new(Some(Arc::new(inner))),
            taken: AtomicBool::new(false),
            home,
            _live: Live::new(Counted::Membership),
        }
    }

    /// The member's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name that tells this process from others that join under the same id.
    #[must_use]
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// The gate that every write has to pass.
    #[must_use]
    pub fn gate(&self) -> Gate {
        self.gate.clone()
    }

    /// The state: `epoch`, if there is one; `proved`, `reported` and `ready`; `ended`, if it has ended for good:
    /// `left`, `replaced` or `stopped`; and `lastError`, the document of the last failure, if there is one.
    ///
    /// # Errors
    ///
    /// The membership was closed.
    pub fn state(&self) -> Result<String, Failure> {
        Ok(shown(&self.inner()?.state()))
    }

    /// Waits until the state differs from the one at the time of the call, and returns it.
    ///
    /// # Errors
    ///
    /// The membership was closed.
    pub async fn changed(&self) -> Result<String, Failure> {
        let inner = self.inner()?;
        let seen = inner.state();
        Ok(shown(&inner.state_changed(&seen).await))
    }

    /// Waits until the state differs from `seen`, an answer of [`state`](Self::state) or of this, and returns it.
    ///
    /// # Errors
    ///
    /// The membership was closed.
    pub async fn changed_from(&self, seen: &str) -> Result<String, Failure> {
        let inner = self.inner()?;
        let mut state = inner.state();
        while shown(&state) == seen {
            state = inner.state_changed(&state).await;
        }
        Ok(shown(&state))
    }

    /// Waits until the membership has ended for good, and returns why: `left`, `replaced` or `stopped`.
    ///
    /// # Errors
    ///
    /// The membership was closed.
    pub async fn ended(&self) -> Result<&'static str, Failure> {
        Ok(self.inner()?.ended().await.as_str())
    }

    /// Reports all resources of the server, a list of `ReportEntry`, and returns a `StorageVersionsReportResponse`.
    ///
    /// # Errors
    ///
    /// As [`synod_client::Membership::report`].
    pub async fn report(&self, entries: &str) -> Result<String, Failure> {
        let entries = values(entries)?;
        let reported = self.inner()?.report(entries).await?;
        Ok(form::of(&reported).to_string())
    }

    /// Reports one resource, changed or new, beside those already reported: a `ReportEntry`.
    ///
    /// # Errors
    ///
    /// As [`synod_client::Membership::report_change`].
    pub async fn report_change(&self, entry: &str) -> Result<String, Failure> {
        let entry = value(entry)?;
        let reported = self.inner()?.report_change(entry).await?;
        Ok(form::of(&reported).to_string())
    }

    /// Tells the cluster that the server is ready.
    ///
    /// # Errors
    ///
    /// The cluster could not be told, in three tries.
    pub async fn ready(&self) -> Result<(), Failure> {
        Ok(self.inner()?.ready().await?)
    }

    /// Leaves the cluster. Permits in use have `drain_limit` to come back. The membership is over, whatever the result.
    ///
    /// # Errors
    ///
    /// The cluster could not be told: the member expires by itself.
    pub async fn leave(&self, drain_limit: Duration) -> Result<(), Failure> {
        Ok(self.inner()?.leave(drain_limit).await?)
    }

    /// Stops renewing the membership: the gate closes for good, and the member expires. Prefer [`leave`](Self::leave).
    /// Waiters for its end are woken.
    pub fn close(&self) {
        if let Some(inner) = self.take() {
            inner.stop();
        }
    }

    fn take(&self) -> Option<Arc<Inner>> {
        self.inner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn inner(&self) -> Result<Arc<Inner>, Failure> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| used_up("the membership"))
    }
}

impl Taken for Membership {
    fn taken(&self) {
        self.taken.store(true, Ordering::SeqCst);
    }
}

impl Drop for Membership {
    /// A membership that was never popped admitted no write: it leaves at once.
    fn drop(&mut self) {
        let Some(inner) = self.take() else {
            return;
        };
        if self.taken.load(Ordering::SeqCst) {
            inner.stop();
        } else {
            self.home.spawn(async move {
                // If the cluster cannot be told, the member expires by itself.
                let _ = inner.leave(Duration::ZERO).await;
            });
        }
    }
}

fn shown(state: &MembershipState) -> String {
    let error = state.last_error.clone().map(Failure::from);
    let error = error.and_then(|failure| serde_json::from_str(&failure.to_json()).ok());
    let document = form::JsonObject::new()
        .with_some("epoch", state.epoch.map(Epoch::get).map(form::number))
        .with("proved", state.proved)
        .with("reported", state.reported)
        .with("ready", state.ready)
        .with_some("ended", state.ended.map(synod_client::Ended::as_str))
        .with_some(
            "lastError",
            error.map(|error: serde_json::Value| json!(error)),
        );
    serde_json::Value::from(document).to_string()
}
