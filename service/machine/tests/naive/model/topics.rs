//! The naive model of what keys and features demand beside what encodings do.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use synod_machine::StateStatus;
use synod_model::{
    Absent, ApiVersion, ErrorKind, GroupResource, LogTime, Persisted, Refusal, Report, ReportEntry,
    Revision, ServeUntil, WallTime,
};

use super::{Deadline, Entry, Holder, Resource, World, no};

impl World {
    pub(super) fn is_key(&self, name: &GroupResource) -> bool {
        self.has_topics() && (name.group() == "keys.synod" || name.group().ends_with(".keys.synod"))
    }

    pub(super) fn is_feature(&self, name: &GroupResource) -> bool {
        self.has_topics() && name.group() == "features.synod"
    }

    pub(super) fn is_served(&self, name: &GroupResource) -> bool {
        self.has_topics() && name.group().ends_with(".served.synod")
    }

    pub(super) fn is_no_encoding(&self, name: &GroupResource) -> bool {
        self.is_key(name) || self.is_feature(name) || self.is_served(name)
    }

    /// Whether an entry votes where it must, and has all levels of a feature up to the one that it prefers.
    pub(super) fn is_lawful(&self, said: &ReportEntry) -> bool {
        if !self.names_equivalents_alone(said) {
            return false;
        }
        if said.serve_until.is_some() && !said.resource.group().ends_with(".served.synod") {
            return false;
        }
        if self.is_no_encoding(&said.resource) && !said.stance.is_voting() {
            return false;
        }
        if self.is_served(&said.resource) {
            let can = |value: &str| said.decodable.iter().any(|one| one.as_str() == value);
            let others = said.decodable.len() - usize::from(can("served"));
            return can("withdrawn") && others == 1;
        }
        if !self.is_feature(&said.resource) {
            return true;
        }
        let mut levels: Vec<u32> = said.decodable.iter().map(level).collect();
        levels.sort_unstable();
        levels.into_iter().eq(1..=level(said.stance.version()))
    }

    /// Whatever was agreed on of a topic before there were topics is in doubt, and is looked at.
    pub(super) fn learn_topics(&mut self, wall: WallTime) {
        let names: Vec<_> = self
            .resources
            .iter()
            .map(|kept| kept.name.clone())
            .collect();
        for name in names {
            if !self.is_no_encoding(&name) {
                continue;
            }
            self.reset_one(&name, wall);
            self.set_deadline(Holder::Topic(name), Duration::ZERO);
        }
    }

    /// What is known of a topic when it is reported and nobody reported it: nobody has used a feature that was never
    /// reported, and what a collection has declared of a key is not believed.
    pub(super) fn begin_topic(&self, kept: &mut Resource) {
        let (name, status) = (&kept.name, &mut kept.status);
        let is_never_stored = self.is_feature(name) || self.is_served(name);
        let by_strangers = self.is_served(name) && self.strangers_write_until > self.log_time;
        if is_never_stored && self.resource(name).is_none() && !by_strangers {
            status.persisted.clear();
        }
        let was_selected = status.selected_revision > Revision::ZERO;
        if self.is_key(name) && (!was_selected || self.collections.contains_key(name)) {
            status.persisted.insert(Persisted::Unknown);
        }
    }

    /// Machine version 1 takes whatever is reported for an encoding.
    fn has_topics(&self) -> bool {
        self.raised_to.is_some()
    }
}

impl World {
    /// The dates that count once a report is taken. The later of two counts; one that is named again moves only if it is
    /// further away by a clock that is right enough to have been allowed to name it.
    pub(super) fn dates_of(&self, report: &Report, wall: WallTime) -> Dates {
        let mut dates = Dates::new();
        for said in &report.entries {
            let date = said.serve_until.filter(|_| self.is_served(&said.resource));
            let Some(date) = date else {
                continue;
            };
            let left_ms = date.as_millis().saturating_sub(wall.as_millis());
            let log = self.log_time.after(Duration::from_millis(left_ms));
            let before = self.resource(&said.resource);
            let before = before.and_then(|kept| kept.status.serve_until);
            let after = match before {
                Some(kept) if kept.date >= date => {
                    let is_much_later = log.as_millis() > kept.log.as_millis() + 60_000;
                    let counts = is_much_later && left_ms > 0 && !is_far(date, wall);
                    let log = if counts { log } else { kept.log };
                    ServeUntil { log, ..kept }
                }
                _ => ServeUntil {
                    date,
                    log: log.max(before.map_or(LogTime::ZERO, |kept| kept.log)),
                },
            };
            dates.insert(said.resource.clone(), after);
        }
        dates
    }

    /// Refuses a new date that is too far away.
    pub(super) fn check_date(&self, said: &ReportEntry, wall: WallTime) -> Result<(), Refusal> {
        let kept = self.resource(&said.resource);
        let kept = kept.and_then(|kept| kept.status.serve_until);
        match said.serve_until.filter(|_| self.is_served(&said.resource)) {
            Some(date) if kept.is_none_or(|kept| kept.date < date) && is_far(date, wall) => {
                Err(no(ErrorKind::InvalidArgument))
            }
            _ => Ok(()),
        }
    }

    /// Whether a version is served now: from when everybody would, until nobody would and the date has come.
    pub(super) fn is_to_be_served(
        &self,
        name: &GroupResource,
        status: &StateStatus,
        entries: &[Entry],
    ) -> Option<ApiVersion> {
        let selected = status.selected.as_ref().map(ApiVersion::as_str);
        let all_prefer = |value: &str| {
            let mut votes = entries.iter().map(Entry::votes_for);
            votes.all(|vote| vote.is_some_and(|vote| vote.as_str() == value))
        };
        let named = |value: &str| ApiVersion::parse(value).expect("a legal value");
        let all_can = |value: &str| entries.iter().all(|entry| entry.decodes(&named(value)));
        let is_promised = status
            .serve_until
            .is_some_and(|until| until.log > self.log_time);
        let drain = status.drains.get(&named("withdrawn"));
        let is_hindered = self.absent(name) != Absent::default()
            || drain.is_some_and(|until| *until > self.log_time);
        let wanted = match selected {
            _ if entries.is_empty() => return status.selected.clone(),
            Some("served") if all_prefer("withdrawn") && !is_promised => "withdrawn",
            Some("served") => return status.selected.clone(),
            Some("withdrawn") if all_prefer("served") && !is_hindered => "served",
            Some("withdrawn") => "withdrawn",
            _ if all_can("served") && is_promised => "served",
            _ if all_prefer("served") && !is_hindered => "served",
            _ => "withdrawn",
        };
        match all_can(wanted) {
            true => Some(named(wanted)),
            false => status.selected.clone(),
        }
    }

    /// What is needed of a version that nobody reports: after its date, only what may still be done.
    pub(super) fn is_needed_yet(&self, status: &StateStatus, value: &ApiVersion) -> bool {
        let date = status.serve_until.map(|until| until.log);
        let drain = status.drains.get(value).copied();
        date.max(drain).is_some_and(|until| until > self.log_time)
    }

    /// When a version is reported again that nobody reports.
    pub(super) fn forget_what_is_not_needed(&self, status: &mut StateStatus) {
        let needed = |kept: &Persisted| match kept.version() {
            Some(value) => self.is_needed_yet(status, value),
            None => true,
        };
        let all = status.persisted.iter();
        let left = all.filter(|kept| needed(kept)).cloned().collect();
        status.persisted = left;
    }

    /// Nothing is stored of what was served: once members agree, only what may still be done by those that are gone counts.
    pub(super) fn forget_the_other(&mut self, name: &GroupResource) {
        let mut status = self.resource(name).expect("it is known").status.clone();
        let Some(agreed) = status.agreed.clone() else {
            return;
        };
        let mut left = BTreeSet::new();
        for kept in &status.persisted {
            let until = match kept.version() {
                Some(version) if *version == agreed => None,
                Some(version) => status.drains.get(version).copied().or(Some(LogTime::ZERO)),
                None => Some(self.strangers_write_until),
            };
            if until.is_none_or(|until| until > self.log_time) {
                left.insert(kept.clone());
            }
        }
        status.persisted = left;
        if self.has_roster(name) {
            status.on_trust = None;
        }
        self.resource_mut(name).status = status;
    }

    /// Whatever is over by now for a topic, as the leader has found.
    pub(super) fn pass(&mut self, named: &BTreeSet<GroupResource>, wall: WallTime) {
        for name in named {
            if !self.has_ended(&Holder::Topic(name.clone())) {
                continue;
            }
            self.passed.insert(name.clone());
            let then = self.entries_of(name);
            self.looked_at.insert(name.clone());
            self.settle_resource(name, &then, None, wall);
        }
    }

    /// What will be over next for each topic that this command has changed or looked at.
    pub(super) fn look_ahead(&mut self, before: &Self) {
        let now = self.log_time;
        let mut names: BTreeSet<_> = self
            .resources
            .iter()
            .map(|kept| kept.name.clone())
            .collect();
        names.extend(before.resources.iter().map(|kept| kept.name.clone()));
        for name in names {
            let status = self.own(&name).map(|kept| kept.status.clone());
            let was = before.own(&name).map(|kept| &kept.status);
            if status.as_ref() == was && !self.passed.contains(&name) {
                continue;
            }
            let holder = Holder::Topic(name.clone());
            let is_due = self.has_ended(&holder) && !self.passed.contains(&name);
            if is_due && status.is_some() {
                continue;
            }
            self.clear_deadline(&holder);
            let Some(status) = status.filter(|_| self.is_served(&name)) else {
                continue;
            };
            let mut times = vec![status.serve_until.map_or(LogTime::ZERO, |until| until.log)];
            let is_served = status
                .selected
                .as_ref()
                .is_some_and(|it| it.as_str() == "served");
            let drains = status.drains.iter();
            let withdrawn = drains.filter(|(it, _)| it.as_str() == "withdrawn" && !is_served);
            times.extend(withdrawn.map(|(_, until)| *until));
            for kept in &status.persisted {
                if status.agreed.is_some() && kept.version() != status.agreed.as_ref() {
                    times.push(match kept.version() {
                        Some(version) => status.drains.get(version).copied().unwrap_or_default(),
                        None => self.strangers_write_until,
                    });
                }
            }
            times.sort_unstable();
            if let Some(at) = times.into_iter().find(|at| *at > now) {
                let ttl = Duration::ZERO;
                self.deadlines.push((holder, Deadline { at, ttl }));
            }
        }
    }
}

/// By topic, until when its version is served.
pub(super) type Dates = BTreeMap<GroupResource, ServeUntil>;

fn is_far(date: WallTime, wall: WallTime) -> bool {
    const MOST_MS: u64 = 1_096 * 24 * 60 * 60 * 1_000;
    date.as_millis() > wall.as_millis() + MOST_MS
}

/// The highest level of a feature that every entry has, if it is above the selected one.
pub(super) fn had_by_all(entries: &[Entry], selected: Option<&ApiVersion>) -> Option<ApiVersion> {
    let levels = entries.iter().flat_map(|entry| &entry.row.decodable);
    let had = levels.filter(|one| entries.iter().all(|entry| entry.decodes(one)));
    let now = selected.map_or(0, level);
    let above = had.filter(|one| level(one) > now);
    above.max_by_key(|one| level(one)).or(selected).cloned()
}

fn level(of: &ApiVersion) -> u32 {
    let digits = of.as_str().trim_start_matches('v');
    digits.parse().expect("the logs have such levels alone")
}

/// Whether a status has moved. That somebody is forgotten whom nobody asks for moves nothing.
pub(super) fn is_moved(now: &StateStatus, old: &StateStatus) -> bool {
    let heard = old.heard.clone();
    StateStatus {
        heard,
        ..now.clone()
    } != *old
}
