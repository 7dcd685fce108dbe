//! The handler of a write, which has a permit.

use axum::{Extension, http::StatusCode};
use synod_client::Permit;

/// Stores an object in the version of its permit.
pub(crate) async fn create(Extension(permit): Extension<Permit>) -> Result<String, StatusCode> {
    let stored = format!("stored in {}", permit.encoding()); // encode in this version
    if permit.check().is_err() {
        return Err(StatusCode::SERVICE_UNAVAILABLE); // right before the store is called
    }
    permit.done(); // the store has answered; else `permit.unknown_outcome()`
    Ok(stored)
}
