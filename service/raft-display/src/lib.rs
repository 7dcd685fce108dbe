//! Displays the options, results, slices and sets in openraft's log messages.
//!
//! The original crate, `display-more` by openraft's author, also displays times, for which it brings every time zone of the
//! world: eight crates, and a build script that compiles their table. openraft displays no time by it. The root's `Cargo.toml`
//! replaces it by this crate, which has the part of its interface that openraft names.

mod items;
mod options;

pub use items::{DisplayBTreeSetExt, DisplaySliceExt, Items};
pub use options::{DisplayOption, DisplayOptionExt, DisplayResult, DisplayResultExt};
