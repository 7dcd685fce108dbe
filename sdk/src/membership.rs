//! A membership.

mod ended;

pub use ended::Ended;
