//! What the test programs and `xtask` share: where the checkout is.
//!
//! This crate has no dependencies, so that `cargo xtask` starts within seconds on a fresh clone. The
//! test programs live beside it, one folder and one binary per kind, and take theirs from
//! `[dev-dependencies]`.

mod checkout;

pub use checkout::checkout;
