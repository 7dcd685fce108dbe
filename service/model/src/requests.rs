//! The requests that change the state, typed, with what their shape must be.
//!
//! `check` finds what is wrong with a request whatever the state is: what the types of its fields
//! cannot say. Whether it is right for the state, only apply decides.

mod adopt;
mod close_session;
mod join;
mod leave;
mod mark_ready;
mod open_session;
mod renew;
mod report;
mod update_settings;

pub use adopt::Adopt;
pub use close_session::CloseSession;
pub use join::Join;
pub use leave::Leave;
pub use mark_ready::MarkReady;
pub use open_session::OpenSession;
pub use renew::Renew;
pub use report::Report;
pub use update_settings::UpdateSettings;

#[cfg(test)]
mod tests;
