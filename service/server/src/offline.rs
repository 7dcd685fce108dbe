//! What is done to data directories while no replica runs on them: founding a cluster with a state that is there already.
//!
//! A cluster is founded from the state of a backup, or from what one data directory of a lost cluster still holds. Both go
//! by the rule of a restore, which is a command of the machine: another cluster id, numbers far beyond all that can have been
//! given, no member, session or hold. The new cluster has one replica, and grows as any other.

mod found;
mod survivor;

pub use found::{FoundError, Founded, Founder};
pub use survivor::{Survivor, SurvivorError, Unheard};
