//! The rules of leases once more, with lists that are searched from end to end, and no code of the machine.

use std::collections::{BTreeMap, BTreeSet};

/// The whole state, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) now: u64,
    pub(crate) lifted: u64,
    /// The revision of the last command that changed something.
    pub(crate) revision: u64,
    pub(crate) leases: BTreeMap<String, Lease>,
    /// In the order of their tickets.
    pub(crate) waiters: Vec<Waiter>,
    pub(crate) candidates: Vec<Candidate>,
    /// The epoch of each member.
    pub(crate) members: BTreeMap<String, u64>,
    /// Whether leases are switched off.
    pub(crate) off: bool,
    /// Whether so much precedes these leases that what follows from a switch comes with the next command.
    pub(crate) crowded: bool,
    /// The waiters that a switch has ended, while the rows of their places are there.
    pub(crate) ended: Vec<Waiter>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) held: Option<Held>,
    pub(crate) transitions: u64,
    pub(crate) preferred: Option<String>,
    pub(crate) set_at: u64,
    pub(crate) lasts: u64,
    /// Until when its present holder was promised the lease.
    pub(crate) promised: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) by: String,
    pub(crate) token: u64,
    pub(crate) ticket: Option<u64>,
    pub(crate) ttl: u64,
    pub(crate) member: Option<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) lease: String,
    pub(crate) who: String,
    pub(crate) ticket: u64,
    pub(crate) ttl: u64,
    pub(crate) wait: u64,
    pub(crate) set_at: u64,
    pub(crate) member: Option<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) lease: String,
    pub(crate) who: String,
    /// Emulation and binary version.
    pub(crate) versions: (u64, u64),
    pub(crate) known_strategy: bool,
    pub(crate) ttl: u64,
    pub(crate) set_at: u64,
    /// Until when it was promised to stay a candidate.
    pub(crate) promised: u64,
    pub(crate) created: u64,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Held(u64),
    Queued(u64),
    Done,
    Refused(&'static str),
}

/// How long a free lease is kept that no caller asks for.
const FORGOTTEN_AFTER: u64 = 24 * 60 * 60 * 1_000;

impl World {
    /// Leases are switched on or off, or stay as they are.
    pub(crate) fn switch(&mut self, off: bool) -> Said {
        if self.off != off {
            self.off = off;
            self.revision += 1;
            if off {
                self.ended.append(&mut self.waiters);
            }
            if !self.crowded {
                self.follow_at(self.revision);
            }
        }
        Said::Done
    }

    /// What follows from the last move of the switch is done.
    pub(crate) fn follow(&mut self) -> Said {
        self.turn(|world, revision| {
            world.follow_at(revision);
            Said::Done
        })
    }

    fn follow_at(&mut self, revision: u64) {
        self.ended.clear();
        let standing = self.candidates.iter().map(|it| it.lease.clone());
        let contended: BTreeSet<String> = standing.collect();
        for name in contended {
            self.settle(&name, revision);
        }
    }

    fn is_over(&self, set_at: u64, lasts: u64, promised: u64) -> bool {
        self.ends_at(set_at, lasts, promised) <= self.now
    }

    /// When a deadline ends: a promise stands, whatever TTL is asked for later.
    fn ends_at(&self, set_at: u64, lasts: u64, promised: u64) -> u64 {
        (set_at + lasts).max(self.lifted + lasts).max(promised)
    }

    /// Until when the present holder of a lease was promised it, perhaps just now and by the leader alone.
    fn promised_to_holder(&self, name: &str) -> u64 {
        let lease = self.leases.get(name);
        lease.map_or(0, |it| {
            self.ends_at(it.set_at, it.lasts, it.promised)
                .max(self.now + it.lasts)
        })
    }

    fn promised_to_candidate(&self, name: &str, who: &str) -> u64 {
        let mut candidates = self.candidates.iter();
        let candidate = candidates.find(|it| it.lease == name && it.who == who);
        candidate.map_or(0, |it| {
            self.ends_at(it.set_at, it.ttl, it.promised)
                .max(self.now + it.ttl)
        })
    }

    /// Carries out a change as the next revision, and undoes it if nothing visible changed.
    pub(crate) fn turn(&mut self, act: impl FnOnce(&mut Self, u64) -> Said) -> Said {
        let before = self.clone();
        let said = act(self, before.revision + 1);
        if self.visible() != before.visible() {
            self.revision += 1;
        }
        said
    }

    /// What moves the revision: everything but deadlines, and what a waiter changes of itself.
    fn visible(&self) -> impl PartialEq + use<> {
        let leases = self.leases.iter().map(|(name, lease)| {
            let held = lease.held.clone();
            (
                name.clone(),
                held,
                lease.transitions,
                lease.preferred.clone(),
            )
        });
        let waiters = self.waiters.iter().chain(&self.ended).map(|it| it.ticket);
        let candidates = self.candidates.iter().map(|it| Candidate {
            set_at: 0,
            promised: 0,
            ..it.clone()
        });
        (
            leases.collect::<Vec<_>>(),
            waiters.collect::<Vec<_>>(),
            candidates.collect::<Vec<_>>(),
            self.members.clone(),
        )
    }

    pub(crate) fn acquire(
        &mut self,
        name: &str,
        who: &str,
        ttl: u64,
        wait: Option<u64>,
        member: Option<(String, u64)>,
    ) -> Said {
        if self.off {
            return Said::Refused("SWITCHED_OFF");
        }
        self.turn(|world, revision| {
            if let Some((id, epoch)) = &member {
                match world.members.get(id) {
                    Some(present) if present == epoch => {}
                    Some(present) if present > epoch => return Said::Refused("STALE_EPOCH"),
                    _ => return Said::Refused("NOT_A_MEMBER"),
                }
            }
            let now = world.now;
            let lease = world.leases.get(name).cloned();
            let held = lease.as_ref().and_then(|lease| lease.held.clone());
            match held {
                Some(held) if held.by == who => {
                    let promised = world.promised_to_holder(name);
                    let lease = world.leases.get_mut(name).unwrap();
                    lease.held = Some(Held {
                        ttl,
                        member,
                        ..held.clone()
                    });
                    (lease.set_at, lease.lasts, lease.promised) = (now, ttl, promised);
                    Said::Held(held.token)
                }
                Some(_) => {
                    let Some(wait) = wait else {
                        return Said::Refused("CONFLICT");
                    };
                    world.ended.retain(|it| it.lease != name || it.who != who);
                    let mut waiters = world.waiters.iter();
                    let place = waiters.find(|it| it.lease == name && it.who == who);
                    let ticket = place.map_or(revision, |it| it.ticket);
                    world.queue(Waiter {
                        lease: name.to_owned(),
                        who: who.to_owned(),
                        ticket,
                        ttl,
                        wait,
                        set_at: now,
                        member,
                    });
                    Said::Queued(ticket)
                }
                None => {
                    let held = Held {
                        by: who.to_owned(),
                        token: revision,
                        ticket: None,
                        ttl,
                        member,
                    };
                    world.give(name, Some(held));
                    Said::Held(revision)
                }
            }
        })
    }

    /// Puts a waiter in its place, or in one at the end.
    fn queue(&mut self, waiter: Waiter) {
        let is_same = |it: &Waiter| it.lease == waiter.lease && it.who == waiter.who;
        match self.waiters.iter().position(is_same) {
            Some(at) => self.waiters[at] = waiter,
            None => self.waiters.push(waiter),
        }
    }

    pub(crate) fn renew(&mut self, name: &str, token: u64) -> Said {
        if self.off {
            return Said::Refused("SWITCHED_OFF");
        }
        let now = self.now;
        let promised = self.promised_to_holder(name);
        let lease = self.leases.get_mut(name);
        match lease.filter(|lease| lease.held.as_ref().is_some_and(|held| held.token == token)) {
            Some(lease) => {
                (lease.set_at, lease.promised) = (now, promised);
                Said::Held(token)
            }
            None => Said::Refused("STALE_EPOCH"),
        }
    }

    pub(crate) fn release(&mut self, name: &str, who: &str, token: Option<u64>) -> Said {
        self.turn(|world, revision| {
            if token.is_none() {
                world.waiters.retain(|it| it.lease != name || it.who != who);
                world.ended.retain(|it| it.lease != name || it.who != who);
            }
            let held = world.leases.get(name).and_then(|lease| lease.held.clone());
            if held.is_some_and(|held| held.by == who && token.is_none_or(|it| it == held.token)) {
                world.hand_on(name, revision);
            }
            Said::Done
        })
    }

    pub(crate) fn stand(&mut self, candidate: Candidate) -> Said {
        if self.off {
            return Said::Refused("SWITCHED_OFF");
        }
        self.turn(|world, revision| {
            let name = candidate.lease.clone();
            let same = |it: &&mut Candidate| it.lease == name && it.who == candidate.who;
            let now = world.now;
            let promised = world.promised_to_candidate(&name, &candidate.who);
            match world.candidates.iter_mut().find(same) {
                Some(present) => {
                    let created = present.created;
                    *present = Candidate {
                        created,
                        set_at: now,
                        promised,
                        ..candidate
                    };
                }
                None => world.candidates.push(Candidate {
                    created: revision,
                    set_at: now,
                    ..candidate
                }),
            }
            world.settle(&name, revision);
            Said::Done
        })
    }

    pub(crate) fn renew_candidate(&mut self, name: &str, who: &str) -> Said {
        if self.off {
            return Said::Refused("SWITCHED_OFF");
        }
        let now = self.now;
        let promised = self.promised_to_candidate(name, who);
        let mut candidates = self.candidates.iter_mut();
        match candidates.find(|it| it.lease == name && it.who == who) {
            Some(candidate) => {
                (candidate.set_at, candidate.promised) = (now, promised);
                Said::Done
            }
            None => Said::Refused("NOT_FOUND"),
        }
    }

    pub(crate) fn withdraw(&mut self, name: &str, who: &str) -> Said {
        self.turn(|world, revision| {
            world
                .candidates
                .retain(|it| it.lease != name || it.who != who);
            world.settle(name, revision);
            Said::Done
        })
    }

    /// Another process joins under the id.
    pub(crate) fn join(&mut self, id: &str) -> Said {
        self.turn(|world, revision| {
            world.members.insert(id.to_owned(), revision);
            world.end_holds_of(id, revision);
            Said::Done
        })
    }

    pub(crate) fn leave(&mut self, id: &str) -> Said {
        self.turn(|world, revision| {
            world.members.remove(id);
            world.end_holds_of(id, revision);
            Said::Done
        })
    }

    /// Removes everything past its deadline.
    pub(crate) fn expire(&mut self) -> Said {
        self.turn(|world, revision| {
            let then = world.clone();
            let mut touched: Vec<String> = Vec::new();
            world.candidates.retain(|it| {
                let over = then.is_over(it.set_at, it.ttl, it.promised);
                if over {
                    touched.push(it.lease.clone());
                }
                !over
            });
            world
                .waiters
                .retain(|it| !then.is_over(it.set_at, it.wait, 0));
            world
                .ended
                .retain(|it| !then.is_over(it.set_at, it.wait, 0));
            for (name, lease) in &then.leases {
                if !then.is_over(lease.set_at, lease.lasts, lease.promised) {
                    continue;
                }
                if lease.held.is_some() {
                    world.hand_on(name, revision);
                } else if world.ended.iter().all(|it| it.lease != *name) {
                    world.leases.remove(name);
                }
            }
            for name in touched {
                world.settle(&name, revision);
            }
            Said::Done
        })
    }

    fn end_holds_of(&mut self, id: &str, revision: u64) {
        for (name, lease) in self.leases.clone() {
            let member = lease.held.and_then(|held| held.member);
            if member.is_some_and(|(member, _)| member == id) {
                self.hand_on(&name, revision);
            }
        }
    }

    /// The holder releases the lease, which goes to the next one.
    pub(crate) fn hand_on(&mut self, name: &str, revision: u64) {
        if let Some(chosen) = self.chosen(name) {
            let place = self
                .waiters
                .iter()
                .position(|it| it.lease == name && it.who == chosen.who);
            let ticket = place.map(|at| self.waiters.remove(at).ticket);
            self.ended
                .retain(|it| it.lease != name || it.who != chosen.who);
            let held = Held {
                by: chosen.who,
                token: revision,
                ticket,
                ttl: chosen.ttl,
                member: None,
            };
            return self.give(name, Some(held));
        }
        while let Some(at) = self.waiters.iter().position(|it| it.lease == name) {
            let first = self.waiters.remove(at);
            let speaks = match &first.member {
                None => true,
                Some((id, epoch)) => self.members.get(id) == Some(epoch),
            };
            if speaks && !self.is_over(first.set_at, first.wait, 0) {
                let held = Held {
                    by: first.who,
                    token: revision,
                    ticket: Some(first.ticket),
                    ttl: first.ttl,
                    member: first.member,
                };
                return self.give(name, Some(held));
            }
        }
        self.give(name, None);
    }

    /// Called after candidates have changed.
    fn settle(&mut self, name: &str, revision: u64) {
        let is_held = self
            .leases
            .get(name)
            .is_some_and(|lease| lease.held.is_some());
        if is_held {
            self.prefer(name);
        } else if self.chosen(name).is_some() {
            self.hand_on(name, revision);
        }
    }

    fn give(&mut self, name: &str, held: Option<Held>) {
        let known = self.leases.get(name).map(|lease| lease.transitions);
        let lasts = held.as_ref().map_or(FORGOTTEN_AFTER, |held| held.ttl);
        let transitions = known.map_or(0, |count| count + u64::from(held.is_some()));
        let lease = Lease {
            held,
            transitions,
            preferred: None,
            set_at: self.now,
            lasts,
            promised: 0,
        };
        self.leases.insert(name.to_owned(), lease);
        self.prefer(name);
    }

    fn prefer(&mut self, name: &str) {
        let chosen = self.chosen(name).map(|chosen| chosen.who);
        if let Some(lease) = self.leases.get_mut(name) {
            let holder = lease.held.as_ref().map(|held| held.by.clone());
            lease.preferred = chosen
                .filter(|_| holder.is_some())
                .filter(|it| Some(it) != holder.as_ref());
        }
    }

    fn chosen(&self, name: &str) -> Option<Candidate> {
        if self.off {
            return None;
        }
        let standing: Vec<&Candidate> = self
            .candidates
            .iter()
            .filter(|it| it.lease == name)
            .collect();
        let highest = standing.iter().map(|it| it.versions.1).max()?;
        let decides = |it: &&&Candidate| it.versions.1 == highest;
        if !standing.iter().filter(decides).all(|it| it.known_strategy) {
            return None;
        }
        standing
            .into_iter()
            .min_by_key(|it| (it.versions, it.created))
            .cloned()
    }
}
