//! The writer's side of a fence in a store of the program's own.

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::client::Client;
use crate::gate::Permit;
use crate::handle::{handle, methods};

methods! {
    Client:

    "The guard of the writes of a member."
    later fence_guard(client, member: String) -> FenceGuard { client.fence_guard(&member).await? }
        or "The client was closed."
}

handle! {
    "The agreements that a member knows of, which a fence in its store is held against."
    FenceGuard(synod_bound::FenceGuard)

    "Whether a write under a permit may be sent on condition that the fence key holds this; without it, that there is none."
    now check(guard, permit: &Permit, present: Option<Uint8Array>) -> () {
        guard.check(&*permit.held.bound()?, present.as_deref())?
    } or "It may not."
}

#[napi]
impl FenceGuard {
    /// Follows the cluster no longer.
    #[napi]
    pub fn close(&self) {
        self.held
            .let_go("the guard was closed, so it can be used no longer");
    }
}
