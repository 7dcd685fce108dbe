//! Where the checkout is.

use std::path::Path;

/// The folder of the workspace: where the root `Cargo.toml` is.
///
/// It is fixed when the program is compiled: one that is copied elsewhere still means this checkout.
#[must_use]
pub fn checkout() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}
