//! Tests of what the commands print, against golden files.

mod access;
mod deployed;
mod golden;
mod help;
mod later;
mod limits;
mod operated;
mod output;
mod printed;
mod reasons;
pub(crate) mod stand_in;
#[path = "../../../tests/vectors/suite.rs"]
mod suite;
mod vectors;
