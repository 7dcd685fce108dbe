//! Counts which rules of collections and objects the random logs reach.

use std::collections::BTreeMap;

use synod_machine::{
    Answer, Applied, Change, ChangeOf, Command, LogEntry, Outcome, RevisionEvents,
};
use synod_model::{Collection, Finalizers, Object, PackedObject};

/// How often each situation came up.
#[derive(Debug, Default)]
pub(crate) struct ReachedObjects(BTreeMap<String, u32>);

/// Every situation that the logs must come to.
const SITUATIONS: [&str; 45] = [
    "create: Created",
    "create: ALREADY_EXISTS",
    "create: NOT_FOUND",
    "create: INVALID_ARGUMENT",
    "create: NOT_DECODABLE",
    "create: NO_AGREEMENT",
    "create: ENCODING_NOT_SELECTED",
    "create: STALE_EPOCH",
    "update: Created",
    "update: Updated",
    "update: Unchanged",
    "update: Deleted",
    "update: CONFLICT",
    "update: NOT_FOUND",
    "update: INVALID_ARGUMENT",
    "update: ENCODING_NOT_SELECTED",
    "patch: Updated",
    "patch: Unchanged",
    "patch: CONFLICT",
    "patch: INVALID_ARGUMENT",
    "patch: Deleted",
    "patch: Updated without its data",
    "a status changed and no generation moved",
    "delete: Deleted",
    "delete: Deleting",
    "delete: Unchanged",
    "delete: in the foreground after all",
    "delete: at once after all",
    "transact: taken",
    "transact: not taken",
    "transact: INVALID_ARGUMENT",
    "collection: ALREADY_EXISTS",
    "collection: CONFLICT",
    "collection: NO_AGREEMENT",
    "collection: Updated",
    "collection: Deleted",
    "collection: its kind was corrected",
    "collection: CONFLICT for another kind",
    "report: ENCODING_NOT_SELECTED",
    "an object expired",
    "a dependent went with its owner",
    "a dependent forgot one owner and stayed for another",
    "an orphan forgot its owner",
    "an owner waited and went with its last dependent",
    "a backup was restored with its objects",
];

impl ReachedObjects {
    /// Which situations no log came to.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let situations = SITUATIONS.into_iter();
        situations
            .filter(|situation| !self.0.contains_key(*situation))
            .collect()
    }

    pub(crate) fn look(&mut self, entry: &LogEntry, applied: &Applied) {
        for (envelope, outcome) in entry.commands.iter().zip(&applied.outcomes) {
            self.look_at(&envelope.command, outcome);
            if let Some(events) = applied
                .events
                .iter()
                .find(|events| outcome.changed && events.revision == outcome.revision)
            {
                self.look_at_events(&envelope.command, events);
                self.look_at_kinds(events);
            }
        }
    }

    fn came_to(&mut self, situation: impl Into<String>) {
        *self.0.entry(situation.into()).or_default() += 1;
    }

    fn look_at(&mut self, command: &Command, outcome: &Outcome) {
        let what = match command {
            Command::CreateObject(_) => "create",
            Command::UpdateObject(_) => "update",
            Command::PatchObject(_) => "patch",
            Command::DeleteObject(_) => "delete",
            Command::Transact(_) => "transact",
            Command::CreateCollection(_)
            | Command::UpdateCollection(_)
            | Command::DeleteCollection(_) => "collection",
            Command::Report(_) => "report",
            Command::Restore(_) => "restore",
            _ => return,
        };
        if let (Command::UpdateCollection(_), Err(refusal)) = (command, &outcome.result)
            && refusal.metadata.contains_key("objects")
        {
            self.came_to(format!("{what}: {} for another kind", refusal.kind));
        }
        match &outcome.result {
            Ok(_) if what == "restore" => self.came_to("a backup was restored with its objects"),
            Ok(Answer::Wrote(written)) => {
                self.came_to(format!("{what}: {:?}", written.how));
                if matches!(command, Command::PatchObject(patch) if patch.data.is_none()) {
                    self.came_to(format!("{what}: {:?} without its data", written.how));
                }
            }
            Ok(Answer::Transacted { succeeded, .. }) => {
                let taken = if *succeeded { "taken" } else { "not taken" };
                self.came_to(format!("{what}: {taken}"));
            }
            Ok(_) => {}
            Err(refusal) => self.came_to(format!("{what}: {}", refusal.kind)),
        }
    }

    fn look_at_kinds(&mut self, events: &RevisionEvents) {
        let mut changes = events.changes.iter();
        let is_correction = |change: &Change| {
            let change = change.of::<Collection>();
            let rows = change.and_then(|change| change.before.zip(change.after));
            rows.is_some_and(|(before, after)| before.kind != after.kind)
        };
        if changes.any(is_correction) {
            self.came_to("collection: its kind was corrected");
        }
    }

    fn look_at_events(&mut self, command: &Command, events: &RevisionEvents) {
        let own = match command {
            Command::DeleteObject(delete) => Some(&delete.key),
            Command::Expire(_) => {
                let gone =
                    |change: &Change| change.object.stored().is_some() && change.after.is_none();
                if events.changes.iter().any(gone) {
                    self.came_to("an object expired");
                }
                None
            }
            Command::UpdateObject(update) => Some(&update.key),
            Command::PatchObject(patch) => Some(&patch.key),
            _ => None,
        };
        let Some(own) = own else { return };
        for change in &events.changes {
            let Some(ChangeOf {
                key,
                before: Some(before),
                after,
            }) = change.of::<Object>()
            else {
                continue;
            };
            if key == own
                && matches!(command, Command::DeleteObject(_))
                && before.deletion().is_some()
            {
                match after {
                    None => self.came_to("delete: at once after all"),
                    Some(after) if waits(after) && !waits(before) => {
                        self.came_to("delete: in the foreground after all");
                    }
                    Some(_) => {}
                }
            }
            if let Some(after) = after
                && after.metadata().generation == before.metadata().generation
                && after.data() != before.data()
            {
                self.came_to("a status changed and no generation moved");
            }
            match after {
                None if key != own && waits(before) => {
                    self.came_to("an owner waited and went with its last dependent");
                }
                None if key != own => self.came_to("a dependent went with its owner"),
                Some(after) if key != own && after.attributes().owners.is_empty() => {
                    self.came_to("an orphan forgot its owner");
                }
                Some(after)
                    if key != own
                        && after.attributes().owners.len() < before.attributes().owners.len() =>
                {
                    self.came_to("a dependent forgot one owner and stayed for another");
                }
                Some(_) | None => {}
            }
        }
    }
}

fn waits(object: &PackedObject) -> bool {
    let finalizers = &object.attributes().finalizers;
    object.deletion().is_some() && finalizers.contains(Finalizers::FOREGROUND)
}
