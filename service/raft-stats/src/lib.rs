//! Histograms that openraft fills, and that nobody reads: they keep nothing.
//!
//! openraft counts the sizes of its batches in any case, while only its feature `runtime-stats`, which Synod leaves
//! off, has a way to read them. The `base2histogram` of its author makes the tables of all sixteen scales when it is
//! first used, of which openraft uses one: 25 MiB of every replica's memory, which was more than all the rest that is
//! not the program itself. The root's `Cargo.toml` puts this crate in its place, with the part of its interface that
//! openraft names. Without that feature no value passes through it to anybody.

mod chart;
mod histogram;

pub use chart::AsciiChart;
pub use histogram::{Histogram, PercentileStats};
