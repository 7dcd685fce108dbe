//! Stand-ins for the histograms that openraft fills and Synod never reads. They store nothing, to save memory.
//!
//! openraft records the sizes of its batches in any case, but they can be read only with its feature `runtime-stats`,
//! which Synod leaves off. The original crate, `base2histogram` by openraft's author, builds the tables of all sixteen
//! scales when it is first used, although openraft uses one: 25 MiB in every replica, more than all other memory that
//! is not the program itself. The root's `Cargo.toml` replaces it by this crate, which has the part of its interface
//! that openraft names. Without `runtime-stats`, openraft reads no value back.

mod chart;
mod histogram;

pub use chart::AsciiChart;
pub use histogram::{Histogram, PercentileStats};
