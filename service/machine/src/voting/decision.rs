//! What a decision is made of: what members say, on which occasion, and what follows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{
    Absent, AgreementCause, AgreementChange, ApiVersion, GroupResource, LogTime, MemberId,
    Persisted, ReportEntry, Revision, WallTime,
};

use crate::tally::Tally;
use crate::{EntryChange, EntryRow, StateStatus, VersionStatus};

/// What a member now says of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said<'a> {
    /// It reports this.
    Reports {
        entry: &'a ReportEntry,
        /// Whether the entry before was of the same epoch: only then is its encoding kept.
        same_epoch: bool,
    },
    /// Its permits for the older version are drained: it encodes what is selected.
    Adopts,
    /// It reports the resource no more, or is gone. What it may still write drains until the given log time.
    Drops { drain_until: Option<LogTime> },
}

/// The facts of the command in which a decision is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion<'a> {
    pub(crate) revision: Revision,
    pub(crate) wall: WallTime,
    /// What an agreement that changes is put down to; `None` if several members go at once, or nobody in particular.
    pub(crate) cause: Option<Cause<'a>>,
    /// The members that go in this command, but are there still: a roster does not ask for them any more.
    pub(crate) gone: Option<&'a BTreeSet<MemberId>>,
    /// Whether what discovery shows of the resource comes to its deadline in this command.
    pub(crate) lapses: bool,
    /// Whether the roster of the resource asks, since this command, for somebody it did not ask for before.
    pub(crate) asks_anew: bool,
}

/// What an agreement that changes is put down to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause<'a> {
    /// The member whose command it is, or that is removed.
    Member(&'a MemberId),
    /// A look at discovery, or that there was none for too long.
    Observed,
    /// Another roster.
    Roster,
}

impl Cause<'_> {
    pub(super) fn kept(self) -> AgreementCause {
        match self {
            Self::Member(id) => AgreementCause::Member(id.clone()),
            Self::Observed => AgreementCause::Observed,
            Self::Roster => AgreementCause::Roster,
        }
    }
}

/// What follows for one resource.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) resource: GroupResource,
    /// The entries that changed, by member.
    pub(crate) entries: Vec<EntryChange>,
    /// The resource after the change; `None` if its last entry went.
    pub(crate) after: Option<Reported>,
    /// What stays of the resource, if that changed.
    pub(crate) state: Option<StateStatus>,
    /// The line for the history of agreements, if agreement changed.
    pub(crate) agreement: Option<AgreementChange>,
}

/// A reported resource before it has its place in the state.
#[derive(Clone, Debug)]
pub(crate) struct Reported {
    pub(crate) entries: OrdMap<MemberId, Arc<EntryRow>>,
    pub(crate) tally: Tally,
    pub(crate) status: VersionStatus,
}

/// What is known of a resource that nobody ever reported.
pub(super) fn fresh_state() -> StateStatus {
    StateStatus {
        common: None,
        selected: None,
        selected_revision: Revision::ZERO,
        agreement_revision: Revision::ZERO,
        agreed: None,
        // Whatever was stored before anybody reported is unknown.
        persisted: BTreeSet::from([Persisted::Unknown]),
        observation: None,
        contradicted: false,
        agreed_hash: None,
        absent: Absent::default(),
        on_trust: None,
        heard: BTreeSet::new(),
        drains: BTreeMap::new(),
        hash_drains: BTreeMap::new(),
    }
}

/// The members of `persisted` whose version is known by name.
pub(super) fn known(persisted: &BTreeSet<Persisted>) -> impl Iterator<Item = &ApiVersion> {
    persisted.iter().filter_map(Persisted::version)
}
