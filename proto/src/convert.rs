//! Conversions of the objects and values of the public protocol to and from those of `synod-model`: one file each;
//! `keys.rs` has the messages that name an object or its owner.
//!
//! A conversion from the protocol finds all faults at once, each with its path in the JSON form, and the code behind it
//! relies on that. Apply repeats only the checks that its invariants need.

mod agreement;
mod assumption;
mod collection;
mod condition;
mod controller_revision;
mod keys;
mod lease;
mod mark_tie;
mod member;
mod metadata;
mod migration;
mod object;
mod persisted;
mod refusal;
mod report_entry;
mod roster;
mod server_look;
mod settings;

use synod_model::{
    Absent, AgreementChange, Collection, ControllerRevision, Lease, LeaseCandidate, Member,
    Migration, Object, Persisted, Roster, Settings, Violations,
};

use crate::wire::Wire;
use crate::{messages, v1};

pub(crate) use controller_revision::wanted_data;
pub(crate) use keys::{named, names};
pub(crate) use roster::distinct;

/// Implements the form of messages that are fields of answers. Every replica sets them, so a missing one is a fault.
macro_rules! fields {
    ($($pb:ident = $of:ident;)*) => { $(
        impl Wire<v1::$pb> for $of {
            fn to_wire(&self) -> v1::$pb {
                self.into()
            }

            fn of_wire(pb: v1::$pb) -> Result<Self, Violations> {
                Self::try_from(pb)
            }
        }

        messages!(@left_out v1::$pb, $of: "every replica sets it");
    )* };
}

fields! {
    AbsentMembers = Absent;
    AgreementChange = AgreementChange;
    Collection = Collection;
    ControllerRevision = ControllerRevision;
    Lease = Lease;
    LeaseCandidate = LeaseCandidate;
    Member = Member;
    Migration = Migration;
    Object = Object;
    PersistedVersion = Persisted;
    Roster = Roster;
    Settings = Settings;
}

#[cfg(test)]
mod tests;
