//! Changes of the histories of controllers.

mod data;
mod history;
mod one;

pub(crate) use history::history_from_wire;
pub(crate) use one::named;
