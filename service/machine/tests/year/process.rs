//! A process of an API server that follows the rules of the write gate: its knowledge, gates and proof of membership.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use synod_model::{
    BinaryVersion, Endpoint, Epoch, InstanceId, Join, Labels, MemberId, Report, ReportEntry,
    Revision, Stance, StatementNumber, StoredIn, Ttl, VersionSet,
};

use crate::agenda::Time;
use crate::cluster::{About, RESOURCES, VOTED, about, kind, resource, version_of};
use crate::store::{Resource, Version};

/// How long the gate stays open after a renewal was sent: 0.9 of the TTL, by the process's own clock.
const PROOF_MS: u64 = 13_500;

/// The first version that a release can be about.
pub(crate) const FIRST_VERSION: Version = 1;

const LEGAL: &str = "the year uses legal names and numbers";

/// What is compiled into a binary: it decodes the version `about`, the one before and the one after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    /// The version that it prefers where it votes.
    pub(crate) about: Version,
    /// The version that it encodes where it does not vote.
    pub(crate) encodes: Version,
}

impl Release {
    fn decodes(self) -> RangeInclusive<Version> {
        self.about - 1..=self.about + 1
    }

    /// What it reads of what is voted on.
    pub(crate) fn reads(self) -> RangeInclusive<Version> {
        match about() {
            About::Encodings | About::Keys => self.decodes(),
            About::Levels => 1..=self.about,
        }
    }
}

/// How a process ends, or is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    /// Its gate closes, its writes land, and it leaves.
    Stopped,
    /// It is killed.
    Killed,
    /// It is paused by the system while another process takes its place, and resumes later.
    Overtaken,
}

/// The write gate of a process for one resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    /// The version that it writes; `None`: the gate is closed.
    pub(crate) encoding: Option<Version>,
    /// The revision of the selection that it follows.
    pub(crate) selected_revision: Revision,
    /// Whether to adopt the selection as soon as no write in another version is on its way.
    pub(crate) adopting: bool,
    /// The version to report as soon as no write is on its way; the gate is closed meanwhile.
    pub(crate) redefined: Option<Version>,
    /// Writes whose answer is not known, by version.
    pub(crate) under_way: BTreeMap<Version, u32>,
}

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) server: usize,
    pub(crate) instance: u64,
    pub(crate) release: Release,
    /// What it reads of what is voted on: the versions that it decodes, the keys that it holds, or the levels that it has.
    pub(crate) reads: RangeInclusive<Version>,
    /// What it votes for.
    pub(crate) prefers: Version,
    /// What it is to vote for from its next report on.
    pub(crate) turns_to: Option<Version>,
    /// It has joined a cluster that is lost.
    pub(crate) is_orphan: bool,
    /// `None`: it has not joined, or knows that it is no longer a member.
    pub(crate) epoch: Option<Epoch>,
    pub(crate) lost_epoch: Option<Epoch>,
    /// Whether it knows that its epoch has reported: otherwise every gate is closed, whatever the cluster received.
    pub(crate) is_reported: bool,
    /// The number of statements under its epoch.
    said: u64,
    /// How long a proof lasts by the leader's clock: the process's own clock runs faster or slower.
    proof: u64,
    pub(crate) proof_until: Time,
    pub(crate) is_alive: bool,
    pub(crate) is_paused: bool,
    /// It writes no more, and leaves.
    pub(crate) is_leaving: bool,
    /// The revision at which it last read the cluster.
    pub(crate) known: Revision,
    pub(crate) gates: [Gate; RESOURCES.len()],
    /// It does not take part: it knows nothing of the cluster, and writes the version that is compiled in.
    pub(crate) is_aloof: bool,
    /// The observer has seen what it shows.
    pub(crate) is_seen: bool,
    /// The time of its last write.
    pub(crate) wrote: Time,
}

impl Process {
    /// A process whose clock counts `rate` milliseconds while the leader's counts a thousand.
    pub(crate) fn instance_id(&self) -> InstanceId {
        InstanceId::parse(&format!("process-{}", self.instance)).expect(LEGAL)
    }

    pub(crate) fn new(server: usize, instance: u64, release: Release, rate: u64) -> Self {
        Self {
            server,
            instance,
            release,
            reads: release.reads(),
            prefers: release.about,
            turns_to: None,
            is_orphan: false,
            epoch: None,
            lost_epoch: None,
            is_reported: false,
            said: 0,
            proof: PROOF_MS * 1_000 / rate,
            proof_until: 0,
            is_alive: true,
            is_paused: false,
            is_leaving: false,
            known: Revision::ZERO,
            gates: Default::default(),
            is_aloof: false,
            is_seen: false,
            wrote: 0,
        }
    }

    /// Notes that it has joined, perhaps under the same epoch.
    pub(crate) fn joined(&mut self, epoch: Epoch) {
        if self.epoch.replace(epoch) != Some(epoch) {
            self.said = 0;
        }
        self.is_reported = false;
        self.is_orphan = false;
    }

    /// The number of its next statement.
    pub(crate) fn next_number(&mut self) -> StatementNumber {
        self.said += 1;
        StatementNumber::new(self.said).expect(LEGAL)
    }

    /// Notes that a renewal sent at this time has been acknowledged.
    pub(crate) fn proved(&mut self, sent: Time) {
        self.proof_until = sent + self.proof;
    }

    /// Whether it is alive and not paused.
    pub(crate) fn runs(&self) -> bool {
        self.is_alive && !self.is_paused
    }

    /// The version that it may write now.
    pub(crate) fn writes(&self, of: Resource, now: Time) -> Option<Version> {
        if self.is_aloof {
            return self.shows(of).filter(|_| self.runs() && !self.is_leaving);
        }
        self.would_write(of, now).filter(|_| self.runs())
    }

    /// The version that it may write now, or would if it resumed now.
    pub(crate) fn would_write(&self, of: Resource, now: Time) -> Option<Version> {
        let gate = &self.gates[of];
        let is_open = self.is_alive
            && !self.is_leaving
            && self.epoch.is_some()
            && now < self.proof_until
            && gate.redefined.is_none();
        gate.encoding.filter(|_| is_open)
    }

    /// The version that its discovery shows of a resource.
    pub(crate) fn shows(&self, of: Resource) -> Option<Version> {
        match (self.is_aloof, of) {
            (false, _) => self.gates[of].encoding,
            (true, VOTED) => Some(self.release.about),
            (true, _) => Some(self.release.encodes),
        }
    }

    /// Whether it decodes a version, holds a key or has a level.
    pub(crate) fn holds(&self, version: Version) -> bool {
        self.reads.contains(&version)
    }

    /// Closes every gate until the next report.
    pub(crate) fn close(&mut self) {
        self.lost_epoch = self.epoch.take().or(self.lost_epoch);
        self.is_reported = false;
        for gate in &mut self.gates {
            gate.encoding = None;
            gate.adopting = false;
            gate.redefined = None;
        }
    }

    /// Whether all its writes were answered.
    pub(crate) fn is_drained(&self) -> bool {
        self.gates.iter().all(|gate| gate.under_way.is_empty())
    }

    pub(crate) fn id(&self) -> MemberId {
        member(self.server)
    }

    pub(crate) fn join(&self) -> Join {
        Join {
            id: self.id(),
            instance: self.instance_id(),
            ttl: Ttl::DEFAULT,
            labels: Labels::parse([("role", "api")]).expect(LEGAL),
            version: BinaryVersion::default(),
            endpoint: Endpoint::default(),
            lost_epoch: self.lost_epoch,
            gated: true,
        }
    }

    pub(crate) fn report(&mut self, epoch: Epoch) -> Report {
        Report {
            member: self.id(),
            epoch,
            number: self.next_number(),
            entries: (0..RESOURCES.len()).map(|of| self.entry(of)).collect(),
            replace: true,
        }
    }

    /// Its report of a resource.
    pub(crate) fn entry(&self, of: Resource) -> ReportEntry {
        let reads = if of == VOTED {
            self.reads.clone()
        } else {
            self.release.decodes()
        };
        let decodable: VersionSet = reads.map(version_of).collect();
        ReportEntry {
            resource: resource(of),
            kind: kind(),
            served: decodable.clone(),
            decodable,
            stance: if of == VOTED {
                Stance::Voting {
                    preferred: version_of(self.prefers),
                }
            } else {
                Stance::Fixed {
                    encoding: version_of(self.release.encodes),
                }
            },
            serve_until: None,
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
        }
    }
}

impl Gate {
    /// Whether no write is on its way in another version than the one written now.
    pub(crate) fn is_drained_of_others(&self) -> bool {
        let others = self.under_way.keys();
        let mut others = others.filter(|version| Some(**version) != self.encoding);
        others.next().is_none()
    }

    pub(crate) fn sent(&mut self, version: Version) {
        *self.under_way.entry(version).or_default() += 1;
    }

    pub(crate) fn answered(&mut self, version: Version) {
        if let Some(count) = self.under_way.get_mut(&version) {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(&version);
            }
        }
    }
}

pub(crate) fn member(server: usize) -> MemberId {
    MemberId::parse(&format!("apiserver-{server}")).expect(LEGAL)
}
