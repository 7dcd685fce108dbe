//! Who calls.

use synod_model::Identity;

/// Who calls, as it was proved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// Its name: a SPIFFE id, `cn:<common name>`, `system:serviceaccount:<namespace>:<name>`, or `remote:<user>` as a front proxy
    /// tells it.
    pub identity: Identity,
    /// The pod that it is, if it has proved that: the token of a service account may be bound to one.
    pub pod: Option<String>,
    /// The groups that it is in, as a front proxy tells them: `remote-group:<group>`.
    pub groups: Vec<String>,
}
