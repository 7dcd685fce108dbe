//! What the commands print, held against files that people have read.

mod golden;
mod help;
mod limits;
mod output;
mod printed;
pub(crate) mod stand_in;
#[path = "../../../tests/vectors/suite.rs"]
mod suite;
mod vectors;
