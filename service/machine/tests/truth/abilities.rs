//! The abilities of a world, and those among them that the machine does not hold yet.

use std::collections::BTreeSet;

/// Something that can happen around a machine. No answer may be untrue because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ability {
    /// A rewrite of a worker lands after its claim has ended, and a worker that is cut off goes on.
    LateRewrites,
    /// An operator releases the claim of a worker that goes on.
    ForeignReleases,
    /// A worker compares a fence in the store.
    FencedWorkers,
    /// An operator asks about a version that no server ever named.
    Misspellings,
    /// An operator removes a member whose process goes on.
    Evictions,
    /// The newest machine version comes into force after answers of an older one.
    Raises,
    /// An operator deletes the state of a resource that is stored.
    ForgottenStates,
    /// A server on the roster writes without a gate before it joins for the first time.
    UnheardServers,
    /// A server on the roster writes without a gate after it was away.
    AbsentServers,
    /// A server writes without a gate while its former membership lasts.
    HiddenSpans,
    /// A member writes without a gate.
    UngatedMembers,
    /// A resource is stored outside and has a collection.
    StoresBesideCollections,
    /// An observer reaches only some of the servers.
    PartialLooks,
    /// A roster cannot notice who never joins.
    LooseRosters,
    /// Two resources are in one store.
    SharedStores,
}

/// An ability that the machine does not hold yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithheldAbility {
    pub(crate) ability: Ability,
    /// The rule that will hold it, as it is named in the semantics.
    pub(crate) rule: &'static str,
}

impl WithheldAbility {
    const fn new(ability: Ability, rule: &'static str) -> Self {
        Self { ability, rule }
    }
}

/// The abilities that no random log has, because the machine gives untrue answers in worlds with them.
///
/// A test demands that each is removed once its rule is built. None is ever added.
pub(crate) const WITHHELD: &[WithheldAbility] = &[];

/// The abilities of the worlds that the machine holds.
pub(crate) fn held_abilities() -> BTreeSet<Ability> {
    let withheld: Vec<Ability> = WITHHELD.iter().map(|it| it.ability).collect();
    let all = ALL.iter().copied();
    all.filter(|ability| !withheld.contains(ability)).collect()
}

/// Every ability.
pub(crate) const ALL: &[Ability] = &[
    Ability::LateRewrites,
    Ability::ForeignReleases,
    Ability::FencedWorkers,
    Ability::Misspellings,
    Ability::Evictions,
    Ability::Raises,
    Ability::ForgottenStates,
    Ability::UnheardServers,
    Ability::AbsentServers,
    Ability::HiddenSpans,
    Ability::UngatedMembers,
    Ability::StoresBesideCollections,
    Ability::PartialLooks,
    Ability::LooseRosters,
    Ability::SharedStores,
];
