//! The naive model of named observers, whose looks are kept server by server.
//!
//! While a rule is worked out, `observation` is the look of an observer without a name; otherwise it is the union.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_machine::{Answer, EntryRow, Holder, Observation, ServerEvidence, StateStatus};
use synod_model::limits::{OBSERVED_SERVERS_MAX, OBSERVERS_MAX};
use synod_model::{
    AgreementCause, DismissLooks, ErrorKind, GroupResource, LogTime, ObserveStorage, ObserverName,
    Persisted, Refusal, StorageVersionHash, WallTime,
};

use super::discovery::contradicts;
use super::{Entry, World, no};

/// Takes the look of an observer without a name out of the union.
pub(super) fn unfold(status: &mut StateStatus) {
    if !status.looks.is_empty() {
        status.observation = status.unnamed_look.take();
    }
}

/// Makes the union of all looks again.
pub(super) fn fold(status: &mut StateStatus) {
    status.looks.retain(|_, look| !look.servers.is_empty());
    if status.looks.is_empty() {
        return;
    }
    status.unnamed_look = status.observation.take();
    let mut union = Observation {
        hashes: BTreeSet::new(),
        kind: None,
        expired: false,
        overtaken: false,
    };
    let mut kinds = BTreeSet::new();
    for look in status.looks.values() {
        for shown in look.servers.values() {
            union.hashes.extend(&shown.hashes);
        }
        kinds.extend(look.kind.clone());
        union.expired = union.expired || look.expired;
        union.overtaken = union.overtaken || look.overtaken;
    }
    if let Some(seen) = &status.unnamed_look {
        union.hashes.extend(&seen.hashes);
        kinds.extend(seen.kind.clone());
        union.expired = union.expired || seen.expired;
        union.overtaken = union.overtaken || seen.overtaken;
    }
    if kinds.len() == 1 {
        union.kind = kinds.pop_first();
    }
    status.observation = Some(union);
}

/// All that discovery shows.
pub(super) fn all_shown(status: &StateStatus) -> BTreeSet<StorageVersionHash> {
    let seen = status.observation.iter();
    seen.flat_map(|seen| seen.hashes.clone()).collect()
}

impl World {
    /// Whether there is no room for another observer, or for another server of this one.
    pub(super) fn has_no_room_for(&self, observe: &ObserveStorage) -> bool {
        let Some(kept) = self.resource(&observe.resource) else {
            return false;
        };
        let mut status = kept.status.clone();
        unfold(&mut status);
        let many = status.looks.len() + usize::from(status.observation.is_some());
        let Some(observer) = &observe.observer else {
            return status.observation.is_none() && many >= OBSERVERS_MAX;
        };
        let Some(look) = status.looks.get(observer) else {
            return many >= OBSERVERS_MAX;
        };
        let mut servers: BTreeSet<_> = look.servers.keys().collect();
        servers.extend(observe.servers.keys());
        servers.retain(|server| {
            let now = observe.servers.get(*server);
            now.is_none_or(|now| !now.hashes.is_empty())
        });
        servers.len() > OBSERVED_SERVERS_MAX
    }

    /// The look of a named observer. Returns whether what was agreed on by discovery alone is in doubt.
    pub(super) fn look_by_name(
        &mut self,
        observer: &ObserverName,
        observe: &ObserveStorage,
    ) -> bool {
        let name = &observe.resource;
        let nobody = self.entries_of(name).is_empty();
        let mut lapsed = false;
        if self.is_look_overdue(name, observer) {
            let before = self.clone();
            lapsed = self.lapse_by_name(name, observer, &before);
        }
        let before = all_shown(&self.resource(name).expect("it is known").status);
        let status = &mut self.resource_mut(name).status;
        let is_beside = status.observation.is_some();
        let live = status.looks.get(observer).is_some_and(|look| !look.expired);
        unfold(status);
        let look = status.looks.entry(observer.clone()).or_default();
        let missed = look
            .servers
            .keys()
            .any(|it| !observe.servers.contains_key(it));
        if !missed {
            look.expired = false;
            look.overtaken = false;
        }
        for (server, shown) in &observe.servers {
            look.servers.remove(server);
            if !shown.hashes.is_empty() {
                let evidence = ServerEvidence {
                    hashes: shown.hashes.clone(),
                    member: shown.member.clone(),
                    superseded: BTreeSet::new(),
                };
                look.servers.insert(server.clone(), evidence);
            }
        }
        if observe.kind.is_some() {
            look.kind = observe.kind.clone();
        }
        fold(status);
        let after = all_shown(status);
        if nobody && !live {
            status.persisted.insert(Persisted::Unknown);
        } else {
            for hash in after.difference(&before) {
                self.may_be_stored_as(name, *hash);
            }
        }
        if !live {
            let until = self.log_time.after(self.settings.write_grace);
            self.anything_lands_until(name, until);
        }
        self.drain_what_went(name, &before);
        let in_doubt = nobody && !live && is_beside;
        if in_doubt {
            self.begin_again(name, self.wall);
        }
        lapsed || in_doubt
    }

    /// Sets the deadline of a look that has reached all of its servers.
    pub(super) fn promise_look(&mut self, observer: &ObserverName, observe: &ObserveStorage) {
        let name = &observe.resource;
        let status = &self.resource(name).expect("it is known").status;
        let whole = status.looks.get(observer).is_some_and(|look| {
            let mut servers = look.servers.keys();
            servers.all(|server| observe.servers.contains_key(server))
        });
        if whole {
            let span = self.settings.discovery_period * 2 + Duration::from_millis(1);
            self.set_deadline(Holder::Look(name.clone(), observer.clone()), span);
        }
    }

    fn is_look_overdue(&self, name: &GroupResource, observer: &ObserverName) -> bool {
        let look = self
            .resource(name)
            .and_then(|kept| kept.status.looks.get(observer));
        let holder = Holder::Look(name.clone(), observer.clone());
        look.is_some_and(|look| look.expired || self.has_ended(&holder))
    }

    /// Ends a look that did not reach all of its servers in time. Returns whether that is news of the present.
    pub(super) fn lapse_by_name(
        &mut self,
        name: &GroupResource,
        observer: &ObserverName,
        before: &Self,
    ) -> bool {
        let old = before
            .resource(name)
            .and_then(|kept| kept.status.looks.get(observer));
        if old.is_none_or(|old| old.expired) {
            return false;
        }
        let entries = self.entries_of(name);
        let is_seen = !self.is_no_encoding(name);
        let until = self.log_time.after(self.settings.write_grace);
        let status = &mut self.resource_mut(name).status;
        let Some(look) = status.looks.get_mut(observer) else {
            return false;
        };
        look.expired = true;
        let hashes: BTreeSet<_> = look
            .servers
            .values()
            .flat_map(|it| it.hashes.clone())
            .collect();
        let seen = Observation {
            hashes: hashes.clone(),
            kind: None,
            expired: true,
            overtaken: false,
        };
        let lapses = entries.is_empty() || is_seen && contradicts(Some(&seen), &entries);
        if lapses {
            status.persisted.insert(Persisted::Unknown);
        }
        unfold(status);
        fold(status);
        for hash in hashes {
            self.drain_hash(name, hash, until);
        }
        if entries.is_empty() {
            self.begin_again(name, self.wall);
        }
        lapses
    }

    /// Weighs the looks of named observers after the entries have changed.
    pub(super) fn weigh_looks(&mut self, name: &GroupResource, then: &[Entry], in_doubt: bool) {
        let now = self.entries_of(name);
        let until = self.log_time.after(self.settings.write_grace);
        let said: Vec<&Entry> = now.iter().filter(|entry| !then.contains(entry)).collect();
        let last_gone = now.is_empty() && !then.is_empty();
        let status = &mut self.resource_mut(name).status;
        let mut drains = Vec::new();
        for look in status.looks.values_mut() {
            if !said.is_empty() {
                look.overtaken = true;
            }
            if last_gone && !look.expired && (look.overtaken || in_doubt) {
                look.expired = true;
                drains.extend(look.servers.values().flat_map(|it| it.hashes.clone()));
            }
            for shown in look.servers.values_mut() {
                let is_own = |entry: &&Entry| Some(&entry.member) == shown.member.as_ref();
                let own = said.iter().copied().find(is_own);
                let old = then.iter().find(is_own);
                let stays = |row: &EntryRow| {
                    let old = old.map(|old| (&old.row.encoding, &old.row.kind));
                    old == Some((&row.encoding, &row.kind))
                };
                if let Some(row) = own.map(|entry| &entry.row)
                    && let Some(encoding) = &row.encoding
                    && !stays(row)
                {
                    shown.superseded = shown.hashes.clone();
                    let same = StorageVersionHash::of_version(encoding, &row.kind);
                    shown.superseded.remove(&same);
                }
            }
        }
        for hash in drains {
            self.drain_hash(name, hash, until);
        }
    }

    /// Ends what all servers have shown whose members have since reported another encoding.
    pub(super) fn end_answered(&mut self, name: &GroupResource) {
        let status = &mut self.resource_mut(name).status;
        let before = all_shown(status);
        unfold(status);
        for hash in all_named(status) {
            let unnamed = status.observation.as_ref();
            let by_unnamed = unnamed.is_some_and(|seen| seen.hashes.contains(&hash));
            let mut servers = status.looks.values().flat_map(|look| look.servers.values());
            let answered =
                servers.all(|it| !it.hashes.contains(&hash) || it.superseded.contains(&hash));
            if answered && !by_unnamed {
                for look in status.looks.values_mut() {
                    for shown in look.servers.values_mut() {
                        shown.hashes.remove(&hash);
                        shown.superseded.remove(&hash);
                    }
                    look.servers.retain(|_, shown| !shown.hashes.is_empty());
                }
            }
        }
        fold(status);
        self.drain_what_went(name, &before);
    }

    /// What is shown no more drains, and looks that are gone have no deadline.
    pub(super) fn drain_what_went(
        &mut self,
        name: &GroupResource,
        before: &BTreeSet<StorageVersionHash>,
    ) {
        let until: LogTime = self.log_time.after(self.settings.write_grace);
        let status = self.resource(name).expect("it is known").status.clone();
        for hash in before.difference(&all_shown(&status)) {
            self.drain_hash(name, *hash, until);
        }
        let named = status.looks.clone();
        let unnamed = match named.is_empty() {
            true => status.observation.is_some(),
            false => status.unnamed_look.is_some(),
        };
        self.deadlines.retain(|(holder, _)| match holder {
            Holder::Look(kept, observer) => kept != name || named.contains_key(observer),
            Holder::Observation(kept) => kept != name || unnamed,
            _ => true,
        });
    }

    pub(super) fn dismiss(
        &mut self,
        dismiss: &DismissLooks,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let name = &dismiss.resource;
        let Some(kept) = self.resource(name) else {
            return Err(no(ErrorKind::NotFound));
        };
        let old = kept.status.clone();
        let status = &mut self.resource_mut(name).status;
        unfold(status);
        if dismiss.observer.is_none() && dismiss.server.is_none() {
            status.observation = None;
        }
        for (observer, look) in &mut status.looks {
            if dismiss.observer.as_ref().is_none_or(|it| it == observer) {
                look.servers
                    .retain(|server, _| dismiss.server.as_ref().is_some_and(|it| it != server));
            }
        }
        fold(status);
        if *status == old {
            return Err(no(ErrorKind::NotFound));
        }
        self.drain_what_went(name, &all_shown(&old));
        self.weigh(name, &old, false, Some(AgreementCause::Observed), wall);
        Ok(Answer::Done)
    }
}

fn all_named(status: &StateStatus) -> BTreeSet<StorageVersionHash> {
    let servers = status.looks.values().flat_map(|look| look.servers.values());
    servers.flat_map(|shown| shown.hashes.clone()).collect()
}
