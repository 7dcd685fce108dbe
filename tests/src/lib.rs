//! Shared by the test programs and `xtask`: the path of the checkout.
//!
//! This crate has no dependencies, so that `cargo xtask` starts within seconds on a fresh clone. The test programs lie
//! beside it, one folder and one binary for each kind, and take their dependencies from `[dev-dependencies]`.

mod checkout;

pub use checkout::checkout;
