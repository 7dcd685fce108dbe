//! Decides which HTTP requests the gate lets through, for servers of any kind.

use std::collections::BTreeSet;
use std::time::Duration;

use http::{Response, StatusCode};
use synod_model::GroupResource;

use super::rules::{self, Ruling};
use super::{Gate, Obstacle, Permit, RequestInfo, answer};

/// Lets a write through to a Kubernetes-like API server only if the server's [`Gate`] allows it.
/// [`GateLayer`](crate::GateLayer) does the same for servers built on tower; this is for servers of other kinds.
#[derive(Clone, Debug)]
pub struct Admission {
    gate: Gate,
    wait: Duration,
    not_stored: BTreeSet<GroupResource>,
}

/// The answer to a request that is not let through, in place of the server's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAdmitted {
    code: StatusCode,
    reason: &'static str,
    message: String,
}

impl Admission {
    /// The admission for a gate. A write that finds the gate closed is refused at once; see [`Admission::wait`].
    #[must_use]
    pub fn new(gate: Gate) -> Self {
        Self {
            gate,
            wait: Duration::ZERO,
            not_stored: rules::not_stored_by_kubernetes(),
        }
    }

    /// How long a write may wait for the gate to open before it is refused.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Further resources that the server answers without storing them, so that they are never reported. Those of
    /// Kubernetes, such as `tokenreviews.authentication.k8s.io`, are known.
    #[must_use]
    pub fn not_stored(mut self, resources: Vec<GroupResource>) -> Self {
        self.not_stored.extend(resources);
        self
    }

    /// Decides whether a request may go to the server, and returns its permit, or `None` if it needs none. `info` is
    /// the parsed request, `None` if it could not be parsed.
    ///
    /// # Errors
    ///
    /// The request may not go to the server; the error is the answer to give instead.
    pub async fn admit(&self, info: Option<&RequestInfo>) -> Result<Option<Permit>, NotAdmitted> {
        match rules::rule(&self.gate, &self.not_stored, info) {
            Ruling::Pass => Ok(None),
            Ruling::Unreadable => Err(NotAdmitted::unreadable()),
            Ruling::Unreportable(resource) => Err(self.unreportable(&resource)),
            Ruling::Permit(resource) => self.wait_for_permit(&resource).await.map(Some),
        }
    }

    async fn wait_for_permit(&self, resource: &GroupResource) -> Result<Permit, NotAdmitted> {
        let permit = self.gate.wait_for_permit(resource, self.wait).await;
        permit.map_err(|obstacle| NotAdmitted::closed(obstacle.message(resource.qualified())))
    }

    /// The refusal of a write to a resource with an illegal name, which no member can ever report.
    fn unreportable(&self, resource: &str) -> NotAdmitted {
        let proved = self.gate.book().proved_epoch(self.gate.now());
        let obstacle = proved.err().unwrap_or(Obstacle::NotReported(None));
        NotAdmitted::closed(obstacle.message(resource))
    }
}

impl NotAdmitted {
    /// The HTTP status code of the answer.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.code.as_u16()
    }

    /// The media type of the answer's body.
    #[must_use]
    pub fn content_type(&self) -> &'static str {
        answer::STATUS_TYPE
    }

    /// The answer's body: a `Status` of Kubernetes.
    #[must_use]
    pub fn body(&self) -> String {
        answer::status_text(self.code, self.reason, &self.message)
    }

    pub(super) fn into_response<B: From<String>>(self) -> Response<B> {
        answer::status(self.code, self.reason, &self.message)
    }

    fn closed(message: String) -> Self {
        Self {
            code: StatusCode::SERVICE_UNAVAILABLE,
            reason: "ServiceUnavailable",
            message,
        }
    }

    fn unreadable() -> Self {
        Self {
            code: StatusCode::INTERNAL_SERVER_ERROR,
            reason: "InternalError",
            message: "no RequestInfo found in the context".to_owned(),
        }
    }
}
