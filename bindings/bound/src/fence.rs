//! The writer's side of a fence in a store of the program's own, for a language that has the store.

use synod_client::{FenceGuard as Inner, MemberId};

use crate::counts::{Counted, Live};
use crate::{Bound, Failure, Permit};

/// The agreements that a member knows of: [`synod_client::FenceGuard`].
///
/// For each write: take a permit, read the fence key, [`check`](Self::check), [`Permit::check`], then write on condition
/// that the key holds what was read.
#[derive(Debug)]
pub struct FenceGuard {
    inner: Inner,
    _live: Live,
}

impl Bound {
    /// The guard of the writes of the member of this id. It watches the cluster until it is dropped.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: `member` is not an id. The cluster does not answer.
    pub async fn fence_guard(&self, member: &str) -> Result<FenceGuard, Failure> {
        let member =
            MemberId::parse(member).map_err(|fault| Failure::invalid(fault.at("member")))?;
        Ok(FenceGuard {
            inner: Inner::new(self.client(), member).await?,
            _live: Live::new(Counted::Reflector),
        })
    }
}

impl FenceGuard {
    /// Whether a write under this permit may be sent on condition that the fence key holds `present`; for `None`, on
    /// condition that there is no such key.
    ///
    /// # Errors
    ///
    /// As [`synod_client::FenceGuard::check`].
    pub fn check(&self, permit: &Permit, present: Option<&[u8]>) -> Result<(), Failure> {
        Ok(self.inner.check(permit.inner(), present)?)
    }
}
