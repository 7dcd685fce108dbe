//! The write gate, its permits, and its rule for HTTP requests.

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Error, Result};
use napi_derive::napi;
use synod_bound::Admitted as Outcome;

use crate::calls::{only, thrown};
use crate::cancel::CancelToken;
use crate::client::millis;

/// The write gate of a membership.
#[derive(Debug)]
#[napi]
pub struct Gate {
    bound: synod_bound::Gate,
}

/// A permit to write.
#[derive(Debug)]
#[napi]
pub struct Permit {
    /// `None`: it was let go.
    bound: Option<synod_bound::Permit>,
}

/// Which HTTP requests a gate lets through.
#[derive(Debug)]
#[napi]
pub struct Door {
    bound: synod_bound::Door,
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

impl Gate {
    pub(crate) fn new(bound: synod_bound::Gate) -> Self {
        Self { bound }
    }
}

#[napi]
impl Gate {
    /// A permit to write objects of a resource.
    ///
    /// # Errors
    ///
    /// It is no resource, or the wait is no span.
    #[napi]
    pub fn permit<'env>(
        &self,
        env: &'env Env,
        resource: String,
        wait_ms: Option<f64>,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Permit>> {
        let wait = millis(wait_ms)?;
        let waiting = self.bound.permit(&resource, wait).map_err(thrown)?;
        only(env, token, waiting, Permit::new)
    }

    /// A permit, if the gate is open now.
    ///
    /// # Errors
    ///
    /// It is not.
    #[napi]
    pub fn try_permit(&self, resource: String) -> Result<Permit> {
        let permit = self.bound.try_permit(&resource).map_err(thrown)?;
        Ok(Permit::new(permit))
    }

    /// What the server waits for before it may say that it is ready.
    #[napi]
    pub fn waits_for(&self) -> Option<String> {
        self.bound.waits_for()
    }

    /// Whether no write that this gate let through can land any more.
    #[napi]
    pub fn is_drained(&self) -> bool {
        self.bound.is_drained()
    }

    /// The gate's rule for HTTP requests.
    ///
    /// # Errors
    ///
    /// One is no resource, or the wait is no span.
    #[napi]
    pub fn door(&self, wait_ms: Option<f64>, not_stored: String) -> Result<Door> {
        let wait = millis(wait_ms)?.unwrap_or_default();
        let bound = self.bound.door(wait, &not_stored).map_err(thrown)?;
        Ok(Door { bound })
    }
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
        only(env, None, self.bound.admit(&method, &target), Admitted::new)
    }
}

impl Admitted {
    fn new(outcome: Outcome) -> Self {
        let (permit, refused) = match outcome {
            Outcome::Pass => (None, None),
            Outcome::Permitted(permit) => (Some(Permit::new(permit)), None),
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

impl Permit {
    fn new(bound: synod_bound::Permit) -> Self {
        Self { bound: Some(bound) }
    }

    fn bound(&self) -> Result<&synod_bound::Permit> {
        let gone = || Error::from_reason("the permit was let go, so it can be used no longer");
        self.bound.as_ref().ok_or_else(gone)
    }
}

#[napi]
impl Permit {
    /// The resource that may be written.
    ///
    /// # Errors
    ///
    /// It was let go.
    #[napi]
    pub fn resource(&self) -> Result<String> {
        Ok(self.bound()?.resource())
    }

    /// The version in which to encode.
    ///
    /// # Errors
    ///
    /// It was let go.
    #[napi]
    pub fn encoding(&self) -> Result<String> {
        Ok(self.bound()?.encoding())
    }

    /// The epoch that it belongs to.
    ///
    /// # Errors
    ///
    /// It was let go.
    #[napi]
    pub fn epoch(&self) -> Result<u64> {
        Ok(self.bound()?.epoch())
    }

    /// A revision at which the member's entry allowed the encoding.
    ///
    /// # Errors
    ///
    /// It was let go.
    #[napi]
    pub fn revision(&self) -> Result<u64> {
        Ok(self.bound()?.revision())
    }

    /// Whether the write may be sent to the store now.
    ///
    /// # Errors
    ///
    /// It may not.
    #[napi]
    pub fn check(&self) -> Result<()> {
        self.bound()?.check().map_err(thrown)
    }

    /// The store has answered, or was never called.
    ///
    /// # Errors
    ///
    /// It was let go.
    #[napi]
    pub fn done(&self) -> Result<()> {
        self.bound()?.done();
        Ok(())
    }

    /// The store was called and has not answered.
    ///
    /// # Errors
    ///
    /// It was let go.
    #[napi]
    pub fn unknown_outcome(&self) -> Result<()> {
        self.bound()?.unknown_outcome();
        Ok(())
    }

    /// Lets it go.
    #[napi]
    pub fn release(&mut self) {
        self.bound = None;
    }
}
