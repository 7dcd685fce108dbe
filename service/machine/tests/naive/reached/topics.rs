//! Which rules of keys and features the random logs reach.

use std::collections::BTreeMap;

use synod_machine::{Applied, Command, LogEntry, State, StateStatus};
use synod_model::{ErrorKind, GroupResource, MigrationReason, Topic, TopicKind, feature_level};

/// How often each situation came up.
#[derive(Debug, Default)]
pub(crate) struct ReachedTopics(BTreeMap<&'static str, u32>);

const OF_SERVED_VERSIONS: [&str; 10] = [
    "a version was agreed to be served",
    "a version was withdrawn",
    "a withdrawal was agreed on",
    "a withdrawal waited for its date",
    "a withdrawal came with its date",
    "a version was served anew",
    "a date was too far away",
    "a date was moved",
    "a member without the code of a served version was refused",
    "what a member that is gone may do kept a version",
];

const SITUATIONS: [&str; 12] = [
    "a fixed entry was refused",
    "a member without the selected key was refused",
    "a member without a persisted key was refused",
    "a member without the selected level was refused",
    "an older selection of a key was not adopted",
    "a key was agreed on",
    "another key was selected",
    "a migration of a key was created",
    "a claim of a key waited for a drain",
    "a migration of a key succeeded",
    "a level rose",
    "discovery of a topic was refused",
];

impl ReachedTopics {
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        self.lacking(&SITUATIONS)
    }

    pub(crate) fn missing_of_served_versions(&self) -> Vec<&'static str> {
        self.lacking(&OF_SERVED_VERSIONS)
    }

    fn lacking(&self, of: &[&'static str]) -> Vec<&'static str> {
        let situations = of.iter().copied();
        situations.filter(|one| !self.0.contains_key(one)).collect()
    }

    pub(crate) fn look(
        &mut self,
        entry: &LogEntry,
        applied: &Applied,
        before: &State,
        after: &State,
    ) {
        for (envelope, outcome) in entry.commands.iter().zip(&applied.outcomes) {
            match &outcome.result {
                Ok(_) => self.look_at_success(&envelope.command),
                Err(refusal) => self.look_at_refusal(&envelope.command, refusal),
            }
        }
        for kept in after.present().storage_states(None) {
            let was = before.present().storage_state(&kept.resource);
            let was = was
                .as_ref()
                .and_then(|was| was.row.status.selected.as_ref());
            let is = kept.row.status.selected.as_ref();
            match TopicKind::of(&kept.resource) {
                TopicKind::Encoding => {}
                TopicKind::Key => {
                    if kept.row.status.agreed.is_some() {
                        self.came_to("a key was agreed on");
                    }
                    if was.is_some() && is.is_some() && was != is {
                        self.came_to("another key was selected");
                    }
                    let mut created = after.migrations_of(&kept.resource);
                    if created.any(|one| one.reason == MigrationReason::RewriteAll) {
                        self.came_to("a migration of a key was created");
                    }
                }
                TopicKind::Served => self.look_at_version(entry, before, after, &kept.resource),
                TopicKind::Feature => {
                    if was.is_some() && is.and_then(feature_level) > was.and_then(feature_level) {
                        self.came_to("a level rose");
                    }
                }
            }
        }
    }

    fn look_at_version(
        &mut self,
        entry: &LogEntry,
        before: &State,
        after: &State,
        name: &GroupResource,
    ) {
        let status = |of: &State| {
            of.present()
                .storage_state(name)
                .map(|kept| kept.row.status.clone())
        };
        let Some(now) = status(after) else {
            return;
        };
        let then = status(before).unwrap_or_else(|| now.clone());
        let entries = |of: &State| {
            let version = of.present().storage_version(name);
            let entries = version.iter().flat_map(|version| version.entries());
            let rows = entries.map(|(member, row)| (member.clone(), row.decodable.clone()));
            rows.collect::<Vec<_>>()
        };
        let selected = |of: &StateStatus| of.selected.as_ref().map(ToString::to_string);
        let agreed = now.agreed.as_ref().map(ToString::to_string);
        match (selected(&then).as_deref(), selected(&now).as_deref()) {
            (Some("served"), Some("withdrawn")) => {
                self.came_to("a version was withdrawn");
                let names = |one: &Command| matches!(one, Command::Expire(expire) if expire.topics.contains(name));
                let is_looked_at = entry.commands.iter().any(|one| names(&one.command));
                if is_looked_at && entries(before) == entries(after) {
                    self.came_to("a withdrawal came with its date");
                }
            }
            (Some("withdrawn"), Some("served")) => self.came_to("a version was served anew"),
            _ => {}
        }
        match agreed.as_deref() {
            Some("served") => self.came_to("a version was agreed to be served"),
            Some("withdrawn") if then.selected.is_some() => {
                self.came_to("a withdrawal was agreed on");
                if now.persisted.len() > 1 {
                    self.came_to("what a member that is gone may do kept a version");
                }
            }
            _ => {}
        }
        if let (Some(then), Some(now)) = (then.serve_until, now.serve_until)
            && then.log < now.log
        {
            self.came_to("a date was moved");
        }
        let version = after.present().storage_version(name);
        let mut votes = version.iter().flat_map(|version| version.entries());
        let all =
            votes.all(|(_, row)| row.preferred().is_some_and(|it| it.as_str() == "withdrawn"));
        if version.is_some() && all && selected(&now).as_deref() == Some("served") {
            self.came_to("a withdrawal waited for its date");
        }
    }

    fn look_at_success(&mut self, command: &Command) {
        if let Command::CompleteMigration(complete) = command
            && TopicKind::of(complete.id.resource()) == TopicKind::Key
        {
            self.came_to("a migration of a key succeeded");
        }
    }

    fn look_at_refusal(&mut self, command: &Command, refusal: &synod_model::Refusal) {
        let says = |text: &str| refusal.message.contains(text);
        match (command, refusal.kind) {
            (Command::Report(_), ErrorKind::InvalidArgument) if says("must vote") => {
                self.came_to("a fixed entry was refused");
            }
            (Command::Report(_), ErrorKind::InvalidArgument) if says("must be within") => {
                self.came_to("a date was too far away");
            }
            (Command::Report(_), ErrorKind::NotDecodable) if says("not served") => {
                self.came_to("a member without the code of a served version was refused");
            }
            (Command::Report(_), ErrorKind::NotDecodable) if says("the selected key") => {
                self.came_to("a member without the selected key was refused");
            }
            (Command::Report(_), ErrorKind::NotDecodable) if says("a persisted key") => {
                self.came_to("a member without a persisted key was refused");
            }
            (Command::Report(_), ErrorKind::NotDecodable) if says("the selected level") => {
                self.came_to("a member without the selected level was refused");
            }
            (Command::Adopt(adopt), ErrorKind::Conflict) => {
                let kind = Topic::of(&adopt.resource).kind();
                if kind == TopicKind::Key && refusal.metadata.contains_key("selected_revision") {
                    self.came_to("an older selection of a key was not adopted");
                }
            }
            (Command::ClaimMigration(claim), ErrorKind::Draining)
                if TopicKind::of(claim.id.resource()) == TopicKind::Key =>
            {
                self.came_to("a claim of a key waited for a drain");
            }
            (Command::ObserveStorage(_), ErrorKind::InvalidArgument) => {
                self.came_to("discovery of a topic was refused");
            }
            _ => {}
        }
    }

    fn came_to(&mut self, situation: &'static str) {
        assert!(
            SITUATIONS.contains(&situation) || OF_SERVED_VERSIONS.contains(&situation),
            "{situation} is in the list"
        );
        *self.0.entry(situation).or_default() += 1;
    }
}
