//! The naive model of reports, votes and agreement.

use std::collections::BTreeSet;

use synod_machine::{Answer, Command, StateStatus};
use synod_model::{
    Adopt, AgreementCause, AgreementChange, ApiVersion, ErrorKind, GroupResource, MemberId,
    Persisted, Refusal, Report, ReportEntry, StorageVersionHash, Switch, WallTime,
};

use super::discovery::{agreed_hash, contradicts};
use super::status::{Now, describe, is_objected_to};
use super::{Entry, Resource, World, no, topics};

impl World {
    pub(super) fn report(&mut self, report: &Report, wall: WallTime) -> Result<Answer, Refusal> {
        let member = self.fenced(&report.member, report.epoch)?;
        self.listen(&member, report.number, Command::Report(report.clone()))?;
        for (i, said) in report.entries.iter().enumerate() {
            let others = &report.entries[..i];
            let stands_twice = others.iter().any(|other| other.resource == said.resource);
            let is_sound = said.decodable.contains(said.stance.version());
            if stands_twice || !is_sound || !self.is_lawful(said) {
                return Err(no(ErrorKind::InvalidArgument));
            }
        }
        let replaces_all = report.replace || !member.reported;
        self.check_size(report, replaces_all)?;
        self.take_told_names(report)?;
        let named = report.entries.iter().map(|said| self.first(&said.resource));
        let named: BTreeSet<GroupResource> = named.collect();
        if named.len() < report.entries.len() {
            return Err(no(ErrorKind::InvalidArgument));
        }
        let before = self.clone();
        self.drain_what_changes(report, replaces_all, member.reported);
        let goes = |entry: &Entry| replaces_all || named.contains(&before.first(&entry.resource));
        self.entries
            .retain(|entry| entry.member != member.id || !goes(entry));
        for said in &report.entries {
            let old = before.entry_of(&said.resource, &member.id);
            let old = old.as_ref();
            let row = self.row_of(said, old, member.reported);
            self.entries.push(Entry {
                resource: said.resource.clone(),
                member: member.id.clone(),
                row,
            });
        }
        self.entries
            .sort_by(|a, b| (&a.resource, &a.member).cmp(&(&b.resource, &b.member)));
        self.dates = before.dates_of(report, wall);
        self.speaker = Some(member.id.clone());
        self.named = named;
        self.settle(&before, wall);
        for said in &report.entries {
            let collection = self.collections.get(&self.first(&said.resource));
            let strict = collection.is_some_and(|kept| kept.rules.strict_storage_version);
            if strict && !said.stance.is_voting() {
                return Err(no(ErrorKind::EncodingNotSelected));
            }
            self.check_decodable(said, &before, &member.id)?;
            before.check_date(said, wall)?;
        }
        for present in &mut self.members {
            if present.id == member.id {
                present.reported = true;
            }
        }
        self.clear_deadline(&super::Holder::Unreported(member.id.clone()));
        if !member.reported {
            self.settle_ungated(&member.id);
        }
        Ok(Answer::Reported(self.told_of(report)))
    }

    /// Refuses more entries than a member may have: those of the report, and those of other stores that stay.
    fn check_size(&self, report: &Report, replaces_all: bool) -> Result<(), Refusal> {
        let said = report.entries.iter();
        let named: BTreeSet<_> = said.map(|said| self.first(&said.resource)).collect();
        let stays = |entry: &&Entry| {
            entry.member == report.member && !named.contains(&self.first(&entry.resource))
        };
        let others = match replaces_all {
            true => 0,
            false => self.entries.iter().filter(stays).count(),
        };
        let all = (report.entries.len() + others) as u64;
        match all > u64::from(self.settings.report_entries_max) {
            true => Err(no(ErrorKind::TooLarge)),
            false => Ok(()),
        }
    }

    fn check_decodable(
        &self,
        said: &ReportEntry,
        before: &Self,
        id: &MemberId,
    ) -> Result<(), Refusal> {
        let refusal = |version: &ApiVersion| {
            no(ErrorKind::NotDecodable)
                .with("resource", said.resource.storage_version_name())
                .with("version", version)
        };
        let status = &self
            .resource(&said.resource)
            .expect("it was reported")
            .status;
        if let Some(selected) = &status.selected
            && !said.decodable.contains(selected)
        {
            return Err(refusal(selected));
        }
        let mut names = self.names(&said.resource).into_iter();
        let enforced = self.is_no_encoding(&said.resource)
            || names.any(|name| self.settings.enforce_persisted.contains(&name));
        if !enforced || !said.stance.is_voting() {
            return Ok(());
        }
        let no_less = !self.is_no_encoding(&said.resource)
            && before
                .entry_of(&said.resource, id)
                .is_some_and(|old| old.row.decodable.is_subset(&said.decodable));
        let stored = before
            .resource(&said.resource)
            .map(|kept| &kept.status.persisted);
        let known = stored.into_iter().flatten().filter_map(Persisted::version);
        let nobody = self.is_served(&said.resource) && before.entries_of(&said.resource).is_empty();
        for version in known.filter(|it| !nobody || self.is_needed_yet(status, it)) {
            if !no_less && !said.decodable.contains(version) {
                return Err(refusal(version));
            }
        }
        Ok(())
    }

    pub(super) fn adopt(&mut self, adopt: &Adopt, wall: WallTime) -> Result<Answer, Refusal> {
        let member = self.fenced(&adopt.member, adopt.epoch)?;
        self.listen(&member, adopt.number, Command::Adopt(adopt.clone()))?;
        let before = self.clone();
        let status = self
            .resource(&adopt.resource)
            .map(|kept| kept.status.clone());
        let entry = self
            .entries
            .iter_mut()
            .find(|entry| entry.resource == adopt.resource && entry.member == adopt.member)
            .filter(|entry| member.reported && entry.votes_for().is_some());
        let (Some(entry), Some(status)) = (entry, status) else {
            return Err(no(ErrorKind::NotFound));
        };
        if status.selected.is_none() || status.selected_revision != adopt.selected_revision {
            return Err(no(ErrorKind::Conflict));
        }
        entry.row.encoding = status.selected;
        entry.row.adopted_revision = Some(adopt.selected_revision);
        self.speaker = Some(adopt.member.clone());
        self.named.insert(self.first(&adopt.resource));
        self.settle(&before, wall);
        Ok(Answer::Done)
    }

    /// Evaluates each resource whose entries changed.
    pub(super) fn settle(&mut self, before: &Self, wall: WallTime) {
        let mut names: BTreeSet<GroupResource> = [&self.entries, &before.entries]
            .into_iter()
            .flatten()
            .map(|entry| self.first(&entry.resource))
            .collect();
        names.extend(self.renamed.iter().cloned());
        for name in names {
            let (then, now) = (before.entries_of(&name), self.entries_of(&name));
            let may_pass = self.named.contains(&name) && self.is_served(&name);
            let is_renamed = self.renamed.contains(&name);
            if then != now || may_pass || is_renamed {
                let mut causes = causes(&then, &now);
                let cause = causes.pop_first().filter(|_| causes.is_empty());
                // With time alone the date of a version may have come while its member speaks.
                let cause =
                    cause.or_else(|| self.speaker.clone().filter(|_| may_pass || is_renamed));
                let cause = cause.map(AgreementCause::Member);
                let ids = |of: &[Entry]| -> Vec<MemberId> {
                    of.iter().map(|entry| entry.member.clone()).collect()
                };
                self.note_who_was_heard(&name);
                self.remember_who_spoke(&name, &ids(&then), &ids(&now));
                self.settle_resource(&name, &then, cause, wall);
            }
        }
    }

    pub(super) fn settle_resource(
        &mut self,
        name: &GroupResource,
        then: &[Entry],
        cause: Option<AgreementCause>,
        wall: WallTime,
    ) {
        let revision = self.revision;
        let fresh = || Resource::new(name, self.new_metadata(wall));
        let known = self.resource(name).cloned();
        let is_new = known.is_none();
        let mut kept = known.unwrap_or_else(fresh);
        let mut old = kept.status.clone();
        let entries = self.entries_of(name);
        if then.is_empty() && !entries.is_empty() {
            self.begin_topic(&mut kept);
        }
        let status = &mut kept.status;
        let date = self.dates.get(name).copied();
        status.serve_until = date.or(status.serve_until);
        if self.renamed.contains(name) {
            status.on_trust = Some(revision);
        }
        if self.is_served(name) && then.is_empty() && !entries.is_empty() {
            self.forget_what_is_not_needed(status);
        }
        let votes = entries.iter().any(|entry| entry.votes_for().is_some());
        // A vote moves nothing while votes are off.
        let is_held_up = self.misses_a_named_member(name);
        if !is_held_up && (!votes || self.settings.votes == Switch::On) {
            status.selected = if self.is_feature(name) {
                topics::had_by_all(&entries, old.selected.as_ref())
            } else if self.is_served(name) {
                self.is_to_be_served(name, status, &entries)
            } else {
                select(&entries, old.selected.as_ref())
            };
        }
        if status.selected != old.selected {
            status.selected_revision = revision;
        }
        self.let_voters_take(name, status);
        let now = self.entries_of(name);
        // A voter that says the same again under another epoch has taken what it had: nothing has changed.
        if then != now {
            self.looked_at.insert(name.clone());
        }
        persist(status, &now);
        self.keep(kept);
        self.note_what_is_outside(name, false, is_new);
        self.doubt_newcomers(name, then);
        self.weigh_what_is_shown(name, then);
        if is_new {
            // Who is missing from the first report on ends no agreement.
            let mut asked = self.clone();
            asked.roster_begins_to_ask(name);
            old.absent = asked.absent(name);
        }
        self.weigh(name, &old, false, cause, wall);
        let entries = self.entries_of(name);
        let status = &mut self.resource_mut(name).status;
        if entries.is_empty() && !then.is_empty() && status.observation.is_some() {
            status.agreement_revision = revision;
        }
    }

    /// A voter without an encoding has nothing to drain: it takes the selected version.
    fn let_voters_take(&mut self, name: &GroupResource, status: &StateStatus) {
        let names = self.names(name);
        for entry in &mut self.entries {
            let waits = entry.votes_for().is_some() && entry.row.encoding.is_none();
            if names.contains(&entry.resource) && waits && status.selected.is_some() {
                entry.row.encoding = status.selected.clone();
                entry.row.adopted_revision = Some(status.selected_revision);
            }
        }
    }

    /// Determines what is agreed on now, and whether that is a new agreement: from the entries, from discovery, and
    /// from missing members.
    pub(super) fn weigh(
        &mut self,
        name: &GroupResource,
        old: &StateStatus,
        lapsed: bool,
        cause: Option<AgreementCause>,
        wall: WallTime,
    ) {
        self.end_answered(name);
        let revision = self.revision;
        let entries = self.entries_of(name);
        let begins_to_ask = self.roster_begins_to_ask(name);
        let absent = self.absent(name);
        let trusts_anew = self.trusts_anew(name);
        let by_labels = self.roster_asks_by_labels(name);
        let many = self.settings.agreements_kept as usize;
        let is_renamed = self.renamed.contains(name);
        let is_seen = !self.is_no_encoding(name);
        let kept = self.resource_mut(name);
        let status = &mut kept.status;
        status.common = common(&entries);
        status.absent = absent;
        if !by_labels {
            status.heard.clear();
        }
        if begins_to_ask || (trusts_anew && status.on_trust.is_none()) {
            status.on_trust = Some(revision);
        }
        status.contradicted = is_seen && contradicts(status.observation.as_ref(), &entries);
        let is_seen_anew = entries.is_empty() && shown(status) != shown(old);
        if lapsed
            || is_renamed
            || is_seen_anew
            || (&status.common, &status.selected) != (&old.common, &old.selected)
            || is_objected_to(status) != is_objected_to(old)
        {
            status.agreement_revision = revision;
        }
        status.agreed = agreed(status, &entries);
        status.agreed_hash = agreed_hash(status, &entries);
        let is_moved = topics::is_moved(&kept.status, old);
        if (self.looked_at.remove(name) || is_moved) && self.is_served(name) {
            self.forget_the_other(name);
        }
        let kept = self.resource_mut(name);
        let status = &mut kept.status;
        if status.agreed != old.agreed {
            kept.agreements.push(AgreementChange {
                from: old.agreed.clone(),
                to: status.agreed.clone(),
                revision,
                at: wall,
                cause,
                caller: None,
            });
            let surplus = kept.agreements.len().saturating_sub(many);
            kept.agreements.drain(..surplus);
        }
        let status = kept.status.clone();
        self.describe_all(name, &status, Now { wall, revision });
    }

    /// What follows for each name under which a store is reported.
    pub(super) fn describe_all(&mut self, name: &GroupResource, status: &StateStatus, now: Now) {
        for name in self.names(name) {
            let entries = self.entries_under(&name);
            let before = self.versions.remove(&name);
            if entries.is_empty() {
                continue;
            }
            let status = StateStatus {
                common: common(&entries),
                ..status.clone()
            };
            let fresh = self.new_metadata(now.wall);
            let version = match before {
                None => (fresh, describe(&status, &entries, None, now)),
                Some((metadata, old)) => (metadata, describe(&status, &entries, Some(&old), now)),
            };
            self.versions.insert(name, version);
        }
    }

    pub(super) fn entry(&self, resource: &GroupResource, member: &MemberId) -> Option<&Entry> {
        let mut all = self.entries.iter();
        all.find(|entry| entry.resource == *resource && entry.member == *member)
    }

    /// The entry of a member for a store, under whatever name.
    pub(super) fn entry_of(&self, resource: &GroupResource, member: &MemberId) -> Option<Entry> {
        let mut all = self.entries_of(resource).into_iter();
        all.find(|entry| entry.member == *member)
    }
}

/// The members whose entries differ.
fn causes(then: &[Entry], now: &[Entry]) -> BTreeSet<MemberId> {
    let only = |some: &[Entry], others: &[Entry]| -> Vec<MemberId> {
        let different = some.iter().filter(|entry| !others.contains(entry));
        different.map(|entry| entry.member.clone()).collect()
    };
    [only(then, now), only(now, then)]
        .into_iter()
        .flatten()
        .collect()
}

fn select(entries: &[Entry], selected: Option<&ApiVersion>) -> Option<ApiVersion> {
    let all_decode = |version: &ApiVersion| entries.iter().all(|entry| entry.decodes(version));
    let Some(selected) = selected else {
        let mut by_age: Vec<&Entry> = entries.iter().collect();
        by_age.sort_by_key(|entry| entry.row.since);
        let votes = by_age.into_iter().filter_map(Entry::votes_for);
        return votes.into_iter().find(|vote| all_decode(vote)).cloned();
    };
    let votes: Vec<&ApiVersion> = entries.iter().filter_map(Entry::votes_for).collect();
    let fixed: Vec<&ApiVersion> = entries.iter().filter_map(Entry::fixed_on).collect();
    for entry in entries {
        for version in &entry.row.decodable {
            let all_vote_for_it = votes.iter().all(|vote| *vote == version);
            let none_fixed_elsewhere = fixed.iter().all(|fixed| *fixed == version);
            let wanted = !votes.is_empty() || !fixed.is_empty();
            if wanted && all_decode(version) && all_vote_for_it && none_fixed_elsewhere {
                return Some(version.clone());
            }
        }
    }
    Some(selected.clone())
}

fn common(entries: &[Entry]) -> Option<ApiVersion> {
    let first = entries.first()?.row.encoding.clone();
    let equal = entries.iter().all(|entry| entry.row.encoding == first);
    first.filter(|_| equal)
}

/// What discovery shows, and whether that has expired.
fn shown(status: &StateStatus) -> Option<(BTreeSet<StorageVersionHash>, bool)> {
    let seen = status.observation.as_ref()?;
    Some((seen.hashes.clone(), seen.expired))
}

fn agreed(status: &StateStatus, entries: &[Entry]) -> Option<ApiVersion> {
    if is_objected_to(status) {
        return None;
    }
    let common = status.common.clone()?;
    let is_instructed = status
        .selected
        .as_ref()
        .is_none_or(|selected| *selected == common);
    let mut voters = entries.iter().filter(|entry| entry.votes_for().is_some());
    let adopted = voters.all(|entry| entry.row.adopted_revision == Some(status.selected_revision));
    (is_instructed && adopted).then_some(common)
}

fn persist(status: &mut StateStatus, entries: &[Entry]) {
    for entry in entries {
        if let Some(encoding) = &entry.row.encoding {
            let hash = StorageVersionHash::of_version(encoding, &entry.row.kind);
            join(&mut status.persisted, hash, Some(encoding));
        }
    }
    let Some(selected) = &status.selected else {
        return;
    };
    let mut named = status.persisted.iter().filter_map(Persisted::version);
    if !named.any(|version| version == selected)
        && let Some(first) = entries.first()
    {
        let hash = StorageVersionHash::of_version(selected, &first.row.kind);
        join(&mut status.persisted, hash, Some(&selected.clone()));
    }
}

/// Adds an encoding to the set once, with its version if it is known.
pub(super) fn join(
    persisted: &mut BTreeSet<Persisted>,
    hash: StorageVersionHash,
    version: Option<&ApiVersion>,
) {
    let mut kept = persisted.iter();
    let named = kept.any(|kept| kept.hash() == Some(hash) && kept.version().is_some());
    let nameless = Persisted::Version {
        hash,
        version: None,
    };
    match version {
        Some(version) => {
            persisted.remove(&nameless);
            persisted.insert(Persisted::Version {
                hash,
                version: Some(version.clone()),
            });
        }
        None if !named => {
            persisted.insert(nameless);
        }
        None => {}
    }
}
