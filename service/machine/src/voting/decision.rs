//! The types of a decision: what members say, the occasion, and the result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;
use smallvec::SmallVec;
use synod_model::{
    Absent, AgreementCause, AgreementChange, ApiVersion, Epoch, GroupResource, LogTime, MemberId,
    Persisted, ReportEntry, Revision, TopicKind, WallTime,
};

use crate::looks::OverdueLooks;
use crate::tally::Tally;
use crate::{EntryChange, EntryRow, State, StateStatus, VersionStatus};

/// What a member now says of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said<'a> {
    /// The member reports this.
    Reports {
        entry: &'a ReportEntry,
        /// Whether the previous entry is of the same epoch: only then its encoding is kept.
        same_epoch: bool,
    },
    /// The voter's permits for the older version are drained: it now encodes the selected version.
    Adopts,
    /// The member no longer reports the resource, or is gone.
    Drops {
        /// Its writes that may still reach the store.
        late_writes: LateWrites,
        /// The epoch of a member without a gate that goes without saying so.
        writes_on: Option<Epoch>,
    },
}

/// The writes of a member that no longer reports a resource, as far as they may still reach the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LateWrites {
    /// Nothing.
    None,
    /// Writes in what it may write now, until the given log time.
    Until(LogTime),
    /// The same, and a voter what is selected later, until the given log time.
    OfAnySelectionUntil(LogTime),
    /// Writes in what it may write now: until `grace` if it has stopped, as somebody said, and until `promised` if not.
    SaidToEnd { grace: LogTime, promised: LogTime },
}

/// The facts of the command that makes a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion<'a> {
    pub(crate) revision: Revision,
    pub(crate) wall: WallTime,
    /// The recorded cause of a changed agreement; `None` if several members go at once, or none is particular.
    pub(crate) cause: Option<Cause<'a>>,
    /// The members that this command removes later: no roster asks for them any more.
    pub(crate) gone: Option<&'a BTreeSet<MemberId>>,
    /// The looks at the resource that expire in this command.
    pub(crate) lapses: Option<&'a OverdueLooks>,
    /// Whether this command makes the resource's roster ask for a member that it did not ask for before.
    pub(crate) asks_anew: bool,
    /// Whether a date or a drain of the topic is over in this command.
    pub(crate) passes: bool,
    /// The stores whose names change in this command, by their first names.
    pub(crate) renamed: Option<&'a BTreeSet<GroupResource>>,
}

/// The recorded cause of a changed agreement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause<'a> {
    /// The member that sent the command, or that is removed.
    Member(&'a MemberId),
    /// An observation of discovery, or its expiry.
    Observed,
    /// A changed roster.
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

/// The result of a decision for one resource.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    /// The first name of its store.
    pub(crate) resource: GroupResource,
    /// The changed reports on it, by the names of its store.
    pub(crate) versions: DecidedVersions,
    /// Whether a member reports it after the change, under any name.
    pub(crate) is_reported: bool,
    /// The storage state of the resource, if it changed.
    pub(crate) state: Option<StateStatus>,
    /// The line for the history of agreements, if agreement changed.
    pub(crate) agreement: Option<AgreementChange>,
    /// Whether workers have to walk the store from its first key again.
    pub(crate) restarts_walks: bool,
    /// Whether unfinished migrations end, since their workers do not walk all that is stored.
    pub(crate) aborts: bool,
}

/// The decided reports, by the names of their store. Nearly every store has one.
pub(crate) type DecidedVersions = SmallVec<[DecidedVersion; 1]>;

/// The reports on a store under one of its names, after a decision.
#[derive(Clone, Debug)]
pub(crate) struct DecidedVersion {
    pub(crate) name: GroupResource,
    /// The entries that changed, by member.
    pub(crate) entries: Vec<EntryChange>,
    /// The resource after the change; `None` if its last entry went.
    pub(crate) after: Option<Reported>,
}

/// A reported resource before it is put into the state.
#[derive(Clone, Debug)]
pub(crate) struct Reported {
    pub(crate) entries: OrdMap<MemberId, Arc<EntryRow>>,
    pub(crate) tally: Tally,
    pub(crate) status: VersionStatus,
}

/// The storage state of a resource that was never reported.
pub(super) fn fresh_state(state: &State, kind: TopicKind) -> StateStatus {
    // What was stored before the first report is unknown, and what members do that a restored backup does not name.
    let by_strangers = !kind.is_stored() && state.strangers_write_until > state.log_time;
    let is_unknown = kind.may_precede_reports() || by_strangers;
    let unknown = is_unknown.then_some(Persisted::Unknown);
    StateStatus {
        common: None,
        selected: None,
        selected_revision: Revision::ZERO,
        agreement_revision: Revision::ZERO,
        agreed: None,
        persisted: unknown.into_iter().collect(),
        observation: None,
        contradicted: false,
        agreed_hash: None,
        absent: Absent::default(),
        on_trust: None,
        heard: BTreeSet::new(),
        drains: BTreeMap::new(),
        hash_drains: BTreeMap::new(),
        serve_until: None,
        claim_drains: BTreeMap::new(),
        unknown_drain: None,
        known_versions: BTreeMap::new(),
        known_hashes: BTreeMap::new(),
        concluded_before: None,
        said_stopped: BTreeMap::new(),
        ever_reported: false,
        ungated_gone: BTreeMap::new(),
        more_ungated_gone: false,
        short_absences: BTreeMap::new(),
        stored_outside: false,
        looks: BTreeMap::new(),
        unnamed_look: None,
        equivalents: BTreeSet::new(),
    }
}

/// The members of `persisted` whose version is known by name.
pub(super) fn known(persisted: &BTreeSet<Persisted>) -> impl Iterator<Item = &ApiVersion> {
    persisted.iter().filter_map(Persisted::version)
}
