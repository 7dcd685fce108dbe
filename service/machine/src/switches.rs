//! Refuses what is switched off, and what this machine version does not bring yet.
//!
//! Apply decides, since only apply knows in which order a switch and a command came. A switch stops what is new. It takes
//! nothing back, and it makes nothing safer than it is: what was voted, marked and fenced goes on counting, drains and
//! deadlines go on, and what frees something for others stays possible.

use synod_model::{
    ALIASES_SINCE, DELETE_LEASE_SINCE, DELETE_MIGRATION_SINCE, EVIDENCE_SINCE, ErrorKind, Feature,
    GroupResource, MigrationId, NAMED_SNAPSHOTS_SINCE, RELEASES_SINCE, Refusal,
    STATUS_SUBRESOURCE_SINCE, SWITCHES_SINCE, StoredIn, Switch,
};

use crate::{Command, MACHINE_VERSION_MIN, State};

impl State {
    /// Whether a feature is switched off.
    pub(crate) fn is_off(&self, feature: Feature) -> bool {
        self.settings.switch(feature) == Switch::Off
    }

    /// Refuses a command of a feature that is switched off.
    ///
    /// # Errors
    ///
    /// `SWITCHED_OFF`, with the setting and the command that switches it on.
    pub fn check_switch(&self, command: &Command) -> Result<(), Refusal> {
        match needed(command) {
            Some(feature) if self.is_off(feature) => Err(switched_off(feature)),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses a command that a replica of the machine version in force could not apply, or not even read. It is never
    /// put into the log: a replica that reads what it does not know stops.
    ///
    /// # Errors
    ///
    /// `UNAVAILABLE`, with the replicas that have to be upgraded first.
    pub fn check_machine_version(&self, command: &Command) -> Result<(), Refusal> {
        match Later::of(command) {
            Some(later) if self.machine_version < later.since => {
                let refusal = self.too_early(later.what, later.since, &later.named);
                let (field, of) = later.field;
                Err(refusal.with(field, of))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The refusal of something that comes with a machine version that is not in force yet.
    pub(crate) fn too_early(&self, what: &str, since: u32, named: &str) -> Refusal {
        let rows = self.replicas.iter();
        let older: Vec<String> = rows
            .filter(|(_, row)| row.machine_version < since)
            .map(|(id, row)| format!("replica {id} ({})", row.binary))
            .collect();
        let todo = if older.is_empty() {
            "every replica that has announced itself knows it, so try again in a moment".to_owned()
        } else {
            format!(
                "run the newer release on {}, and try again",
                older.join(", ")
            )
        };
        let message = format!(
            "{named}: {what} come with machine version {since}, and {} is in force until all replicas know that one: {todo}",
            self.machine_version
        );
        Refusal::new(ErrorKind::Unavailable, message)
            .with("machine_version", self.machine_version)
            .with("not_executed", "true")
    }
}

impl Command {
    /// The oldest machine version whose replicas can apply the command.
    #[must_use]
    pub fn machine_version(&self) -> u32 {
        if matches!(self, Self::FollowSwitches(_)) {
            return SWITCHES_SINCE;
        }
        Later::of(self).map_or(MACHINE_VERSION_MIN, |later| later.since)
    }

    /// The command without what replicas of an older machine version cannot read and can do without: they drain more by it, and
    /// not less.
    #[must_use]
    pub fn as_known_to(mut self, machine_version: u32) -> Self {
        if machine_version >= EVIDENCE_SINCE {
            return self;
        }
        if let Self::ClaimMigration(claim) = &mut self {
            claim.fenced = false;
            claim.walks = None;
        } else if let Self::Report(report) = &mut self {
            for entry in &mut report.entries {
                entry.stored = StoredIn::Outside;
                entry.equivalents.clear();
            }
        } else if let Self::FailMigration(fail) = &mut self {
            fail.stop = None;
        } else if let Self::ReleaseMigration(release) = &mut self {
            release.stop = None;
        } else if let Self::Leave(leave) = &mut self {
            leave.instance = None;
            leave.stopped = false;
        } else if let Self::Join(join) = &mut self {
            join.gated = false;
        } else if let Self::SetRoster(set) = &mut self {
            set.rule.complete = false;
            set.rule.exempts_observed = false;
        }
        self
    }
}

/// What a command says that replicas of older machine versions do not know.
struct Later {
    what: &'static str,
    since: u32,
    /// Where the command says it, in words.
    named: String,
    /// The same for programs.
    field: (&'static str, String),
}

impl Later {
    fn of(command: &Command) -> Option<Self> {
        if let Some(feature) = switch_named_in(command) {
            return Some(Self {
                what: "switches",
                since: SWITCHES_SINCE,
                named: feature.setting().to_owned(),
                field: ("setting", feature.to_string()),
            });
        }
        if let Command::UpdateCollection(update) = command
            && let Some(kind) = &update.kind
        {
            return Some(Self {
                what: "corrections of kinds",
                since: EVIDENCE_SINCE,
                named: format!("kind \"{kind}\""),
                field: ("collection", update.resource.to_string()),
            });
        }
        if let Some(resource) = status_subresource_named_in(command) {
            return Some(Self {
                what: "status subresources",
                since: STATUS_SUBRESOURCE_SINCE,
                named: "status_subresource".to_owned(),
                field: ("collection", resource.to_string()),
            });
        }
        if let Some(later) = Self::of_migrations(command).or_else(|| Self::of_names(command)) {
            return Some(later);
        }
        if let Command::DeleteLease(delete) = command {
            return Some(Self {
                what: "deletions of leases",
                since: DELETE_LEASE_SINCE,
                named: format!("lease \"{}\"", delete.key),
                field: ("lease", delete.key.to_string()),
            });
        }
        if let Command::CreateControllerRevision(create) = command
            && let Some(name) = &create.name
        {
            return Some(Self {
                what: "names of snapshots",
                since: NAMED_SNAPSHOTS_SINCE,
                named: format!("snapshot \"{name}\""),
                field: ("controller_revision", name.to_string()),
            });
        }
        None
    }

    fn of_migrations(command: &Command) -> Option<Self> {
        let of = |what, since, id: &MigrationId| Self {
            what,
            since,
            named: format!("migration \"{id}\""),
            field: ("migration", id.to_string()),
        };
        if let Command::ReleaseMigration(release) = command {
            return Some(of("releases of claims", RELEASES_SINCE, &release.id));
        }
        if let Command::DeleteMigration(delete) = command {
            return Some(of(
                "deletions of migrations",
                DELETE_MIGRATION_SINCE,
                &delete.id,
            ));
        }
        if let Some(later) = Self::of_looks(command) {
            return Some(later);
        }
        let Command::StartMigration(start) = command else {
            return None;
        };
        start.alias.as_ref().map(|alias| Self {
            what: "aliases of migrations",
            since: ALIASES_SINCE,
            named: format!("alias \"{alias}\""),
            field: ("alias", alias.to_string()),
        })
    }
}

impl Later {
    fn of_names(command: &Command) -> Option<Self> {
        let resource = if let Command::AddEquivalents(add) = command {
            add.resources.first()?
        } else if let Command::RemoveEquivalent(remove) = command {
            &remove.resource
        } else {
            return None;
        };
        Some(Self {
            what: "sets of equivalent resources",
            since: EVIDENCE_SINCE,
            named: format!("resource \"{resource}\""),
            field: ("resource", resource.storage_version_name()),
        })
    }

    fn of_looks(command: &Command) -> Option<Self> {
        if let Command::DismissLooks(dismiss) = command {
            return Some(Self {
                what: "dismissals of looks",
                since: EVIDENCE_SINCE,
                named: format!("resource \"{}\"", dismiss.resource),
                field: ("resource", dismiss.resource.storage_version_name()),
            });
        }
        let Command::ObserveStorage(observe) = command else {
            return None;
        };
        observe.observer.as_ref().map(|observer| Self {
            what: "names of observers",
            since: EVIDENCE_SINCE,
            named: format!("observer \"{observer}\""),
            field: ("observer", observer.to_string()),
        })
    }
}

fn switch_named_in(command: &Command) -> Option<Feature> {
    if let Command::UpdateSettings(update) = command {
        update.patch.names_switch_of()
    } else {
        None
    }
}

/// The collection of which a command says whether it has a status subresource, in a field that older replicas do not know.
fn status_subresource_named_in(command: &Command) -> Option<&GroupResource> {
    if let Command::CreateCollection(create) = command {
        return create.rules.status_subresource.then_some(&create.resource);
    }
    let Command::UpdateCollection(update) = command else {
        return None;
    };
    update.status_subresource.map(|_| &update.resource)
}

/// The refusal of what is switched off.
#[must_use]
pub fn switched_off(feature: Feature) -> Refusal {
    let message = format!(
        "{feature} are switched off in this cluster, so nothing was changed: to switch them on, run `synod settings set \
         {feature}=on`"
    );
    Refusal::new(ErrorKind::SwitchedOff, message).with("setting", feature)
}

/// The feature without which a command is refused.
///
/// A vote is no command of its own: it comes in the report by which a server may write anything at all, and no report is
/// refused for its votes. With votes off, none of them moves what is selected.
const fn needed(command: &Command) -> Option<Feature> {
    match command {
        Command::CreateCollection(_)
        | Command::UpdateCollection(_)
        | Command::DeleteCollection(_)
        | Command::CreateObject(_)
        | Command::UpdateObject(_)
        | Command::PatchObject(_)
        | Command::DeleteObject(_)
        | Command::Transact(_) => Some(Feature::Objects),
        Command::CreateControllerRevision(_)
        | Command::UpdateControllerRevision(_)
        | Command::RollbackControllerRevision(_)
        | Command::TruncateControllerRevisions(_)
        | Command::DeleteControllerRevisions(_)
        | Command::AdoptControllerRevisions(_) => Some(Feature::Histories),
        Command::AcquireLease(_)
        | Command::RenewLease(_)
        | Command::PutLeaseCandidate(_)
        | Command::RenewLeaseCandidate(_) => Some(Feature::Leases),
        Command::StartMigration(_)
        | Command::ClaimMigration(_)
        | Command::ReportMigrationProgress(_)
        | Command::RetryMigration(_) => Some(Feature::Migrations),
        // Whoever says that it uses a snapshot must be able to go on saying so: what nobody marks may be deleted once
        // histories are on again. And whoever lets go of something lets others have it.
        Command::MarkControllerRevisions(_)
        | Command::ReleaseControllerRevision(_)
        | Command::ReleaseLease(_)
        | Command::DeleteLease(_)
        | Command::WithdrawLeaseCandidate(_)
        | Command::FailMigration(_)
        | Command::ReleaseMigration(_)
        | Command::AbortMigration(_)
        | Command::DeleteMigration(_)
        // What a worker has finished is a fact, and so is what discovery shows.
        | Command::CompleteMigration(_)
        | Command::ObserveStorage(_)
        | Command::ResetStorageStates(_)
        | Command::DismissLooks(_)
        | Command::AddEquivalents(_)
        | Command::RemoveEquivalent(_)
        // The others are about no feature that can be switched off.
        | Command::Initialize(_)
        | Command::Restore(_)
        | Command::AnnounceReplica(_)
        | Command::RaiseMachineVersion(_)
        | Command::OpenSession(_)
        | Command::CloseSession(_)
        | Command::Join(_)
        | Command::Renew(_)
        | Command::MarkReady(_)
        | Command::Leave(_)
        | Command::Report(_)
        | Command::Adopt(_)
        | Command::ForgetResource(_)
        | Command::Expire(_)
        | Command::UpdateSettings(_)
        | Command::CollectGarbage(_)
        | Command::FollowSwitches(_)
        | Command::SetRoster(_)
        | Command::DeleteRoster(_) => None,
    }
}
