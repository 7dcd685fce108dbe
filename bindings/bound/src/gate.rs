//! The write gate of a membership, its permits, and its rule for HTTP requests, as documents.

use std::time::Duration;

use serde_json::json;
use synod_client::{
    Admission, Discovery, Gate as Inner, GroupResource, Permit as InnerPermit, RequestInfo,
};

use crate::counts::{Counted, Live};
use crate::options::value;
use crate::{Failure, Feed, Taken};

/// The write gate of a membership: [`synod_client::Gate`]. Clones share one gate.
#[derive(Clone, Debug)]
pub struct Gate(Inner);

/// A permit to write: [`synod_client::Permit`].
///
/// The order is: encode in [`encoding`](Self::encoding); call [`check`](Self::check) right before the store is called;
/// call the store; then call [`done`](Self::done) when the store has answered, or
/// [`unknown_outcome`](Self::unknown_outcome) when it has not. A permit that is dropped after a passed check counts as
/// a write of unknown outcome.
#[derive(Debug)]
pub struct Permit {
    inner: InnerPermit,
    _live: Live,
}

/// Which HTTP requests the gate lets through: [`synod_client::Admission`].
#[derive(Clone, Debug)]
pub struct Door(Admission);

/// The decision about an HTTP request.
#[derive(Debug)]
pub enum Admitted {
    /// The request needs no permit.
    Pass,
    /// The request goes to the server under this permit.
    Permitted(Permit),
    /// The request does not reach the server: this is the answer.
    Refused {
        /// The code of the answer.
        code: u16,
        /// The type of its body.
        content_type: &'static str,
        /// Its body: a `Status` of Kubernetes.
        body: String,
    },
}

impl Taken for Permit {}
impl Taken for Admitted {}

impl Gate {
    pub(crate) fn new(gate: Inner) -> Self {
        Self(gate)
    }

    /// Waits for a permit to write objects of a resource, a `GroupResource`. It waits for the gate to open for `wait`,
    /// or for the membership's `permitWaitMs` without it.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: `resource` is not a resource. The feed fails with `UNAVAILABLE` if the gate did not open in
    /// time, and with `STALE_EPOCH` or `NOT_A_MEMBER` if it will never open again.
    pub fn permit(&self, resource: &str, wait: Option<Duration>) -> Result<Feed<Permit>, Failure> {
        let resource: GroupResource = value(resource)?;
        let gate = self.0.clone();
        Ok(Feed::once(async move {
            let permit = match wait {
                Some(wait) => gate.permit_within(&resource, wait).await,
                None => gate.permit(&resource).await,
            };
            Ok(Permit::new(permit?))
        }))
    }

    /// Returns a permit, if the gate is open now.
    ///
    /// # Errors
    ///
    /// As [`Gate::permit`].
    pub fn try_permit(&self, resource: &str) -> Result<Permit, Failure> {
        let resource = value(resource)?;
        Ok(Permit::new(self.0.try_permit(&resource)?))
    }

    /// Why the server may not yet say that it is ready, as a sentence; `None`: it may.
    #[must_use]
    pub fn waits_for(&self) -> Option<String> {
        self.0.readiness().err()
    }

    /// What the server's own discovery shows of a resource, a `GroupResource`, now: `{"hash": text}`, or
    /// `{"noConsensus": text}` with the reason.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: `resource` is not a resource.
    pub fn discovery(&self, resource: &str) -> Result<String, Failure> {
        let shown = match self.0.discovery(&value(resource)?) {
            Discovery::Hash(hash) => json!({"hash": hash.to_string()}),
            Discovery::NoConsensus(why) => json!({"noConsensus": why}),
        };
        Ok(shown.to_string())
    }

    /// Whether every write that this gate admitted has ended, so that none can still reach the store.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.0.is_drained()
    }

    /// The gate's rule for HTTP requests. A write that finds the gate closed waits at most `wait`. `not_stored` is a
    /// list of further resources, each a `GroupResource`, that the server answers and does not store.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: an item of `not_stored` is not a resource.
    pub fn door(&self, wait: Duration, not_stored: &str) -> Result<Door, Failure> {
        let not_stored = crate::options::values(not_stored)?;
        let admission = Admission::new(self.0.clone()).wait(wait);
        Ok(Door(admission.not_stored(not_stored)))
    }
}

impl Door {
    /// Decides about a request of this method and target (path and query). A request that needs a permit waits for it.
    #[must_use]
    pub fn admit(&self, method: &str, target: &str) -> Feed<Admitted> {
        let info = RequestInfo::parse_texts(method, target);
        let door = self.0.clone();
        Feed::once(async move {
            Ok(match door.admit(info.as_ref()).await {
                Ok(None) => Admitted::Pass,
                Ok(Some(permit)) => Admitted::Permitted(Permit::new(permit)),
                Err(refused) => Admitted::Refused {
                    code: refused.code(),
                    content_type: refused.content_type(),
                    body: refused.body(),
                },
            })
        })
    }
}

impl Permit {
    pub(crate) fn inner(&self) -> &InnerPermit {
        &self.inner
    }

    fn new(inner: InnerPermit) -> Self {
        Self {
            inner,
            _live: Live::new(Counted::Permit),
        }
    }

    /// The resource that may be written: a `GroupResource`.
    #[must_use]
    pub fn resource(&self) -> String {
        synod_client::json::of(self.inner.resource()).to_string()
    }

    /// The version in which to encode.
    #[must_use]
    pub fn encoding(&self) -> String {
        self.inner.encoding().to_string()
    }

    /// The epoch that the permit belongs to.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.inner.epoch().get()
    }

    /// A revision of the cluster at which the member's entry allowed the encoding.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.inner.revision().get()
    }

    /// Whether the write may be sent to the store now. Call this right before the store.
    ///
    /// # Errors
    ///
    /// Nothing may be sent under this permit: as [`synod_client::Permit::check`].
    pub fn check(&self) -> Result<(), Failure> {
        Ok(self.inner.check()?)
    }

    /// The store has answered, or was never called.
    pub fn done(&self) {
        self.inner.done();
    }

    /// The store was called and has not answered: the write may still land.
    pub fn unknown_outcome(&self) {
        self.inner.unknown_outcome();
    }
}
