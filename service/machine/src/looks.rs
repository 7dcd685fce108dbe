//! The looks of observers at the discovery of a resource, and their union, which is what discovery shows.
//!
//! A named observer gives its look server by server. What a server showed stays until that observer reaches the server
//! again, until an operator dismisses it, or until the members that the servers are have all reported something else. An
//! observer without a name has reached every server: its next look replaces the one before.
//!
//! While there is only the look of an observer without a name, it is the observation itself and is kept nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use synod_model::limits::{OBSERVED_SERVERS_MAX, OBSERVERS_MAX};
use synod_model::{
    DismissLooks, ErrorKind, GroupResource, Kind, LogTime, ObserveStorage, ObserverName, Persisted,
    Refusal, ServerLook, StorageVersionHash,
};

use crate::{EntryChange, EntryRow, Holder, Look, Observation, ServerEvidence, State, StateStatus};

/// The looks of all observers of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    /// The look of an observer without a name.
    pub(crate) unnamed: Option<Observation>,
    pub(crate) named: BTreeMap<ObserverName, Look>,
}

/// The looks of a resource that are past their deadlines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OverdueLooks {
    /// Whether the look of an observer without a name is.
    pub(crate) unnamed: bool,
    pub(crate) named: BTreeSet<ObserverName>,
}

impl OverdueLooks {
    /// The number of the looks.
    pub(crate) fn count(&self) -> usize {
        self.named.len() + usize::from(self.unnamed)
    }

    /// The look of one observer.
    pub(crate) fn of_observer(observer: Option<&ObserverName>) -> Self {
        Self {
            unnamed: observer.is_none(),
            named: observer.into_iter().cloned().collect(),
        }
    }
}

impl Looks {
    /// Whether the observer has a look that is not marked as expired.
    pub(crate) fn has_live(&self, observer: Option<&ObserverName>) -> bool {
        let expired = match observer {
            Some(observer) => self.named.get(observer).map(|look| look.expired),
            None => self.unnamed.as_ref().map(|seen| seen.expired),
        };
        expired == Some(false)
    }

    /// Whether any look is not marked as expired.
    pub(crate) fn is_any_live(&self) -> bool {
        let mut named = self.named.values();
        self.unnamed.as_ref().is_some_and(|seen| !seen.expired) || named.any(|look| !look.expired)
    }

    /// Whether there is any look.
    pub(crate) fn shows_anything(&self) -> bool {
        self.unnamed.is_some() || !self.named.is_empty()
    }

    /// Takes over what an observer shows now.
    pub(crate) fn record(&mut self, observe: &ObserveStorage) {
        let Some(observer) = &observe.observer else {
            let kind = self.unnamed.take().and_then(|before| before.kind);
            self.unnamed = Some(Observation {
                hashes: observe.hashes.clone(),
                kind: observe.kind.clone().or(kind),
                expired: false,
                overtaken: false,
            });
            return;
        };
        let look = self.named.entry(observer.clone()).or_default();
        look.record(observe);
        if look.servers.is_empty() {
            self.named.remove(observer);
        }
    }

    /// Removes what the operator dismisses. Returns whether anything was.
    pub(crate) fn dismiss(&mut self, dismiss: &DismissLooks) -> bool {
        let before = self.clone();
        if dismiss.observer.is_none() && dismiss.server.is_none() {
            self.unnamed = None;
        }
        let is_meant = |name: &ObserverName| dismiss.observer.as_ref().is_none_or(|it| it == name);
        for (_, look) in self.named.iter_mut().filter(|(name, _)| is_meant(name)) {
            match &dismiss.server {
                Some(server) => drop(look.servers.remove(server)),
                None => look.servers.clear(),
            }
        }
        self.named.retain(|_, look| !look.servers.is_empty());
        *self != before
    }

    /// Notes that members have reported, and ends what servers showed that have all reported something else since.
    pub(crate) fn supersede(&mut self, changes: &[EntryChange]) {
        for look in self.named.values_mut() {
            for evidence in look.servers.values_mut() {
                evidence.supersede(changes);
            }
        }
        let all = self.named.values().flat_map(|look| look.servers.values());
        let doubted = all.clone().flat_map(ServerEvidence::unanswered);
        let unnamed = self.unnamed.iter().flat_map(|seen| &seen.hashes);
        let standing: BTreeSet<_> = doubted.chain(unnamed).copied().collect();
        let answered: BTreeSet<_> = all
            .flat_map(|evidence| &evidence.superseded)
            .copied()
            .collect();
        for ended in answered.difference(&standing) {
            for look in self.named.values_mut() {
                look.end(*ended);
            }
        }
        self.named.retain(|_, look| !look.servers.is_empty());
    }

    /// The union of all looks, which is what discovery shows. It is of the past if any look is.
    fn union(&self) -> Option<Observation> {
        if self.named.is_empty() {
            return self.unnamed.clone();
        }
        let mut union = Observation {
            hashes: BTreeSet::new(),
            kind: None,
            expired: false,
            overtaken: false,
        };
        let mut kinds: BTreeSet<&Kind> = BTreeSet::new();
        for look in self.named.values() {
            union.hashes.extend(look.hashes());
            kinds.extend(&look.kind);
            union.expired |= look.expired;
            union.overtaken |= look.overtaken;
        }
        if let Some(seen) = &self.unnamed {
            union.hashes.extend(&seen.hashes);
            kinds.extend(&seen.kind);
            union.expired |= seen.expired;
            union.overtaken |= seen.overtaken;
        }
        union.kind = kinds.first().filter(|_| kinds.len() == 1).copied().cloned();
        Some(union)
    }
}

impl Look {
    /// The hashes that its servers show.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = StorageVersionHash> {
        let all = self.servers.values().flat_map(|evidence| &evidence.hashes);
        all.copied()
    }

    /// Whether the observer has reached every server that the look keeps.
    pub(crate) fn is_reached_by(&self, observe: &ObserveStorage) -> bool {
        let mut servers = self.servers.keys();
        servers.all(|server| observe.servers.contains_key(server))
    }

    fn record(&mut self, observe: &ObserveStorage) {
        if self.is_reached_by(observe) {
            self.expired = false;
            self.overtaken = false;
        }
        for (server, shown) in &observe.servers {
            if shown.hashes.is_empty() {
                self.servers.remove(server);
            } else {
                self.servers.insert(server.clone(), shown.into());
            }
        }
        if observe.kind.is_some() {
            self.kind.clone_from(&observe.kind);
        }
    }

    fn end(&mut self, hash: StorageVersionHash) {
        for evidence in self.servers.values_mut() {
            evidence.hashes.remove(&hash);
            evidence.superseded.remove(&hash);
        }
        self.servers
            .retain(|_, evidence| !evidence.hashes.is_empty());
    }
}

impl From<&ServerLook> for ServerEvidence {
    fn from(shown: &ServerLook) -> Self {
        Self {
            hashes: shown.hashes.clone(),
            member: shown.member.clone(),
            superseded: BTreeSet::new(),
        }
    }
}

impl ServerEvidence {
    /// The hashes other than which the server's member has not reported since.
    fn unanswered(&self) -> impl Iterator<Item = &StorageVersionHash> {
        self.hashes.difference(&self.superseded)
    }

    /// Adds what the same server has shown under another name. Nobody has answered all of it.
    fn join(&mut self, other: Self) {
        self.hashes.extend(other.hashes);
        if self.member != other.member {
            self.member = None;
        }
        self.superseded.clear();
    }

    fn supersede(&mut self, changes: &[EntryChange]) {
        let mut changes = changes.iter();
        let own = changes.find(|change| Some(&change.member) == self.member.as_ref());
        let said = |row: Option<&Arc<EntryRow>>| {
            let row = row?;
            let encoding = row.encoding.as_ref()?;
            Some(StorageVersionHash::of_version(encoding, &row.kind))
        };
        let before = own.and_then(|change| said(change.before.as_ref()));
        let Some(said) = own.and_then(|change| said(change.after.as_ref())) else {
            return;
        };
        // What it said already when the server showed otherwise answers nothing.
        if before == Some(said) {
            return;
        }
        self.superseded.clone_from(&self.hashes);
        self.superseded.remove(&said);
    }
}

impl StateStatus {
    /// The looks of all observers.
    pub(crate) fn all_looks(&self) -> Looks {
        let unnamed = if self.looks.is_empty() {
            &self.observation
        } else {
            &self.unnamed_look
        };
        Looks {
            unnamed: unnamed.clone(),
            named: self.looks.clone(),
        }
    }

    /// Puts the looks in place of those before.
    pub(crate) fn put_looks(&mut self, looks: Looks) {
        self.observation = looks.union();
        self.unnamed_look = looks.unnamed.filter(|_| !looks.named.is_empty());
        self.looks = looks.named;
    }

    /// Drops the look of an observer without a name: a store with several names is looked at by named observers, each of which
    /// tells what its servers show under all of them.
    pub(crate) fn forget_unnamed_look(&mut self, until: LogTime) {
        let mut looks = self.all_looks();
        let Some(seen) = looks.unnamed.take() else {
            return;
        };
        for hash in seen.hashes {
            let kept = self.hash_drains.entry(hash).or_insert(until);
            *kept = until.max(*kept);
        }
        self.persisted.insert(Persisted::Unknown);
        self.put_looks(looks);
    }

    /// Marks all looks of named observers as expired: they did not look at what the store has under its other names.
    pub(crate) fn expire_looks(&mut self) {
        let mut looks = self.all_looks();
        for look in looks.named.values_mut() {
            look.expired = true;
        }
        self.put_looks(looks);
    }

    /// Drops all looks. What they show drains.
    pub(crate) fn forget_looks(&mut self, until: LogTime) {
        for hash in self.shown_hashes() {
            let kept = self.hash_drains.entry(hash).or_insert(until);
            *kept = until.max(*kept);
        }
        self.put_looks(Looks::default());
    }

    /// Takes over what observers have shown of the same store under another name, as evidence of the past.
    pub(crate) fn join_looks(&mut self, others: Looks) {
        let mut looks = self.all_looks();
        for (observer, other) in others.named {
            let look = looks.named.entry(observer).or_default();
            look.expired = true;
            look.overtaken |= other.overtaken;
            look.kind = look.kind.take().or(other.kind);
            for (server, shown) in other.servers {
                let kept = look.servers.entry(server).or_insert_with(|| shown.clone());
                kept.join(shown);
            }
        }
        self.put_looks(looks);
    }

    /// The hashes that discovery shows, or showed last.
    pub(crate) fn shown_hashes(&self) -> BTreeSet<StorageVersionHash> {
        let observation = self.observation.as_ref();
        observation
            .map(|seen| seen.hashes.clone())
            .unwrap_or_default()
    }

    /// The holders of the deadlines of all looks.
    pub(crate) fn look_holders<'a>(
        &'a self,
        resource: &'a GroupResource,
    ) -> impl Iterator<Item = Holder> + 'a {
        let is_unnamed = match self.looks.is_empty() {
            true => self.observation.is_some(),
            false => self.unnamed_look.is_some(),
        };
        let unnamed = is_unnamed.then(|| Holder::Observation(resource.clone()));
        let named = self.looks.keys();
        unnamed.into_iter().chain(named.map(|observer| {
            let observer = observer.clone();
            Holder::Look(resource.clone(), observer)
        }))
    }
}

impl State {
    /// Whether any look at a resource's discovery is past its deadline, so that what discovery shows says nothing of the
    /// present.
    #[must_use]
    pub fn is_observation_over(&self, resource: &GroupResource) -> bool {
        let Some(kept) = self.state_of(resource) else {
            return false;
        };
        let status = &kept.row.status;
        let mut holders = status.look_holders(resource);
        let is_due = |holder: &Holder| self.deadlines.is_due(holder, self.log_time);
        let observation = status.observation.as_ref();
        observation.is_some_and(|seen| seen.expired) || holders.any(|holder| is_due(&holder))
    }

    /// Whether the look of this observer is past its deadline.
    pub(crate) fn is_look_over(
        &self,
        resource: &GroupResource,
        observer: Option<&ObserverName>,
        now: LogTime,
    ) -> bool {
        let Some(kept) = self.state_of(resource) else {
            return false;
        };
        let looks = kept.row.status.all_looks();
        let (expired, holder) = match observer {
            Some(observer) => (
                looks.named.get(observer).map(|look| look.expired),
                Holder::Look(resource.clone(), observer.clone()),
            ),
            None => (
                looks.unnamed.map(|seen| seen.expired),
                Holder::Observation(resource.clone()),
            ),
        };
        expired.is_some_and(|expired| expired || self.deadlines.is_due(&holder, now))
    }
}

/// Refuses a look beyond the bounds of observers and servers.
///
/// # Errors
///
/// `QUOTA`, with the bound.
pub(crate) fn check_bounds(looks: &Looks, observe: &ObserveStorage) -> Result<(), Refusal> {
    let resource = &observe.resource;
    let quota = |message: String| {
        let refusal = Refusal::new(ErrorKind::Quota, message);
        Err(refusal.with("resource", resource.storage_version_name()))
    };
    let observers = looks.named.len() + usize::from(looks.unnamed.is_some());
    let is_known = match &observe.observer {
        Some(observer) => looks.named.contains_key(observer),
        None => looks.unnamed.is_some(),
    };
    if !is_known && observers >= OBSERVERS_MAX {
        return quota(format!(
            "resource \"{resource}\": {OBSERVERS_MAX} observers look at it, and there may be no more: dismiss the look of one \
             that has ended, as with `synod observe --dismiss {resource} --observer NAME`"
        ));
    }
    let Some(observer) = &observe.observer else {
        return Ok(());
    };
    let kept = looks.named.get(observer).into_iter();
    let kept = kept.flat_map(|look| look.servers.keys());
    let kept = kept.filter(|server| !observe.servers.contains_key(*server));
    let reached = observe.servers.values();
    let servers = kept.count() + reached.filter(|shown| !shown.hashes.is_empty()).count();
    if servers > OBSERVED_SERVERS_MAX {
        return quota(format!(
            "resource \"{resource}\": observer \"{observer}\" would show {servers} servers, more than {OBSERVED_SERVERS_MAX}: \
             dismiss those that have ended, as with `synod observe --dismiss {resource} --observer {observer} --server URL`, \
             or divide them among observers"
        ));
    }
    Ok(())
}
