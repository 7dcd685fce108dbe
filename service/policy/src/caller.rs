//! Who calls.

use synod_model::Identity;

/// Who calls, as it was proved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// Its name: a SPIFFE id, or `cn:<common name>`.
    pub identity: Identity,
}
