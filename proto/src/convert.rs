//! The objects and values of the public protocol, to and from those of `synod-model`: one file each.
//!
//! A conversion from the protocol finds all faults at once, each with its path in the JSON form, and is the only check of
//! shape there is: past it, nobody looks again.

mod agreement;
mod collection;
mod condition;
mod controller_revision;
mod lease;
mod mark_tie;
mod member;
mod metadata;
mod migration;
mod object;
mod object_key;
mod owner_reference;
mod persisted;
mod preconditions;
mod refusal;
mod report_entry;
mod resource;
mod roster;
mod settings;

pub(crate) use controller_revision::annotations_to_wire;
pub(crate) use metadata::labels_to_wire;
pub(crate) use migration::migration;
pub(crate) use object_key::namespace;
pub(crate) use roster::rule as roster_rule;

#[cfg(test)]
mod tests;
