//! Observers of the discovery of widgets, and the evidence that they have given.

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::{Look, StateStatus};

use crate::draws::{MEMBERS, SERVERS};
use crate::events::Event;
use crate::machine::hash;
use crate::schedule::{ResourceName, Server, Version};
use crate::world::TrueWorld;

/// An observer, by its name; `None` for the one that reaches every server.
type Observer = Option<Server>;

/// The evidence that observers have given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// The process that each observer saw last under each server, and the version that it showed.
    seen: BTreeMap<(Observer, Server), (usize, Version)>,
    /// When each server was seen by an observer that had not looked before.
    seen_first: BTreeMap<Server, u64>,
    observers: BTreeSet<Observer>,
}

impl Evidence {
    /// An operator ends all of it.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Returns whether the process shows the version, as far as anybody looked.
    pub(crate) fn shows(&self, process: usize, version: Version) -> bool {
        let mut seen = self.seen.values();
        seen.any(|it| *it == (process, version))
    }

    /// Returns whether an observer looked for the first time after this moment and saw the server.
    pub(crate) fn was_seen_first_since(&self, server: Server, moment: u64) -> bool {
        let seen = self.seen_first.get(server);
        seen.is_some_and(|seen| *seen >= moment)
    }

    fn record(
        &mut self,
        observer: Observer,
        now: u64,
        reached: &BTreeMap<Server, (usize, Version)>,
    ) {
        if self.observers.insert(observer) {
            let servers = reached.keys().copied();
            self.seen_first.extend(servers.map(|server| (server, now)));
        }
        if observer.is_none() {
            self.seen.retain(|(by, _), _| by.is_some());
        }
        let seen = reached.iter();
        let seen = seen.map(|(server, seen)| ((observer, *server), *seen));
        self.seen.extend(seen);
    }
}

impl TrueWorld {
    /// An observer reaches these servers and reports what they show.
    pub(crate) fn look(&mut self, servers: &[Server]) {
        let mut reached: BTreeMap<Server, (usize, Version)> = BTreeMap::new();
        for server in servers {
            let Some(at) = self.current(server) else {
                continue;
            };
            let process = &self.processes[at];
            if let (true, Some(version)) = (process.is_running, process.encodes) {
                reached.insert(*server, (at, version));
            }
        }
        if reached.is_empty() {
            return;
        }
        let observer = (servers.len() < SERVERS.len()).then(|| servers[0]);
        let shown = reached
            .iter()
            .map(|(server, (_, version))| (*server, *version));
        if self
            .machine
            .observe(ResourceName::Widgets, observer, shown.collect())
        {
            self.counts.note(Event::Observed);
            self.evidence.record(observer, self.now(), &reached);
        }
    }

    /// The machine may drop what an observer without a name showed, and what a member showed that has reported something
    /// else. What a named observer showed of any other server stays until an operator ends it.
    pub(crate) fn end_evidence(&mut self) {
        let status = self.machine.status(ResourceName::Widgets);
        let is_kept = |server, version| {
            let status = status.as_ref();
            status.is_some_and(|status| is_shown(status, server, version))
        };
        self.evidence
            .seen
            .retain(|(observer, server), (_, version)| {
                let stays = observer.is_some() && !MEMBERS.contains(server);
                stays || is_kept(server, *version)
            });
    }
}

/// Returns whether a look that the machine keeps shows the version at the server.
fn is_shown(status: &StateStatus, server: Server, version: Version) -> bool {
    let unnamed = match status.looks.is_empty() {
        true => &status.observation,
        false => &status.unnamed_look,
    };
    let hash = hash(version);
    let by_name = |look: &Look| {
        let shown = look.servers.get(server);
        shown.is_some_and(|shown| shown.hashes.contains(&hash))
    };
    let is_unnamed = unnamed
        .as_ref()
        .is_some_and(|seen| seen.hashes.contains(&hash));
    is_unnamed || status.looks.values().any(by_name)
}
