//! The rule of migrations: when one is created, and when one is aborted.
//!
//! The rule runs in every command that changes the state of a resource, so that readers never see a migration beside an
//! agreement that it does not belong to.

use std::collections::BTreeSet;

use synod_model::{
    AbortCause, EVIDENCE_SINCE, ErrorKind, Feature, GroupResource, Migration, MigrationAlias,
    MigrationId, MigrationPhase, MigrationReason, MigrationTarget, Persisted, Refusal, Revision,
    StorageVersionHash,
};

use crate::late_writes::ClaimEnd;
use crate::turn::{Then, Turn};
use crate::{Holder, State, StateStatus};

impl Turn<'_> {
    /// Aborts and creates migrations of a resource after its state changed.
    pub(crate) fn follow_agreement(
        &mut self,
        resource: &GroupResource,
        before: Option<&StateStatus>,
        then: Then,
    ) {
        let after = self.state().status(resource);
        let stays = before.is_some_and(|before| before.agreement() == after.agreement());
        let is_called_for = !stays || before.is_some_and(|b| b.persisted != after.persisted);
        if !stays {
            self.abort_all_but(resource, after.agreement());
        }
        if is_called_for && then == Then::Migrate {
            self.migrate(resource);
        }
    }

    /// Creates a migration to the agreed encoding, if another one is persisted and the agreement has no open or failed
    /// migration yet. While migrations are switched off it creates none.
    pub(crate) fn migrate(&mut self, resource: &GroupResource) {
        if self.state().is_off(Feature::Migrations) {
            return;
        }
        let status = self.state().status(resource);
        let Some(agreement) = status.agreement() else {
            return;
        };
        let exists = self.state().migrations_of(resource).any(|migration| {
            migration.agreement_revision == agreement
                && (migration.is_open() || migration.phase == MigrationPhase::Failed)
        });
        let reason = MigrationReason::of_agreement_on(self.state().topic_kind(resource));
        if let Some(reason) = reason
            && !exists
            && !self.state().is_migrated(resource)
        {
            self.start_migration(resource, reason, None);
        }
    }

    /// Creates a migration where [`migrate`](Self::migrate) does, unless somebody has called the one of the present agreement off.
    pub(crate) fn migrate_unless_called_off(&mut self, resource: &GroupResource) {
        let state = self.state();
        let agreement = state.status(resource).agreement();
        let is_called_off = state.migrations_of(resource).any(|migration| {
            Some(migration.agreement_revision) == agreement
                && migration.aborted == Some(AbortCause::Requested)
        });
        if !is_called_off {
            self.migrate(resource);
        }
    }

    /// Creates a migration to the agreed encoding, and forgets the oldest ended ones beyond `migrations_kept`.
    pub(crate) fn start_migration(
        &mut self,
        resource: &GroupResource,
        reason: MigrationReason,
        alias: Option<MigrationAlias>,
    ) -> MigrationId {
        let id = MigrationId::new(resource.clone(), self.revision());
        let state = self.state();
        let target = state.migration_target(resource);
        let agreement_revision = state.status(resource).agreement_revision;
        let equivalents = state.names(resource).into_iter().skip(1).collect();
        let metadata = self.new_metadata();
        self.put_migration(Migration {
            id: id.clone(),
            metadata,
            target: target.expect("a migration is created under an agreement"),
            agreement_revision,
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
            alias,
            assumptions: BTreeSet::new(),
            equivalents,
        });
        self.forget_ended(resource);
        id
    }

    /// Aborts a migration, whether it is pending, running or waiting for another attempt.
    pub(crate) fn abort_migration(&mut self, migration: &Migration, cause: AbortCause) {
        self.drain_claim(migration, ClaimEnd::ByOthers);
        self.clear_deadline(&Holder::Claim(migration.id.clone()));
        self.clear_deadline(&Holder::Retry(migration.id.clone()));
        self.put_migration(Migration {
            phase: MigrationPhase::Aborted,
            claim: None,
            aborted: Some(cause),
            ended: Some(self.wall()),
            ..migration.clone()
        });
    }

    /// Aborts every migration of a resource that is pending, running or failed.
    pub(crate) fn abort_unfinished(&mut self, resource: &GroupResource, cause: AbortCause) {
        let unfinished: Vec<_> = self
            .state()
            .migrations_of(resource)
            .filter(|migration| migration.is_open() || migration.phase == MigrationPhase::Failed)
            .cloned()
            .collect();
        for migration in unfinished {
            self.abort_migration(&migration, cause);
        }
    }

    /// Has the claims of a resource drain whose migrations go with what is known of it.
    pub(crate) fn drain_claims(&mut self, resource: &GroupResource) {
        let all = self.state().migrations_of(resource);
        let claimed: Vec<_> = all.filter(|one| one.claim.is_some()).cloned().collect();
        for migration in claimed {
            self.drain_claim(&migration, ClaimEnd::ByOthers);
        }
    }

    /// Has the workers of a resource walk its store from the first key again, under a new claim: a write that nobody knew of may
    /// land behind them.
    pub(crate) fn restart_walks(&mut self, resource: &GroupResource) {
        let of_resource = self.state().migrations_of(resource);
        let walked: Vec<_> = of_resource
            .filter(|migration| migration.is_open() || migration.phase == MigrationPhase::Failed)
            .filter(|migration| {
                let progress = self.state().migration_progress(&migration.id);
                migration.claim.is_some() || progress.is_some()
            })
            .cloned()
            .collect();
        for migration in walked {
            self.drain_claim(&migration, ClaimEnd::ByOthers);
            self.clear_deadline(&Holder::Claim(migration.id.clone()));
            self.forget_progress(&migration.id);
            let phase = match migration.claim {
                Some(_) => MigrationPhase::Pending,
                None => migration.phase,
            };
            self.put_migration(Migration {
                phase,
                claim: None,
                done: 0,
                estimate: None,
                ..(*migration).clone()
            });
        }
    }

    /// Aborts every open migration of another agreement than this. A failed one of another agreement is not tried
    /// again.
    fn abort_all_but(&mut self, resource: &GroupResource, agreement: Option<Revision>) {
        let cause = match agreement {
            None => AbortCause::NoAgreement,
            Some(_) => AbortCause::AgreementMoved,
        };
        let others: Vec<_> = self
            .state()
            .migrations_of(resource)
            .filter(|migration| Some(migration.agreement_revision) != agreement)
            .cloned()
            .collect();
        for migration in others {
            if migration.is_open() {
                self.abort_migration(&migration, cause);
            } else {
                self.clear_deadline(&Holder::Retry(migration.id.clone()));
            }
        }
    }

    /// Forgets the oldest ended migrations beyond `migrations_kept`. One that this very command ended stays until the
    /// next command, because an object changes at most once in a command.
    fn forget_ended(&mut self, resource: &GroupResource) {
        let agreement = self.state().status(resource).agreement();
        let ended: Vec<_> = self
            .state()
            .migrations_of(resource)
            .filter(|migration| match migration.phase {
                MigrationPhase::Succeeded | MigrationPhase::Aborted => true,
                MigrationPhase::Failed => Some(migration.agreement_revision) != agreement,
                MigrationPhase::Pending | MigrationPhase::Running => false,
            })
            .cloned()
            .collect();
        let kept = self.state().settings.migrations_kept;
        let surplus = ended
            .len()
            .saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
        for migration in &ended[..surplus] {
            if migration.metadata.resource_version != self.revision() {
                self.remove_migration(&migration.id);
            }
        }
    }
}

impl State {
    /// The encoding to migrate to; `None` without an agreement.
    pub(crate) fn migration_target(&self, resource: &GroupResource) -> Option<MigrationTarget> {
        let status = &self.state_of(resource)?.row.status;
        status.agreement()?;
        if let Some(hash) = status.agreed_hash {
            return Some(MigrationTarget {
                hash,
                version: None,
            });
        }
        let agreed = status.agreed.as_ref()?;
        let (_, entry) = self.first_entry(resource)?;
        Some(MigrationTarget {
            hash: StorageVersionHash::of_version(agreed, &entry.kind),
            version: Some(agreed.clone()),
        })
    }

    /// The encodings that are written now, which `persisted` must hold whatever was migrated.
    pub(crate) fn demanded(&self, resource: &GroupResource) -> BTreeSet<Persisted> {
        let mut demanded = BTreeSet::new();
        let Some((_, first)) = self.first_entry(resource) else {
            return demanded;
        };
        for (_, entry) in self.entries_of(resource) {
            if let Some(encoding) = &entry.encoding {
                Persisted::of(encoding, &entry.kind).join(&mut demanded);
            }
        }
        let selected = self.status(resource).selected.as_ref();
        let is_named =
            |set: &BTreeSet<Persisted>| set.iter().any(|kept| kept.version() == selected);
        if let Some(selected) = selected.filter(|_| !is_named(&demanded)) {
            Persisted::of(selected, &first.kind).join(&mut demanded);
        }
        demanded
    }

    /// The encodings of the objects in the resource's collection, if it counts them.
    pub(crate) fn counted(&self, resource: &GroupResource) -> impl Iterator<Item = Persisted> + '_ {
        let held = self.collections.get(resource);
        let held = held.filter(|_| self.counts_objects(resource)).into_iter();
        held.flat_map(|held| {
            held.encodings()
                .map(|encoding| Persisted::of(encoding, &held.row.kind))
        })
    }

    /// What `persisted` becomes once every object is stored in the encoding agreed on now.
    pub(crate) fn persisted_when_migrated(&self, resource: &GroupResource) -> BTreeSet<Persisted> {
        let status = &self.status(resource);
        let mut migrated = self.demanded(resource);
        if let Some(hash) = status.agreed_hash {
            let mut kept = status.persisted.iter();
            let named = kept.find(|kept| kept.hash() == Some(hash)).cloned();
            migrated.insert(named.unwrap_or(Persisted::observed(hash)));
            // A collection knows the version of its own, of whatever kind the members said that it is.
            if self.machine_version >= EVIDENCE_SINCE {
                let counted = self.counted(resource);
                for counted in counted.filter(|counted| counted.hash() == Some(hash)) {
                    counted.join(&mut migrated);
                }
            }
        }
        migrated
    }

    fn is_migrated(&self, resource: &GroupResource) -> bool {
        self.status(resource).persisted == self.persisted_when_migrated(resource)
    }

    /// The migration.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` if no migration has this id.
    pub(crate) fn migration(&self, id: &MigrationId) -> Result<&Migration, Refusal> {
        let kept = self.migrations.get(id).map(|kept| &*kept.row);
        kept.ok_or_else(|| {
            Refusal::new(
                ErrorKind::NotFound,
                format!(
                    "migration \"{id}\" does not exist, or it was deleted or removed: only migrations_kept ended ones \
                     of a resource are kept, and none once its storage state was removed"
                ),
            )
            .with("migration", id)
        })
    }

    /// Refuses an alias that another migration has.
    ///
    /// # Errors
    ///
    /// `ALREADY_EXISTS`, which names it.
    pub(crate) fn check_alias(&self, alias: &MigrationAlias) -> Result<(), Refusal> {
        let Some(id) = self.aliases.get(alias) else {
            return Ok(());
        };
        let message = format!(
            "migration \"{id}\" has the alias \"{alias}\": delete it first, or take another alias"
        );
        Err(Refusal::new(ErrorKind::AlreadyExists, message)
            .with("migration", id)
            .with("alias", alias))
    }

    /// The numbers of objects, done and in all, that a migration shows when its worker has no more to say.
    pub(crate) fn shown_progress(&self, migration: &Migration) -> (u64, Option<u64>) {
        let kept = self.migration_progress(&migration.id);
        kept.map_or((migration.done, migration.estimate), |kept| {
            (kept.progress.done, kept.progress.estimate)
        })
    }

    /// Refuses if the agreement comes from discovery and the observation has expired.
    ///
    /// # Errors
    ///
    /// `NO_AGREEMENT`.
    pub(crate) fn check_observation(&self, resource: &GroupResource) -> Result<(), Refusal> {
        let kept = self.state_of(resource);
        let stands_alone = kept.is_some_and(|kept| kept.row.status.agreed_hash.is_some());
        if stands_alone && self.is_observation_over(resource) {
            let why = "nobody has looked at its discovery for two periods: run an observer";
            return Err(no_agreement(resource, why));
        }
        Ok(())
    }

    /// Refuses unless the agreement that the migration belongs to still holds.
    ///
    /// # Errors
    ///
    /// `NO_AGREEMENT`.
    pub(crate) fn check_agreement(&self, migration: &Migration) -> Result<(), Refusal> {
        let resource = migration.id.resource();
        let present = self
            .storage_states
            .get(resource)
            .and_then(|kept| kept.row.status.agreement());
        self.check_observation(resource)?;
        if present == Some(migration.agreement_revision) {
            return Ok(());
        }
        let refusal = no_agreement(
            resource,
            &format!(
                "migration \"{}\" belongs to the agreement of revision {}, which no longer holds",
                migration.id, migration.agreement_revision
            ),
        );
        Err(match self.state_of(resource) {
            Some(kept) => objected(refusal, &kept.row.status),
            None => refusal,
        })
    }
}

/// Adds the reasons against an agreement to a refusal: the members missing by the roster, and what discovery shows.
pub(crate) fn objected(mut refusal: Refusal, status: &StateStatus) -> Refusal {
    if !status.absent.is_empty() {
        let absent = &status.absent;
        refusal.message +=
            &format!("; its roster asks for {absent}: have them report, or change the roster");
        refusal = refusal.with("absent", absent);
    }
    if status.contradicted {
        refusal.message +=
            "; discovery shows what no member encodes: look again, or reset the resource";
    }
    refusal
}

pub(crate) fn no_agreement(resource: &GroupResource, why: &str) -> Refusal {
    Refusal::new(
        ErrorKind::NoAgreement,
        format!("resource \"{resource}\": {why}"),
    )
    .with("resource", resource.storage_version_name())
}
