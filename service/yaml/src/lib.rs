//! YAML 1.2 as callers write it, read within bounds, and as the program prints it.
//!
//! - [`from_str`], [`from_slice`] and [`from_slice_seed`] read a text that is one document.
//! - [`documents`] reads all documents of a text, with the numbers that were read as doubles.
//! - [`to_string`] writes a value.
//!
//! `serde-saphyr` reads and writes. This crate holds its options for all programs: plain `yes`, `on`, `012` and `1_000` are
//! texts, a merge key (`<<`) is a key like another, and `.inf` and `.nan` are refused, since JSON has neither.

mod document;
mod text;

pub use document::{Document, InexactNumber, documents};
pub use text::{DEPTH_MAX, Error, from_slice, from_slice_seed, from_str, to_string};
