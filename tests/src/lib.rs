//! Shared by the test programs and `xtask`: the path of the checkout, ports that nobody else takes, and an etcd.
//!
//! This crate has no dependencies, so that `cargo xtask` starts within seconds on a fresh clone. The test programs lie
//! beside it, one folder and one binary for each kind, and take their dependencies from `[dev-dependencies]`.

mod checkout;
mod etcd;
mod ports;

pub use checkout::checkout;
pub use etcd::etcd;
pub use ports::free_address;
