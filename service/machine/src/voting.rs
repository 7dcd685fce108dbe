//! The rule of storage versions: what follows for a resource when its entries change.
//!
//! [`decide`] is pure. It takes what some members now say of a resource and works out, in this order: the entries, the
//! selected version, the encodings that voters take, the common encoding, agreement, and what is added to `persisted`
//! and to the drains. A command collects the decisions of all resources that it touches, refuses if one refuses, and
//! only then carries them out.

mod conditions;
mod drains;
mod observation;
mod refusal;
mod roster;
mod selected;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{
    Absent, AgreementCause, AgreementChange, ApiVersion, GroupResource, LogTime, MemberId,
    Persisted, Refusal, ReportEntry, Revision, Stance, WallTime,
};

use self::drains::may_write;
pub(crate) use self::drains::{drained_by_replacement, raise_drains};
pub(crate) use self::observation::{lapse, look};
pub(crate) use self::roster::absent;
use crate::objects::guarantee;
use crate::state::{State, StorageVersion};
use crate::tally::Tally;
use crate::{EntryChange, EntryRow, StateStatus, VersionStatus};
use refusal::not_decodable;

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
    fn kept(self) -> AgreementCause {
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

/// Works out what follows when the members say this of the resource. `None`: nothing changes.
///
/// # Errors
///
/// `NOT_DECODABLE` if a reported entry could not read what is selected, or what is stored where that is enforced.
pub(crate) fn decide(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    said: &[(&MemberId, Said<'_>)],
) -> Result<Option<Decided>, Refusal> {
    let present = state.storage_versions.get(resource);
    let before = state
        .storage_states
        .get(resource)
        .map(|kept| &kept.row.status);
    let mut draft = Draft::of(present, before, occasion);
    for (member, said) in said {
        draft.take(member, *said);
    }
    draft.select();
    draft.let_voters_take_selected();
    if occasion.lapses {
        draft.lapse(state.write_grace_ends());
    }
    for (member, said) in said {
        if let Said::Reports { entry, .. } = said {
            guarantee::check_stance(state, resource, member, entry)?;
            draft.check_decodable(state, resource, member, entry)?;
        }
    }
    Ok(draft.finish(state, resource))
}

/// What becomes known of a resource's store.
#[derive(Debug)]
pub(crate) struct Anew {
    /// What it may hold, with all that the entries demand.
    pub(crate) persisted: BTreeSet<Persisted>,
    /// Whether nothing is selected any more.
    pub(crate) unselects: bool,
    /// Whether what discovery showed says nothing any more.
    pub(crate) forgets_observation: bool,
}

/// Works out what follows for a resource when what is known of its store changes, and nothing else. `None`: nothing
/// changes.
pub(crate) fn reconsider(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    anew: Anew,
) -> Option<Decided> {
    let present = state.storage_versions.get(resource);
    let before = &state.storage_states.get(resource)?.row.status;
    let mut draft = Draft::of(present, Some(before), occasion);
    draft.after.persisted = anew.persisted;
    if anew.forgets_observation {
        draft.forget_observation(state.write_grace_ends());
    }
    if anew.unselects && draft.after.selected.take().is_some() {
        draft.after.selected_revision = occasion.revision;
    }
    draft.finish(state, resource)
}

/// Works out what follows for a resource when its roster changes, or whom it asks for. `None`: nothing changes.
pub(crate) fn recount(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
) -> Option<Decided> {
    let kept = &state.storage_states.get(resource)?.row.status;
    if kept.absent == absent(state, occasion, resource) {
        return None;
    }
    let present = state.storage_versions.get(resource);
    Draft::of(present, Some(kept), occasion).finish(state, resource)
}

/// A resource while a decision about it is made.
struct Draft<'a> {
    occasion: Occasion<'a>,
    entries: OrdMap<MemberId, Arc<EntryRow>>,
    tally: Tally,
    /// Every member whose entry was touched, with the entry before.
    touched: BTreeMap<MemberId, Option<Arc<EntryRow>>>,
    before: Option<&'a StateStatus>,
    after: StateStatus,
    /// Whether an observation came to its deadline in this command.
    lapsed: bool,
}

impl<'a> Draft<'a> {
    fn of(
        present: Option<&StorageVersion>,
        before: Option<&'a StateStatus>,
        occasion: Occasion<'a>,
    ) -> Self {
        Self {
            occasion,
            entries: present
                .map(|version| version.entries.clone())
                .unwrap_or_default(),
            tally: present
                .map(|version| (*version.tally).clone())
                .unwrap_or_default(),
            touched: BTreeMap::new(),
            before,
            after: before.cloned().unwrap_or_else(fresh_state),
            lapsed: false,
        }
    }

    fn take(&mut self, member: &MemberId, said: Said<'_>) {
        let before = self.entries.get(member).cloned();
        match said {
            Said::Reports { entry, same_epoch } => {
                let row = self.reported_row(entry, before.as_deref(), same_epoch);
                self.put(member, Some(row));
            }
            Said::Adopts => {
                let row = before
                    .as_deref()
                    .expect("the command found the voter's entry");
                let row = EntryRow {
                    encoding: self.after.selected.clone(),
                    adopted_revision: Some(self.after.selected_revision),
                    ..row.clone()
                };
                self.put(member, Some(row));
            }
            Said::Drops { drain_until } => {
                if let (Some(entry), Some(until)) = (&before, drain_until) {
                    let versions: Vec<_> =
                        may_write(entry, &self.after).into_iter().cloned().collect();
                    raise_drains(&mut self.after, &versions, until);
                }
                self.put(member, None);
            }
        }
    }

    /// The row of what was reported. A voter without an encoding here takes the selected one later.
    fn reported_row(
        &self,
        entry: &ReportEntry,
        before: Option<&EntryRow>,
        same_epoch: bool,
    ) -> EntryRow {
        let voting = matches!(entry.stance, Stance::Voting { .. });
        let before = before.filter(|before| before.is_voting() == voting);
        let (encoding, adopted_revision) = match &entry.stance {
            Stance::Fixed { encoding } => (Some(encoding.clone()), None),
            Stance::Voting { .. } => before
                .filter(|before| {
                    same_epoch
                        && before
                            .encoding
                            .as_ref()
                            .is_some_and(|kept| entry.decodable.contains(kept))
                })
                .map(|before| (before.encoding.clone(), before.adopted_revision))
                .unwrap_or_default(),
        };
        EntryRow {
            kind: entry.kind.clone(),
            decodable: entry.decodable.clone(),
            served: entry.served.clone(),
            stance: entry.stance.clone(),
            encoding,
            adopted_revision,
            since: before.map_or(self.occasion.revision, |before| before.since),
        }
    }

    fn put(&mut self, member: &MemberId, row: Option<EntryRow>) {
        let before = match row {
            Some(row) => {
                self.tally.add(&row);
                self.entries.insert(member.clone(), Arc::new(row))
            }
            None => self.entries.remove(member),
        };
        if let Some(before) = &before {
            self.tally.remove(before);
        }
        self.touched.entry(member.clone()).or_insert(before);
    }

    /// Evaluates selected once, after all entries changed, and only while the resource has an entry.
    fn select(&mut self) {
        let selected = selected::next(&self.tally, &self.entries, self.after.selected.as_ref());
        if selected != self.after.selected {
            self.after.selected = selected;
            self.after.selected_revision = self.occasion.revision;
        }
    }

    /// A voter that encodes nothing yet has no permit to drain: it takes what is selected in this very command.
    fn let_voters_take_selected(&mut self) {
        let Some(selected) = self.after.selected.clone() else {
            return;
        };
        let waiting = |row: &EntryRow| row.is_voting() && row.encoding.is_none();
        let was_selected = self.before.is_some_and(|before| before.selected.is_some());
        // Only a selection out of nothing can find waiting voters among the untouched entries.
        let takers: Vec<MemberId> = if was_selected {
            self.touched
                .keys()
                .filter(|member| self.entries.get(*member).is_some_and(|row| waiting(row)))
                .cloned()
                .collect()
        } else {
            self.entries
                .iter()
                .filter(|(_, row)| waiting(row))
                .map(|(member, _)| member.clone())
                .collect()
        };
        for member in takers {
            let row = self
                .entries
                .get(&member)
                .expect("the taker was found among the entries");
            let row = EntryRow {
                encoding: Some(selected.clone()),
                adopted_revision: Some(self.after.selected_revision),
                ..(**row).clone()
            };
            self.put(&member, Some(row));
        }
    }

    fn check_decodable(
        &self,
        state: &State,
        resource: &GroupResource,
        member: &MemberId,
        entry: &ReportEntry,
    ) -> Result<(), Refusal> {
        if let Some(selected) = self
            .after
            .selected
            .as_ref()
            .filter(|selected| !entry.decodable.contains(selected))
        {
            return Err(not_decodable(
                resource,
                member,
                entry,
                selected,
                "the selected version",
            ));
        }
        let enforced = state.settings.enforce_persisted.contains(resource);
        if !enforced || matches!(entry.stance, Stance::Fixed { .. }) {
            return Ok(());
        }
        let present = self.touched.get(member).and_then(Option::as_ref);
        if present.is_some_and(|present| {
            present
                .decodable
                .iter()
                .all(|version| entry.decodable.contains(version))
        }) {
            return Ok(());
        }
        let persisted = self
            .before
            .into_iter()
            .flat_map(|before| known(&before.persisted));
        match persisted
            .into_iter()
            .find(|version| !entry.decodable.contains(version))
        {
            Some(version) => Err(not_decodable(
                resource,
                member,
                entry,
                version,
                "a persisted version",
            )),
            None => Ok(()),
        }
    }

    fn finish(mut self, state: &State, resource: &GroupResource) -> Option<Decided> {
        let row = state
            .storage_versions
            .get(resource)
            .map(|version| &version.row);
        let changes = self.entry_changes();
        self.add_persisted(&changes);
        self.after.common = self.tally.common().cloned();
        self.after.absent = roster::absent_of(state, self.occasion, resource, &self.entries);
        self.after.contradicted = self.contradicted();
        if self.is_agreement_anew() {
            self.after.agreement_revision = self.occasion.revision;
        }
        self.after.agreed = self.agreed();
        self.after.agreed_hash = self.agreed_hash();
        let agreement = self.agreement_change();
        let status = (!self.tally.is_empty()).then(|| self.status(row.map(|row| &row.status)));
        let same = changes.is_empty() && status.as_ref() == row.map(|row| &row.status);
        let state = (self.before != Some(&self.after)).then_some(self.after);
        if same && state.is_none() {
            return None;
        }
        let after = status.map(|status| Reported {
            entries: self.entries,
            tally: self.tally,
            status,
        });
        Some(Decided {
            resource: resource.clone(),
            entries: changes,
            after,
            state,
            agreement,
        })
    }

    /// Whether an agreement from now on is another one than before, though it be on the same version.
    fn is_agreement_anew(&self) -> bool {
        let Some(before) = self.before else {
            return self.after.common.is_some()
                || self.after.selected.is_some()
                || self.after.observation.is_some();
        };
        let after = &self.after;
        let objected = |status: &StateStatus| status.contradicted || !status.absent.is_empty();
        self.lapsed
            || before.common != after.common
            || before.selected != after.selected
            || objected(before) != objected(after)
            || (self.tally.is_empty()
                && observation::shown(&before.observation)
                    != observation::shown(&after.observation))
    }

    fn agreement_change(&self) -> Option<AgreementChange> {
        let before = self.before.and_then(|before| before.agreed.clone());
        (before != self.after.agreed).then(|| AgreementChange {
            from: before,
            to: self.after.agreed.clone(),
            revision: self.occasion.revision,
            at: self.occasion.wall,
            cause: self.occasion.cause.map(Cause::kept),
        })
    }

    fn entry_changes(&self) -> Vec<EntryChange> {
        let changes = self.touched.iter().map(|(member, before)| EntryChange {
            member: member.clone(),
            before: before.clone(),
            after: self.entries.get(member).cloned(),
        });
        changes
            .filter(|change| change.before != change.after)
            .collect()
    }

    /// Every encoding that an entry has, and what is selected, may be in the store from now on.
    fn add_persisted(&mut self, changes: &[EntryChange]) {
        for row in changes.iter().filter_map(|change| change.after.as_ref()) {
            if let Some(encoding) = &row.encoding {
                Persisted::of(encoding, &row.kind).join(&mut self.after.persisted);
            }
        }
        if let (Some(selected), Some((_, row))) = (&self.after.selected, self.entries.get_min()) {
            let known = self
                .after
                .persisted
                .iter()
                .any(|kept| kept.version() == Some(selected));
            if !known {
                Persisted::of(selected, &row.kind).join(&mut self.after.persisted);
            }
        }
    }

    /// Agreed on v: common is v, selected is unset or v, every voter took or adopted this selection, discovery shows
    /// nothing else, and nobody is missing.
    fn agreed(&self) -> Option<ApiVersion> {
        let common = self.after.common.as_ref()?;
        if self.after.contradicted || !self.after.absent.is_empty() {
            return None;
        }
        let instructed = self
            .after
            .selected
            .as_ref()
            .is_none_or(|selected| selected == common);
        let adopted =
            self.tally.voters() == 0 || self.tally.all_adopted(self.after.selected_revision);
        (instructed && adopted).then(|| common.clone())
    }

    fn status(&self, before: Option<&VersionStatus>) -> VersionStatus {
        VersionStatus {
            common: self.after.common.clone(),
            selected: self.after.selected.clone(),
            selected_revision: self.after.selected_revision,
            agreement_revision: self.after.agreement_revision,
            agreed: self.after.agreed.clone(),
            decodable_by_all: self.tally.decodable_by_all(),
            served_by_all: self.tally.served_by_all(),
            all_equal: conditions::all_equal(before, self.after.common.as_ref(), self.occasion),
            decodable: conditions::decodable(
                before,
                &self.entries,
                &self.tally,
                &self.after,
                self.occasion,
            ),
        }
    }
}

pub(crate) fn fresh_state() -> StateStatus {
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
        drains: BTreeMap::new(),
        hash_drains: BTreeMap::new(),
    }
}

/// The members of `persisted` whose version is known by name.
fn known(persisted: &BTreeSet<Persisted>) -> impl Iterator<Item = &ApiVersion> {
    persisted.iter().filter_map(Persisted::version)
}
