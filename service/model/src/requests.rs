//! The requests that change the state, typed, with what their shape must be.
//!
//! `check` finds what is wrong with a request whatever the state is: what the types of its fields
//! cannot say. Whether it is right for the state, only apply decides.

mod adopt;
mod close_session;
mod collections;
mod join;
mod leave;
mod mark_ready;
mod objects;
mod open_session;
mod renew;
mod report;
mod transact;
mod update_settings;

pub use adopt::Adopt;
pub use close_session::CloseSession;
pub use collections::{CreateCollection, DeleteCollection, UpdateCollection};
pub use join::Join;
pub use leave::Leave;
pub use mark_ready::MarkReady;
pub use objects::{
    CreateObject, DeleteObject, Patch, PatchFormat, PatchObject, Propagation, UpdateObject,
};
pub use open_session::OpenSession;
pub use renew::Renew;
pub use report::Report;
pub use transact::{Compare, Operation, Transact};
pub use update_settings::UpdateSettings;

#[cfg(test)]
mod tests;
