//! The naive model of migrations, and of what is persisted.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_machine::{Answer, Holder, ProgressRow};
use synod_model::{
    AbortCause, Assumption, Claim, ClaimMigration, ClaimToken, ErrorKind, FailMigration,
    FailureClass, GroupResource, Migration, MigrationFailure, MigrationId, MigrationPhase,
    MigrationReason, MigrationTarget, Persisted, Refusal, ReportMigrationProgress, Revision,
    StartMigration, StorageVersionHash, Switch, WallTime,
};

use super::late_writes::ClaimEnd;
use super::status::Now;
use super::{Resource, World, no};

impl World {
    pub(super) fn start(&mut self, start: &StartMigration) -> Result<Answer, Refusal> {
        let taken = |one: &Migration| start.alias.is_some() && one.alias == start.alias;
        if self.migrations.iter().any(taken) {
            return Err(no(ErrorKind::AlreadyExists));
        }
        if self.resource(&start.resource).is_none() {
            return Err(no(ErrorKind::NotFound));
        }
        let Some(agreement) = self.agreement(&start.resource) else {
            return Err(no(ErrorKind::NoAgreement));
        };
        self.check_seen(&start.resource)?;
        let stands = self.unfinished(&start.resource, agreement);
        if stands.iter().any(|other| other.reason == start.reason) {
            return Err(no(ErrorKind::AlreadyExists));
        }
        let id = self.create(&start.resource, start.reason);
        self.migration_mut(&id).alias.clone_from(&start.alias);
        Ok(Answer::MigrationStarted(id))
    }

    pub(super) fn claim(&mut self, claim: &ClaimMigration) -> Result<Answer, Refusal> {
        let migration = self.migration(&claim.id)?;
        let resource = claim.id.resource();
        let mut others = self.migrations.iter().filter(|other| {
            let is_other = other.id.resource() == resource && other.id != claim.id;
            let is_older = other.id.number() < claim.id.number();
            is_other && other.is_open() && (is_older || other.claim.is_some())
        });
        let is_first = others.next().is_none();
        if migration.phase != MigrationPhase::Pending || !is_first {
            return Err(no(ErrorKind::Conflict));
        }
        self.check_seen(resource)?;
        let walks = self.walk_of(claim, &migration)?;
        let status = &self.resource(resource).expect("it has a migration").status;
        let others = status
            .drains
            .iter()
            .filter(|(version, _)| Some(*version) != migration.target.version.as_ref());
        let shown = status
            .hash_drains
            .iter()
            .filter(|(hash, _)| **hash != migration.target.hash);
        let last = others.map(|(_, until)| *until).max().unwrap_or_default();
        let last = last.max(shown.map(|(_, until)| *until).max().unwrap_or_default());
        let last = last.max(self.strangers_write_until);
        let last = last.max(self.lands_until(resource, migration.target.hash, claim.fenced));
        let is_counted = self.is_counted(resource);
        if last > self.log_time && !is_counted {
            let left = last.since(self.log_time).as_millis();
            return Err(no(ErrorKind::Draining).with("retry_after_ms", left));
        }
        let elsewhere = |kept: &ProgressRow| kept.walks != walks;
        self.progress
            .retain(|(id, kept)| *id != claim.id || !elsewhere(kept));
        let token = ClaimToken::new(self.revision);
        let since = self.counts_late_writes().then_some(self.log_time);
        let migration = self.migration_mut(&claim.id);
        migration.phase = MigrationPhase::Running;
        migration.claim = Some(Claim {
            worker: claim.worker.clone(),
            token,
            ttl: claim.ttl,
            fenced: claim.fenced,
            since,
            walks,
        });
        self.set_deadline(Holder::Claim(claim.id.clone()), claim.ttl.duration());
        let progress = self.progress.iter().find(|(id, _)| *id == claim.id);
        Ok(Answer::MigrationClaimed {
            token,
            progress: progress
                .map(|(_, row)| row.progress.clone())
                .unwrap_or_default(),
        })
    }

    pub(super) fn tell(&mut self, report: &ReportMigrationProgress) -> Result<Answer, Refusal> {
        let migration = self.claimed(&report.id, report.token)?;
        let held = migration.claim.expect("it is claimed");
        self.prolong(Holder::Claim(report.id.clone()), held.ttl.duration());
        let now = self.log_time;
        let kept = self.progress.iter().find(|(id, _)| *id == report.id);
        let mut shown_at = kept.map_or(now, |(_, row)| row.shown_at);
        let long_ago = kept.is_none() || now.since(shown_at) >= Duration::from_secs(5);
        let said = &report.progress;
        let is_news = said.done != migration.done || said.estimate != migration.estimate;
        if is_news && long_ago {
            let migration = self.migration_mut(&report.id);
            migration.done = said.done;
            migration.estimate = said.estimate;
            shown_at = now;
        }
        self.progress.retain(|(id, _)| *id != report.id);
        let row = ProgressRow {
            progress: said.clone(),
            shown_at,
            walks: held.walks,
        };
        self.progress.push((report.id.clone(), row));
        Ok(Answer::Done)
    }

    pub(super) fn complete(
        &mut self,
        id: &MigrationId,
        token: ClaimToken,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let migration = self.migration(id)?;
        if self.agreement(id.resource()) != Some(migration.agreement_revision) {
            return Err(no(ErrorKind::NoAgreement));
        }
        self.check_seen(id.resource())?;
        let target = self.claimed(id, token)?.target;
        let stored = self.stored(id.resource());
        let is_other = |kept: &Persisted| {
            kept.version() != target.version.as_ref() && kept.hash() != Some(target.hash)
        };
        if stored.iter().any(is_other) {
            return Err(no(ErrorKind::Conflict));
        }
        let said = self.progress.iter().find(|(kept, _)| kept == id);
        let said = said.map(|(_, row)| row.progress.clone());
        let is_rostered = self.has_roster(id.resource());
        let begun = self.migration(id)?.metadata.create_revision;
        let status = &mut self.resource_mut(id.resource()).status;
        if is_rostered && status.on_trust.is_some_and(|since| begun >= since) {
            status.on_trust = None;
        }
        let is_on_trust = status.on_trust.is_some();
        self.settle_doubts(id);
        let assumptions = self.assumed_by_success(id.resource());
        let answer = if self.counts_late_writes() {
            self.migration_mut(id).assumptions = assumptions.clone();
            Answer::MigrationSucceeded { assumptions }
        } else {
            let assumption = is_on_trust.then_some(Assumption::NoRoster);
            self.migration_mut(id).assumption = assumption;
            Answer::MigrationCompleted(assumption)
        };
        let migration = self.migration_mut(id);
        migration.phase = MigrationPhase::Succeeded;
        migration.claim = None;
        migration.failure = None;
        migration.ended = Some(wall);
        if let Some(said) = said {
            migration.done = said.done;
            migration.estimate = said.estimate;
        }
        self.clear_deadline(&Holder::Claim(id.clone()));
        let all = self.all_migrated(id.resource());
        self.now_persisted(id.resource(), all, false, wall);
        Ok(answer)
    }

    pub(super) fn fail(&mut self, fail: &FailMigration, wall: WallTime) -> Result<Answer, Refusal> {
        self.claimed(&fail.id, fail.token)?;
        self.end_of_claim(&fail.id, Self::stopped(fail.stop));
        let migration = self.migration_mut(&fail.id);
        migration.phase = MigrationPhase::Failed;
        migration.claim = None;
        migration.failures += 1;
        migration.failure = Some(MigrationFailure {
            class: fail.class,
            reason: fail.reason.clone(),
        });
        migration.ended = Some(wall);
        let failures = migration.failures;
        self.clear_deadline(&Holder::Claim(fail.id.clone()));
        let can_help = matches!(fail.class, FailureClass::Transient | FailureClass::Rejected);
        if can_help && failures < 8 {
            let seconds = [1, 2, 4, 8, 16, 32, 64][failures as usize - 1];
            self.set_deadline(Holder::Retry(fail.id.clone()), Duration::from_secs(seconds));
        }
        Ok(Answer::Done)
    }

    pub(super) fn abort(&mut self, id: &MigrationId, wall: WallTime) -> Result<Answer, Refusal> {
        match self.migration(id)?.phase {
            MigrationPhase::Succeeded | MigrationPhase::Aborted => Err(no(ErrorKind::Conflict)),
            _ => {
                self.call_off(id, AbortCause::Requested, wall);
                Ok(Answer::Done)
            }
        }
    }

    pub(super) fn retry(&mut self, id: &MigrationId) -> Result<Answer, Refusal> {
        let migration = self.migration(id)?;
        if migration.phase != MigrationPhase::Failed {
            return Err(no(ErrorKind::Conflict));
        }
        if self.agreement(id.resource()) != Some(migration.agreement_revision) {
            return Err(no(ErrorKind::NoAgreement));
        }
        self.check_seen(id.resource())?;
        let migration = self.migration_mut(id);
        migration.phase = MigrationPhase::Pending;
        migration.failures = 0;
        migration.ended = None;
        self.clear_deadline(&Holder::Retry(id.clone()));
        Ok(Answer::Done)
    }

    /// Updates migrations after agreements changed: aborts those of another agreement, and creates one where something
    /// else is persisted than what is agreed on.
    pub(super) fn follow(&mut self, before: &Self, creates: bool, wall: WallTime) {
        let names: Vec<GroupResource> = self.resources.iter().map(|r| r.name.clone()).collect();
        for name in names {
            let agreement = self.agreement(&name);
            let before_it = before.own(&name).and_then(|_| before.agreement(&name));
            if agreement != before_it {
                let cause = match agreement {
                    None => AbortCause::NoAgreement,
                    Some(_) => AbortCause::AgreementMoved,
                };
                for migration in self.migrations.clone() {
                    let other = Some(migration.agreement_revision) != agreement;
                    if migration.id.resource() == &name && other {
                        if migration.is_open() {
                            self.call_off(&migration.id, cause, wall);
                        }
                        self.clear_deadline(&Holder::Retry(migration.id));
                    }
                }
            }
            let persisted = |world: &Self| world.own(&name).map(|r| r.status.persisted.clone());
            let changed = agreement != before_it
                || persisted(self) != persisted(before)
                || self.begun_again.contains(&name);
            let is_on = self.settings.migrations == Switch::On;
            let was_off = before.settings.migrations == Switch::Off && !self.is_called_off(&name);
            let called = changed || was_off;
            if creates && is_on && called && self.is_to_be_migrated(&name) {
                let reason = match self.is_key(&name) {
                    true => MigrationReason::RewriteAll,
                    false => MigrationReason::Agreement,
                };
                if !self.is_feature(&name) && !self.is_served(&name) {
                    self.create(&name, reason);
                }
            }
        }
        self.begun_again.clear();
    }

    /// Whether something else is persisted than what is agreed on, and no migration covers it.
    pub(super) fn is_to_be_migrated(&self, name: &GroupResource) -> bool {
        let Some(agreement) = self.agreement(name) else {
            return false;
        };
        let persisted = &self.resource(name).expect("it agrees").status.persisted;
        *persisted != self.all_migrated(name) && self.unfinished(name, agreement).is_empty()
    }

    pub(super) fn create(&mut self, name: &GroupResource, reason: MigrationReason) -> MigrationId {
        let status = self
            .resource(name)
            .expect("it has an agreement")
            .status
            .clone();
        let target = match &status.agreed {
            None => MigrationTarget {
                hash: status.agreed_hash.expect("it is observed"),
                version: None,
            },
            Some(agreed) => MigrationTarget {
                hash: StorageVersionHash::of_version(agreed, &self.entries_of(name)[0].row.kind),
                version: Some(agreed.clone()),
            },
        };
        let id = MigrationId::new(name.clone(), self.revision);
        let mut metadata = self.new_metadata(self.wall);
        metadata.resource_version = self.revision;
        self.migrations.push(Migration {
            id: id.clone(),
            metadata,
            target,
            agreement_revision: status.agreement_revision,
            reason,
            phase: MigrationPhase::Pending,
            claim: None,
            failures: 0,
            failure: None,
            aborted: None,
            done: 0,
            estimate: None,
            ended: None,
            assumption: None,
            assumptions: BTreeSet::new(),
            equivalents: self.names(name).into_iter().skip(1).collect(),
            alias: None,
        });
        self.migrations.sort_by(|a, b| a.id.cmp(&b.id));
        self.forget_ended(name);
        id
    }

    /// Removes the oldest ended migrations beyond the setting, unless one ended in this command.
    fn forget_ended(&mut self, name: &GroupResource) {
        let agreement = self.agreement(name);
        let ended = self.migrations.iter().filter(|migration| {
            let over = match migration.phase {
                MigrationPhase::Succeeded | MigrationPhase::Aborted => true,
                MigrationPhase::Failed => Some(migration.agreement_revision) != agreement,
                _ => false,
            };
            migration.id.resource() == name && over
        });
        let ended: Vec<MigrationId> = ended.map(|migration| migration.id.clone()).collect();
        let surplus = ended
            .len()
            .saturating_sub(self.settings.migrations_kept as usize);
        for id in &ended[..surplus] {
            if !self.ended_now.contains(id) {
                self.migrations.retain(|migration| migration.id != *id);
                self.progress.retain(|(kept, _)| kept != id);
                self.clear_deadline(&Holder::Claim(id.clone()));
                self.clear_deadline(&Holder::Retry(id.clone()));
            }
        }
    }

    /// Removes everything kept of the migrations and the store of a forgotten resource.
    pub(super) fn forget_migrations(&mut self, name: &GroupResource) {
        let of_it = |id: &MigrationId| id.resource() == name;
        self.migrations.retain(|migration| !of_it(&migration.id));
        self.progress.retain(|(id, _)| !of_it(id));
        self.heartbeats.retain(|(kept, _)| kept != name);
        self.deadlines.retain(|(holder, _)| match holder {
            Holder::Claim(id) | Holder::Retry(id) => !of_it(id),
            Holder::Observation(kept) | Holder::Look(kept, _) => kept != name,
            _ => true,
        });
    }

    pub(super) fn begin_again(&mut self, name: &GroupResource, wall: WallTime) {
        self.begun_again.insert(name.clone());
        for migration in self.migrations.clone() {
            let unfinished = migration.is_open() || migration.phase == MigrationPhase::Failed;
            if migration.id.resource() == name && unfinished {
                self.call_off(&migration.id, AbortCause::StorageUnknown, wall);
            }
        }
    }

    fn call_off(&mut self, id: &MigrationId, cause: AbortCause, wall: WallTime) {
        self.end_of_claim(id, ClaimEnd::Others);
        let migration = self.migration_mut(id);
        migration.phase = MigrationPhase::Aborted;
        migration.claim = None;
        migration.aborted = Some(cause);
        migration.ended = Some(wall);
        self.ended_now.insert(id.clone());
        self.clear_deadline(&Holder::Claim(id.clone()));
        self.clear_deadline(&Holder::Retry(id.clone()));
    }

    /// Changes `persisted` and the conditions that depend on it.
    pub(super) fn now_persisted(
        &mut self,
        name: &GroupResource,
        persisted: BTreeSet<Persisted>,
        unselects: bool,
        wall: WallTime,
    ) {
        let revision = self.revision;
        let now = Now { wall, revision };
        let resource = self.resource_mut(name);
        let status = &mut resource.status;
        status.persisted = persisted;
        if unselects && status.selected.is_some() {
            status.selected = None;
            status.selected_revision = revision;
            status.agreement_revision = revision;
        }
        let status = status.clone();
        self.describe_all(name, &status, now);
    }

    /// Every encoding that may be written now.
    pub(super) fn written_now(&self, name: &GroupResource) -> BTreeSet<Persisted> {
        let mut written = BTreeSet::new();
        let entries = self.entries_of(name);
        for entry in &entries {
            if let Some(encoding) = &entry.row.encoding {
                written.insert(Persisted::of(encoding, &entry.row.kind));
            }
        }
        let selected = self
            .resource(name)
            .and_then(|kept| kept.status.selected.clone());
        if let (Some(selected), Some(first)) = (selected, entries.first())
            && written.iter().all(|kept| kept.version() != Some(&selected))
        {
            written.insert(Persisted::of(&selected, &first.row.kind));
        }
        written
    }

    /// What is persisted when all objects are in the agreed encoding.
    fn all_migrated(&self, name: &GroupResource) -> BTreeSet<Persisted> {
        let status = &self.resource(name).expect("it has an agreement").status;
        let Some(hash) = status.agreed_hash else {
            return self.written_now(name);
        };
        let named = status
            .persisted
            .iter()
            .filter(|kept| kept.hash() == Some(hash));
        let mut all: BTreeSet<Persisted> = named.cloned().collect();
        if all.is_empty() {
            all.insert(Persisted::observed(hash));
        }
        for stored in self.stored(name) {
            if self.counts_late_writes() && stored.hash() == Some(hash) {
                super::voting::join(&mut all, hash, stored.version());
            }
        }
        all
    }

    pub(super) fn agreement(&self, name: &GroupResource) -> Option<Revision> {
        let status = &self.resource(name)?.status;
        let agrees = status.agreed.is_some() || status.agreed_hash.is_some();
        agrees.then_some(status.agreement_revision)
    }

    /// Refuses if the agreement comes from discovery alone and the observation has expired.
    fn check_seen(&self, name: &GroupResource) -> Result<(), Refusal> {
        let status = self.resource(name).map(|kept| &kept.status);
        let is_alone = status.is_some_and(|status| status.agreed_hash.is_some());
        if is_alone && self.is_unseen_for_long(name) {
            return Err(no(ErrorKind::NoAgreement));
        }
        Ok(())
    }

    fn unfinished(&self, name: &GroupResource, agreement: Revision) -> Vec<&Migration> {
        let all = self.migrations.iter();
        let of_it = all.filter(|migration| {
            migration.id.resource() == name && migration.agreement_revision == agreement
        });
        of_it
            .filter(|migration| migration.is_open() || migration.phase == MigrationPhase::Failed)
            .collect()
    }

    pub(super) fn migration(&self, id: &MigrationId) -> Result<Migration, Refusal> {
        let mut all = self.migrations.iter();
        let found = all.find(|migration| migration.id == *id);
        found.cloned().ok_or_else(|| no(ErrorKind::NotFound))
    }

    pub(super) fn claimed(
        &self,
        id: &MigrationId,
        token: ClaimToken,
    ) -> Result<Migration, Refusal> {
        let migration = self.migration(id)?;
        match &migration.claim {
            Some(claim) if claim.token == token => Ok(migration),
            _ => Err(no(ErrorKind::Conflict)),
        }
    }

    pub(super) fn migration_mut(&mut self, id: &MigrationId) -> &mut Migration {
        let mut all = self.migrations.iter_mut();
        all.find(|migration| migration.id == *id)
            .expect("it was looked up")
    }

    pub(super) fn resource_mut(&mut self, name: &GroupResource) -> &mut Resource {
        let first = self.first(name);
        let mut all = self.resources.iter_mut();
        all.find(|kept| kept.name == first)
            .expect("it was looked up")
    }
}
