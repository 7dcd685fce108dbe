//! Which rules of stores with several names the random logs reach.

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::{Applied, Command, LogEntry, Outcome, Past, State};
use synod_model::{ErrorKind, GroupResource, Refusal, ResourceScope, Revision, TopicKind};

/// How often each situation came up.
#[derive(Debug, Default)]
pub(crate) struct ReachedEquivalents(BTreeMap<&'static str, u32>);

const SITUATIONS: [&str; 17] = [
    "two known stores were joined",
    "a name that was never known was joined",
    "a report told of other names",
    "a report told of other names again",
    "refused: a member reports two names",
    "refused: a selected version that a member does not decode",
    "refused: two collections",
    "refused: a name that cannot be one of several",
    "refused: a report of two names of one store",
    "refused: a collection under another name",
    "another name was taken out",
    "the first name was taken out",
    "refused: a name that an entry tells",
    "refused: a name that is not one of several",
    "a migration was claimed under another name",
    "a roster over another name was set",
    "refused: a look",
];

const OF_KEYS: [&str; 4] = [
    "keys were joined",
    "keys were taken apart",
    "a key was claimed under another name",
    "refused: a key that a member does not decode",
];

impl ReachedEquivalents {
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        self.lacking(&SITUATIONS)
    }

    pub(crate) fn missing_of_keys(&self) -> Vec<&'static str> {
        self.lacking(&OF_KEYS)
    }

    fn lacking(&self, of: &[&'static str]) -> Vec<&'static str> {
        let situations = of.iter().copied();
        situations.filter(|one| !self.0.contains_key(one)).collect()
    }

    pub(crate) fn look(&mut self, entry: &LogEntry, applied: &Applied, after: &State) {
        for (envelope, outcome) in entry.commands.iter().zip(&applied.outcomes) {
            let last = outcome.revision.get() - u64::from(outcome.changed);
            match (&outcome.result, after.at(Revision::new(last))) {
                (Ok(_), Ok(then)) => self.look_at_success(&envelope.command, outcome, &then),
                (Ok(_), Err(_)) => {}
                (Err(refusal), _) => self.look_at_refusal(&envelope.command, refusal),
            }
        }
    }

    fn look_at_success(&mut self, command: &Command, outcome: &Outcome, then: &Past<'_>) {
        match command {
            Command::AddEquivalents(add) if outcome.changed => {
                self.look_at_joined(&add.resources, then);
            }
            Command::Report(report) => {
                for said in report
                    .entries
                    .iter()
                    .filter(|it| !it.equivalents.is_empty())
                {
                    let mut names = said.equivalents.clone();
                    names.insert(said.resource.clone());
                    match firsts(then, &names).len() {
                        1 => self.came_to("a report told of other names again"),
                        _ => {
                            self.came_to("a report told of other names");
                            self.look_at_joined(&names, then);
                        }
                    }
                }
            }
            Command::RemoveEquivalent(remove) => {
                self.came_to(match first(then, &remove.resource) == remove.resource {
                    true => "the first name was taken out",
                    false => "another name was taken out",
                });
                if has_keys(then) {
                    self.came_to("keys were taken apart");
                }
            }
            Command::ClaimMigration(claim) if outcome.changed => {
                let name = claim.id.resource();
                if first(then, name) != *name {
                    self.came_to(match TopicKind::of(name) {
                        TopicKind::Key => "a key was claimed under another name",
                        _ => "a migration was claimed under another name",
                    });
                }
            }
            Command::SetRoster(set) if outcome.changed => {
                if let ResourceScope::Resource(name) = &set.scope
                    && first(then, name) != *name
                {
                    self.came_to("a roster over another name was set");
                }
            }
            _ => {}
        }
    }

    fn look_at_joined(&mut self, names: &BTreeSet<GroupResource>, then: &Past<'_>) {
        let firsts = firsts(then, names);
        let known = firsts
            .iter()
            .filter(|name| then.storage_state(name).is_some());
        if known.count() > 1 {
            self.came_to("two known stores were joined");
        }
        if firsts.iter().any(|name| then.storage_state(name).is_none()) {
            self.came_to("a name that was never known was joined");
        }
        if has_keys(then) {
            self.came_to("keys were joined");
        }
    }

    fn look_at_refusal(&mut self, command: &Command, refusal: &Refusal) {
        let says = |text: &str| refusal.message.contains(text);
        let is_join = says("cannot be names of one store");
        match (command, refusal.kind) {
            (_, ErrorKind::Conflict) if is_join && says("reports two of them") => {
                self.came_to("refused: a member reports two names");
            }
            (_, ErrorKind::Conflict) if is_join && says("cannot decode it") => {
                let is_of_keys = refusal.message.contains("keys.synod");
                self.came_to(match is_of_keys {
                    true => "refused: a key that a member does not decode",
                    false => "refused: a selected version that a member does not decode",
                });
            }
            (_, ErrorKind::Conflict) if is_join && says("have a collection") => {
                self.came_to("refused: two collections");
            }
            (Command::AddEquivalents(_), ErrorKind::InvalidArgument) => {
                self.came_to("refused: a name that cannot be one of several");
            }
            (Command::Report(_), ErrorKind::InvalidArgument)
                if refusal
                    .violations
                    .iter()
                    .any(|it| it.rule.contains("its store is")) =>
            {
                self.came_to("refused: a report of two names of one store");
            }
            (Command::CreateCollection(_), ErrorKind::Conflict) if says("another name of") => {
                self.came_to("refused: a collection under another name");
            }
            (Command::RemoveEquivalent(_), ErrorKind::Conflict) => {
                self.came_to("refused: a name that an entry tells");
            }
            (Command::RemoveEquivalent(_), ErrorKind::NotFound) => {
                self.came_to("refused: a name that is not one of several");
            }
            (Command::ObserveStorage(_), ErrorKind::InvalidArgument)
                if says("under several names") =>
            {
                self.came_to("refused: a look");
            }
            _ => {}
        }
    }

    fn came_to(&mut self, situation: &'static str) {
        assert!(
            SITUATIONS.contains(&situation) || OF_KEYS.contains(&situation),
            "{situation} is in the list"
        );
        *self.0.entry(situation).or_default() += 1;
    }
}

/// The first name of a store at a revision.
fn first(past: &Past<'_>, name: &GroupResource) -> GroupResource {
    let kept = past.storage_state(name);
    kept.map_or_else(|| name.clone(), |kept| kept.resource)
}

fn firsts(past: &Past<'_>, names: &BTreeSet<GroupResource>) -> BTreeSet<GroupResource> {
    names.iter().map(|name| first(past, name)).collect()
}

fn has_keys(past: &Past<'_>) -> bool {
    let mut known = past.storage_states(None);
    known.any(|kept| TopicKind::of(&kept.resource) == TopicKind::Key)
}
