//! Finds the checkout.

use std::path::Path;

/// The folder of the workspace, with the root `Cargo.toml`.
///
/// The path is fixed when the program is compiled: a program that is copied elsewhere still refers to this checkout.
#[must_use]
pub fn checkout() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}
