//! The write gate, its permits, and its rule for HTTP requests.

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use synod_bound::Admitted as Outcome;

use crate::client::millis;
use crate::handle::handle;

handle! {
    "The write gate of a membership."
    Gate(synod_bound::Gate)

    "A permit to write objects of a resource."
    fed permit(gate, resource: String, wait_ms: Option<f64>) -> Permit { gate.permit(&resource, millis(wait_ms)?)? }
        or "It is no resource, or the wait is no span."

    "A permit, if the gate is open now."
    now try_permit(gate, resource: String) -> Permit { gate.try_permit(&resource)? } or "It is not."

    "What the server waits for before it may say that it is ready."
    now waits_for(gate) -> Option<String> { gate.waits_for() }

    "What the server's own discovery shows of a resource."
    now discovery(gate, resource: String) -> String { gate.discovery(&resource)? } or "It is no resource."

    "Whether no write that this gate let through can land any more."
    now is_drained(gate) -> bool { gate.is_drained() }

    "The gate's rule for HTTP requests."
    now door(gate, wait_ms: Option<f64>, not_stored: String) -> Door {
        gate.door(millis(wait_ms)?.unwrap_or_default(), &not_stored)?
    } or "One is no resource, or the wait is no span."
}

handle! {
    "Which HTTP requests a gate lets through."
    Door(synod_bound::Door)
}

#[napi]
impl Door {
    /// What becomes of a request of this method and target.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn admit<'env>(
        &self,
        env: &'env Env,
        method: String,
        target: String,
    ) -> Result<PromiseRaw<'env, Admitted>> {
        self.held
            .fed(env, None, |door| Ok(door.admit(&method, &target)))
    }
}

/// What becomes of an HTTP request.
#[derive(Debug)]
#[napi]
pub struct Admitted {
    permit: Option<Permit>,
    refused: Option<Refused>,
}

/// The answer in place of the server's.
#[derive(Clone, Debug)]
#[napi(object)]
pub struct Refused {
    /// Its code.
    pub status: u16,
    /// The type of its body.
    pub content_type: String,
    /// Its body.
    pub body: String,
}

impl From<Outcome> for Admitted {
    fn from(outcome: Outcome) -> Self {
        let (permit, refused) = match outcome {
            Outcome::Pass => (None, None),
            Outcome::Permitted(permit) => (Some(Permit::from(permit)), None),
            Outcome::Refused {
                code,
                content_type,
                body,
            } => {
                let content_type = content_type.to_owned();
                let refused = Refused {
                    status: code,
                    content_type,
                    body,
                };
                (None, Some(refused))
            }
        };
        Self { permit, refused }
    }
}

#[napi]
impl Admitted {
    /// The answer in place of the server's, if it is not let through.
    #[napi(getter)]
    pub fn refused(&self) -> Option<Refused> {
        self.refused.clone()
    }

    /// The permit of a request that writes, once.
    #[napi]
    pub fn take_permit(&mut self) -> Option<Permit> {
        self.permit.take()
    }
}

handle! {
    "A permit to write."
    Permit(synod_bound::Permit)

    "The resource that may be written."
    now resource(permit) -> String { permit.resource() } or "It was let go."

    "The version in which to encode."
    now encoding(permit) -> String { permit.encoding() } or "It was let go."

    "The epoch that it belongs to."
    now epoch(permit) -> u64 { permit.epoch() } or "It was let go."

    "A revision at which the member's entry allowed the encoding."
    now revision(permit) -> u64 { permit.revision() } or "It was let go."

    "Whether the write may be sent to the store now."
    now check(permit) -> () { permit.check()? } or "It may not."

    "The store has answered, or was never called."
    now done(permit) -> () { permit.done() } or "It was let go."

    "The store was called and has not answered."
    now unknown_outcome(permit) -> () { permit.unknown_outcome() } or "It was let go."
}

#[napi]
impl Permit {
    /// Lets it go.
    #[napi]
    pub fn release(&self) {
        self.held
            .let_go("the permit was let go, so it can be used no longer");
    }
}
