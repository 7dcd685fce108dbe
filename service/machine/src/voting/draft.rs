//! A resource while a decision is made: its entries and its storage state, changed step by step.

use std::collections::BTreeMap;
use std::sync::Arc;

use synod_model::{
    Absent, AgreementChange, ApiVersion, EVIDENCE_SINCE, Feature, GroupResource, LogTime, MemberId,
    Persisted, Refusal, ReportEntry, Revision, Roster, Stance, TopicKind,
};

use super::decision::{Cause, Decided, Occasion, Said, fresh_state, known};
use super::drains::{may_write, raise_drains};
use super::parts::{Part, Parts, Whole};
use super::refusal::{Matters, not_decodable};
use super::{observation, roster, selected};
use crate::state::State;
use crate::{EntryChange, EntryRow, StateStatus};

/// A resource while a decision about it is made.
pub(super) struct Draft<'a> {
    pub(super) occasion: Occasion<'a>,
    pub(super) kind: TopicKind,
    pub(super) now: LogTime,
    /// What is reported under all names of its store.
    pub(super) whole: Whole,
    /// Every member whose entry was touched, with the entry before.
    pub(super) touched: BTreeMap<MemberId, Option<Arc<EntryRow>>>,
    /// What its members have said until now, by the names of its store; the first one first.
    pub(super) present: Parts<'a>,
    pub(super) before: Option<&'a StateStatus>,
    pub(super) after: StateStatus,
    /// Whether an observation expired in this command.
    pub(super) lapsed: bool,
    /// Whether workers have to walk the store from its first key again.
    pub(super) restarts_walks: bool,
    /// Whether unfinished migrations end, since their workers do not walk all that is stored.
    pub(super) aborts: bool,
    /// Whether the names of the store change in this command.
    pub(super) is_renamed: bool,
}

impl<'a> Draft<'a> {
    pub(super) fn of(state: &'a State, resource: &GroupResource, occasion: Occasion<'a>) -> Self {
        let kind = state.topic_kind(resource);
        let names = state.names(resource).into_iter();
        let present: Parts<'a> = names
            .map(|name| Part {
                version: state.storage_versions.get(&name),
                name,
            })
            .collect();
        let before = state.state_of(resource);
        let before = before.map(|kept| &kept.row.status);
        let is_renamed = occasion.renamed.is_some_and(|all| all.contains(resource));
        let mut draft = Self {
            occasion,
            kind,
            now: state.log_time,
            whole: Whole::of(&present),
            touched: BTreeMap::new(),
            present,
            before,
            after: before.cloned().unwrap_or_else(|| fresh_state(state, kind)),
            lapsed: false,
            restarts_walks: false,
            aborts: false,
            is_renamed,
        };
        if is_renamed {
            draft.after.on_trust = Some(occasion.revision);
            draft.drop_further_entries(state.write_grace_ends());
        }
        draft
    }

    /// Drops what a member has reported under further names of the store. What it writes under them drains, also behind a gate:
    /// only a report that replaces all others says that the gate is closed.
    fn drop_further_entries(&mut self, until: LogTime) {
        for (member, row) in std::mem::take(&mut self.whole.further) {
            let versions: Vec<_> = may_write(&row, &self.after).into_iter().cloned().collect();
            raise_drains(&mut self.after, &versions, until);
            let kept = self.whole.entries.get(&member).cloned();
            self.touched.entry(member).or_insert(kept);
        }
    }

    /// Whether the resource had entries before.
    pub(super) fn was_reported(&self) -> bool {
        self.present.iter().any(|part| part.version.is_some())
    }

    /// Doubts, when a key is reported that nobody reports, what a collection has said of it: one that was created before
    /// there were topics has declared that nothing is stored.
    pub(super) fn doubt_collection(&mut self, state: &State, resource: &GroupResource) {
        let is_of_topic = !self.kind.is_seen_in_stores() && self.kind.may_precede_reports();
        let was_never_selected = self.after.selected_revision == Revision::ZERO;
        let is_declared = was_never_selected || state.collections.contains_key(resource);
        if is_of_topic && is_declared && !self.was_reported() {
            self.after.persisted.insert(Persisted::Unknown);
        }
    }

    pub(super) fn take(&mut self, member: &MemberId, said: Said<'_>) {
        let before = self.whole.entries.get(member).cloned();
        match said {
            Said::Reports { entry, same_epoch } => {
                self.promise(entry);
                let row = self.reported_row(entry, before.as_deref(), same_epoch);
                if self.present.len() > 1 {
                    self.whole
                        .named
                        .insert(member.clone(), entry.resource.clone());
                }
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
            Said::Drops {
                late_writes,
                writes_on,
            } => {
                if let Some(entry) = &before {
                    self.drain_entry(member, entry, late_writes);
                    if let Some(epoch) = writes_on {
                        self.note_ungated_gone(member, epoch);
                    }
                }
                self.put(member, None);
            }
        }
    }

    /// The row of a reported entry. A voter that has no encoding here takes the selected version later.
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
            serve_until: entry.serve_until,
            stored: entry.stored,
            equivalents: entry.equivalents.clone(),
        }
    }

    fn put(&mut self, member: &MemberId, row: Option<EntryRow>) {
        let before = match row {
            Some(row) => {
                self.whole.tally.add(&row);
                self.whole.entries.insert(member.clone(), Arc::new(row))
            }
            None => self.whole.entries.remove(member),
        };
        if let Some(before) = &before {
            self.whole.tally.remove(before);
        }
        self.touched.entry(member.clone()).or_insert(before);
    }

    /// Evaluates `selected` once, after all entries changed, and only while the resource has an entry.
    pub(super) fn select(&mut self, state: &State, resource: &GroupResource) {
        if self.kind.waits_for_named_members() && self.misses_a_named_member(state, resource) {
            return;
        }
        let votes = state.settings.switch(Feature::Votes);
        let present = self.after.selected.as_ref();
        let selected = match self.kind {
            TopicKind::Feature => selected::highest(&self.whole.tally, present, votes),
            TopicKind::Served => {
                let beside = self.beside_entries(state, resource);
                selected::served(&self.whole.tally, present, votes, beside)
            }
            TopicKind::Encoding | TopicKind::Key => {
                selected::next(&self.whole.tally, &self.whole.entries, present, votes)
            }
        };
        if selected != self.after.selected {
            self.after.selected = selected;
            self.after.selected_revision = self.occasion.revision;
        }
    }

    /// Whether a member has no entry that a roster names.
    fn misses_a_named_member(&self, state: &State, resource: &GroupResource) -> bool {
        let rosters = state.rosters_of(resource).into_iter();
        let mut named = rosters.flat_map(|roster| &roster.rule.members);
        state.machine_version() >= EVIDENCE_SINCE
            && named.any(|member| !self.whole.entries.contains_key(member))
    }

    /// Gives the selected version to voters that encode nothing yet: they have no permits to drain.
    pub(super) fn let_voters_take_selected(&mut self) {
        let Some(selected) = self.after.selected.clone() else {
            return;
        };
        let waiting = |row: &EntryRow| row.is_voting() && row.encoding.is_none();
        let was_selected =
            !self.is_renamed && self.before.is_some_and(|before| before.selected.is_some());
        // Untouched entries can contain waiting voters only if nothing was selected before.
        let takers: Vec<MemberId> = if was_selected {
            self.touched
                .keys()
                .filter(|member| {
                    self.whole
                        .entries
                        .get(*member)
                        .is_some_and(|row| waiting(row))
                })
                .cloned()
                .collect()
        } else {
            self.whole
                .entries
                .iter()
                .filter(|(_, row)| waiting(row))
                .map(|(member, _)| member.clone())
                .collect()
        };
        for member in takers {
            let row = self
                .whole
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

    pub(super) fn check_decodable(
        &self,
        state: &State,
        resource: &GroupResource,
        member: &MemberId,
        entry: &ReportEntry,
    ) -> Result<(), Refusal> {
        let why = if state.is_off(Feature::Votes) {
            Matters::SelectedForNow
        } else {
            Matters::Selected
        };
        if let Some(selected) = self
            .after
            .selected
            .as_ref()
            .filter(|selected| !entry.decodable.contains(selected))
        {
            return Err(not_decodable(state, resource, member, entry, selected, why));
        }
        let always = self.kind.always_enforces_persisted();
        let enforced = always || {
            let named = &state.settings.enforce_persisted;
            self.present.iter().any(|part| named.contains(&part.name))
        };
        if !enforced || matches!(entry.stance, Stance::Fixed { .. }) {
            return Ok(());
        }
        // An entry from before there were topics may lack what is needed, so here none is let in for what it was.
        let present = self.touched.get(member).and_then(Option::as_ref);
        if present.filter(|_| !always).is_some_and(|present| {
            present
                .decodable
                .iter()
                .all(|version| entry.decodable.contains(version))
        }) {
            return Ok(());
        }
        // Nothing was added to it yet, but what nobody is left for was taken out.
        match known(&self.after.persisted).find(|version| !entry.decodable.contains(version)) {
            Some(version) => {
                let why = Matters::Persisted;
                Err(not_decodable(state, resource, member, entry, version, why))
            }
            None => Ok(()),
        }
    }

    pub(super) fn finish(mut self, state: &State, resource: &GroupResource) -> Option<Decided> {
        let changes = self.entry_changes();
        self.add_persisted(&changes);
        if state.remembers_encodings(resource) {
            let said = changes.iter().filter_map(|change| change.after.as_ref());
            let versions = said.flat_map(|row| row.decodable.iter());
            let revision = self.occasion.revision;
            self.after.remember_versions(versions, revision);
        }
        let counts = state.machine_version() >= EVIDENCE_SINCE && self.kind.is_seen_in_stores();
        self.after.ever_reported |= counts && !self.whole.tally.is_empty();
        self.after.common = self.whole.tally.common().cloned();
        let rosters = state.rosters_over(resource, self.after.ever_reported);
        self.after.absent = self.absent_by(state, &rosters);
        self.follow_trust(state, resource);
        self.weigh_observation(&changes, state.write_grace_ends());
        self.after.contradicted = self.contradicted();
        if self.is_agreement_anew() {
            self.after.agreement_revision = self.occasion.revision;
        }
        self.after.agreed = self.agreed();
        let moves = self.occasion.passes || !changes.is_empty() || self.before != Some(&self.after);
        if moves {
            self.let_go_of_the_other(state, resource);
        }
        self.after.agreed_hash = self.agreed_hash();
        let agreement = self.agreement_change();
        let is_reported = !self.whole.tally.is_empty();
        let versions = self.versions(changes);
        let state = (self.before != Some(&self.after)).then_some(self.after);
        if versions.is_empty() && state.is_none() {
            return None;
        }
        Some(Decided {
            resource: resource.clone(),
            versions,
            is_reported,
            state,
            agreement,
            restarts_walks: self.restarts_walks,
            aborts: self.aborts,
        })
    }

    /// The members missing by these rosters.
    pub(super) fn absent_by(&self, state: &State, rosters: &[&Arc<Roster>]) -> Absent {
        let speaks = |id: &MemberId| self.whole.entries.contains_key(id);
        roster::absent_of(
            state,
            self.occasion,
            rosters,
            self.whole.entries.len(),
            speaks,
        )
    }

    /// Whether an agreement from now on differs from the one before, even if it is on the same version.
    fn is_agreement_anew(&self) -> bool {
        let Some(before) = self.before else {
            return self.after.common.is_some()
                || self.after.selected.is_some()
                || self.after.observation.is_some();
        };
        let after = &self.after;
        let objected = |status: &StateStatus| status.contradicted || !status.absent.is_empty();
        self.lapsed
            || self.is_renamed
            || before.common != after.common
            || before.selected != after.selected
            || objected(before) != objected(after)
            || (self.whole.tally.is_empty()
                && (self.was_reported() && after.observation.is_some()
                    || observation::shown(&before.observation)
                        != observation::shown(&after.observation)))
    }

    fn agreement_change(&self) -> Option<AgreementChange> {
        let before = self.before.and_then(|before| before.agreed.clone());
        (before != self.after.agreed).then(|| AgreementChange {
            from: before,
            to: self.after.agreed.clone(),
            revision: self.occasion.revision,
            at: self.occasion.wall,
            cause: self.occasion.cause.map(Cause::kept),
            // The turn knows it.
            caller: None,
        })
    }

    fn entry_changes(&self) -> Vec<EntryChange> {
        let changes = self.touched.iter().map(|(member, before)| EntryChange {
            member: member.clone(),
            before: before.clone(),
            after: self.whole.entries.get(member).cloned(),
        });
        changes
            .filter(|change| change.before != change.after)
            .collect()
    }

    /// Adds every encoding of a changed entry, and the selected version, to `persisted`.
    fn add_persisted(&mut self, changes: &[EntryChange]) {
        for row in changes.iter().filter_map(|change| change.after.as_ref()) {
            if let Some(encoding) = &row.encoding {
                Persisted::of(encoding, &row.kind).join(&mut self.after.persisted);
            }
        }
        if let (Some(selected), Some((_, row))) =
            (&self.after.selected, self.whole.entries.get_min())
        {
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

    /// The version v that is agreed on: `common` is v, `selected` is unset or v, every voter took or adopted this
    /// selection, discovery does not contradict, and no member is missing by the roster.
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
        let adopted = self.whole.tally.voters() == 0
            || self.whole.tally.all_adopted(self.after.selected_revision);
        (instructed && adopted).then(|| common.clone())
    }
}
