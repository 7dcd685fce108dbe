//! The naive model: a list of snapshots that is searched from end to end, with the rules written a second time.

use std::collections::{BTreeMap, BTreeSet};

use crate::Step;

/// A snapshot as readers see it: name, number, target state, stated version, and by mark what the mark is tied to.
pub(crate) type Seen = (String, u64, u8, Option<u8>, BTreeMap<String, usize>);

/// How long a mark that is tied to renewals lasts, in seconds; the other ties are the member and the object.
pub(crate) const TTLS: [u64; 2] = [10, 60];
pub(crate) const MEMBER: usize = 2;
pub(crate) const OBJECT: usize = 3;
/// How long the member lasts, in seconds: longer than a history waits without having it expire.
pub(crate) const MEMBER_TTL: u64 = 7_200;

/// The answer to a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) name: Option<String>,
    pub(crate) number: Option<u64>,
    pub(crate) outcome: Option<&'static str>,
    pub(crate) deleted: usize,
    pub(crate) adopted: usize,
}

#[derive(Clone, Debug)]
struct Snapshot {
    name: String,
    owner: Option<usize>,
    number: u64,
    born: usize,
    state: u8,
    version: Option<u8>,
    /// By mark: what it is tied to, and when it ends if it is tied to renewals.
    marks: BTreeMap<String, (usize, u64)>,
}

impl Snapshot {
    fn seen(&self) -> Seen {
        let marks = self
            .marks
            .iter()
            .map(|(mark, (tie, _))| (mark.clone(), *tie));
        let marks = marks.collect();
        (
            self.name.clone(),
            self.number,
            self.state,
            self.version,
            marks,
        )
    }
}

#[derive(Default)]
pub(crate) struct Model {
    all: Vec<Snapshot>,
    born: usize,
    collisions: [u32; 2],
    now: u64,
}

impl Model {
    pub(crate) fn history(&self, owner: usize) -> Vec<Seen> {
        self.sorted(Some(owner))
            .iter()
            .map(|i| self.all[*i].seen())
            .collect()
    }

    pub(crate) fn orphans(&self) -> BTreeSet<Seen> {
        self.sorted(None)
            .iter()
            .map(|i| self.all[*i].seen())
            .collect()
    }

    /// The name of the snapshot at this position, counted from the newest.
    pub(crate) fn named(&self, owner: usize, back: usize) -> Option<String> {
        let sorted = self.sorted(Some(owner));
        let i = sorted.iter().rev().nth(back)?;
        Some(self.all[*i].name.clone())
    }

    pub(crate) fn collisions(&self, owner: usize) -> u32 {
        self.collisions[owner]
    }

    fn sorted(&self, owner: Option<usize>) -> Vec<usize> {
        let mut found: Vec<usize> = (0..self.all.len())
            .filter(|i| self.all[*i].owner == owner)
            .collect();
        found.sort_by_key(|i| {
            (
                self.all[*i].number,
                self.all[*i].born,
                self.all[*i].name.clone(),
            )
        });
        found
    }

    /// Carries out the step. The name of a new snapshot comes from the machine, and is checked here to be free.
    pub(crate) fn carry_out(
        &mut self,
        step: &Step,
        name: Option<&str>,
        reached: &mut BTreeSet<&'static str>,
    ) -> Told {
        match step {
            Step::Want { .. } => self.create(step, name, reached),
            Step::RollBack { owner, back } => self.roll_back(*owner, *back, reached),
            Step::Mark {
                owner,
                current,
                update,
                in_use,
                marker,
                tie,
            } => {
                self.mark(*owner, [*current, *update], in_use, *marker, *tie);
                Told::default()
            }
            Step::Wait { seconds } => {
                self.wait(*seconds, reached);
                Told::default()
            }
            Step::MemberGoes { expires, .. } => {
                if *expires {
                    self.wait(MEMBER_TTL, reached);
                }
                self.ends(MEMBER, "marks of a member gone", reached);
                Told::default()
            }
            Step::ObjectGoes => {
                self.ends(OBJECT, "marks of an object gone", reached);
                Told::default()
            }
            Step::Truncate { owner, limit } => Told {
                deleted: self.truncate(*owner, *limit, None),
                ..Told::default()
            },
            Step::Forward { owner, back, by } => {
                if let Some(i) = self.sorted(Some(*owner)).iter().rev().nth(*back) {
                    self.all[*i].number += by;
                }
                Told::default()
            }
            Step::DeleteOne { owner, back } => {
                let name = self.named(*owner, *back);
                self.delete(|snapshot| Some(&snapshot.name) == name.as_ref())
            }
            Step::DeleteAll { owner } => self.delete(|snapshot| snapshot.owner == Some(*owner)),
            Step::Release { owner, back } => {
                if let Some(i) = self.sorted(Some(*owner)).iter().rev().nth(*back).copied() {
                    reached.insert("released");
                    let snapshot = &mut self.all[i];
                    snapshot.owner = None;
                    snapshot.marks.clear();
                }
                Told::default()
            }
            Step::Adopt { owner } => Told {
                adopted: self.adopt(*owner),
                ..Told::default()
            },
        }
    }

    fn delete(&mut self, goes: impl Fn(&Snapshot) -> bool) -> Told {
        let before = self.all.len();
        self.all.retain(|snapshot| !goes(snapshot));
        Told {
            deleted: before - self.all.len(),
            ..Told::default()
        }
    }

    fn create(
        &mut self,
        step: &Step,
        name: Option<&str>,
        reached: &mut BTreeSet<&'static str>,
    ) -> Told {
        let Step::Want {
            owner,
            state,
            limit,
            number,
            selects,
            update,
            version,
            named,
            ..
        } = step
        else {
            panic!("not a step that wants something: {step:?}");
        };
        let adopted = if *selects && !named {
            self.adopt(*owner)
        } else {
            0
        };
        if adopted > 0 {
            reached.insert("adopted by a create");
        }
        let newest_before = self.named(*owner, 0);
        let mut told = match named {
            true => self.put(*owner, *state, *number, name, reached),
            false => self.want(*owner, *state, *number, name, reached),
        };
        let wanted = told.name.clone().expect("what is wanted has a name");
        self.learn(&wanted, *version, told.outcome == Some("created"), reached);
        told.adopted = adopted;
        if let Some(tie) = update {
            self.put_mark("update", *owner, &[0], *tie);
            reached.insert("marked by a create");
        }
        if told.outcome != Some("unchanged") && !named {
            told.deleted = self.truncate(*owner, *limit, newest_before.as_deref());
            if told.deleted > 0 {
                reached.insert("truncated by a create");
            }
            if self.sorted(Some(*owner)).len() > *limit as usize + 1 {
                reached.insert("live kept beyond the limit");
            }
        }
        told
    }

    /// A stated version stays as it was stated first.
    fn learn(
        &mut self,
        name: &str,
        version: Option<u8>,
        is_new: bool,
        reached: &mut BTreeSet<&'static str>,
    ) {
        let mut all = self.all.iter_mut();
        let found = all.find(|snapshot| snapshot.name == name);
        let found = found.expect("it is there");
        if found.version.is_none() && version.is_some() {
            found.version = version;
            if !is_new {
                reached.insert("version learned");
            }
        }
    }

    fn mark(
        &mut self,
        owner: usize,
        [current, update]: [usize; 2],
        in_use: &[usize],
        marker: u8,
        tie: usize,
    ) {
        self.put_mark("current", owner, &[current], tie);
        self.put_mark("update", owner, &[update], tie);
        self.put_mark(&marker.to_string(), owner, in_use, tie);
    }

    /// Puts the mark on the snapshots at these positions, counted from the newest, and on no others.
    fn put_mark(&mut self, mark: &str, owner: usize, on: &[usize], tie: usize) {
        let ends = TTLS.get(tie).map_or(u64::MAX, |ttl| self.now + ttl);
        for (back, i) in self.sorted(Some(owner)).iter().rev().enumerate() {
            self.all[*i].marks.remove(mark);
            if on.contains(&back) {
                self.all[*i].marks.insert(mark.to_owned(), (tie, ends));
            }
        }
    }

    fn wait(&mut self, seconds: u64, reached: &mut BTreeSet<&'static str>) {
        self.now += seconds;
        for snapshot in &mut self.all {
            let before = snapshot.marks.len();
            snapshot.marks.retain(|_, (_, ends)| *ends > self.now);
            if snapshot.marks.len() < before {
                reached.insert("marks not renewed");
            }
        }
    }

    fn ends(&mut self, post: usize, what: &'static str, reached: &mut BTreeSet<&'static str>) {
        for snapshot in &mut self.all {
            let before = snapshot.marks.len();
            snapshot.marks.retain(|_, (tie, _)| *tie != post);
            if snapshot.marks.len() < before {
                reached.insert(what);
            }
        }
    }

    fn want(
        &mut self,
        owner: usize,
        state: u8,
        given: Option<u64>,
        name: Option<&str>,
        reached: &mut BTreeSet<&'static str>,
    ) -> Told {
        let sorted = self.sorted(Some(owner));
        let highest = sorted.last().map(|i| self.all[*i].number);
        let next = highest.map_or(1, |highest| highest + 1);
        let equal = sorted
            .iter()
            .rev()
            .copied()
            .find(|i| self.all[*i].state == state);
        if let Some(i) = equal {
            let outcome = if sorted.last() == Some(&i) {
                "unchanged"
            } else {
                "rolled back"
            };
            if outcome == "rolled back" {
                self.all[i].number = next;
                reached.insert("rolled back by a create");
            } else {
                reached.insert("unchanged");
            }
            return self.told(i, outcome);
        }
        let number = match given {
            Some(given) if highest.is_none_or(|highest| given > highest) => {
                reached.insert("given number used");
                given
            }
            _ => next,
        };
        reached.insert("created");
        self.add(owner, state, number, name)
    }

    /// The owner has compared and counted.
    fn put(
        &mut self,
        owner: usize,
        state: u8,
        given: Option<u64>,
        name: Option<&str>,
        reached: &mut BTreeSet<&'static str>,
    ) -> Told {
        let sorted = self.sorted(Some(owner));
        let highest = sorted.last().map(|i| self.all[*i].number);
        reached.insert("named by its owner");
        let number = given.unwrap_or(highest.map_or(1, |highest| highest + 1));
        self.add(owner, state, number, name)
    }

    fn add(&mut self, owner: usize, state: u8, number: u64, name: Option<&str>) -> Told {
        let name = name.expect("a new snapshot has a name");
        assert!(
            self.all.iter().all(|snapshot| snapshot.name != name),
            "{name} was free"
        );
        self.born += 1;
        self.all.push(Snapshot {
            name: name.to_owned(),
            owner: Some(owner),
            number,
            born: self.born,
            state,
            version: None,
            marks: BTreeMap::new(),
        });
        self.told(self.all.len() - 1, "created")
    }

    fn roll_back(
        &mut self,
        owner: usize,
        back: usize,
        reached: &mut BTreeSet<&'static str>,
    ) -> Told {
        let sorted = self.sorted(Some(owner));
        let Some(i) = sorted.iter().rev().nth(back).copied() else {
            return Told::default();
        };
        if back == 0 {
            return self.told(i, "unchanged");
        }
        let newest = sorted
            .last()
            .expect("the history has one that is not the newest");
        self.all[i].number = self.all[*newest].number + 1;
        reached.insert("rolled back by name");
        self.told(i, "rolled back")
    }

    fn told(&self, i: usize, outcome: &'static str) -> Told {
        Told {
            name: Some(self.all[i].name.clone()),
            number: Some(self.all[i].number),
            outcome: Some(outcome),
            ..Told::default()
        }
    }

    fn adopt(&mut self, owner: usize) -> usize {
        let mut adopted = 0;
        for snapshot in self
            .all
            .iter_mut()
            .filter(|snapshot| snapshot.owner.is_none())
        {
            snapshot.owner = Some(owner);
            adopted += 1;
        }
        adopted
    }

    fn truncate(&mut self, owner: usize, limit: u32, spared: Option<&str>) -> usize {
        let mut deleted = 0;
        loop {
            let mut sorted = self.sorted(Some(owner));
            // The newest, which the owner wants, needs no mark.
            sorted.pop();
            let idle: Vec<usize> = sorted
                .into_iter()
                .filter(|i| self.all[*i].marks.is_empty())
                .collect();
            if idle.len() <= limit as usize {
                return deleted;
            }
            let Some(oldest) = idle
                .into_iter()
                .find(|i| Some(self.all[*i].name.as_str()) != spared)
            else {
                return deleted;
            };
            self.all.remove(oldest);
            deleted += 1;
        }
    }

    pub(crate) fn count_collisions(
        &mut self,
        owner: usize,
        count: u32,
        reached: &mut BTreeSet<&'static str>,
    ) {
        if count > self.collisions[owner] {
            reached.insert("collided with the other owner");
        }
        self.collisions[owner] = count;
    }
}
