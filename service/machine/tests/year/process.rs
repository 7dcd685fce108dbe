//! A process of an API server, by the rules of the write gate: what it knows, what it may write, and until when.

use std::collections::BTreeMap;

use synod_model::{
    BinaryVersion, Endpoint, Epoch, InstanceId, Join, Labels, MemberId, Report, ReportEntry,
    Revision, Stance, StatementNumber, Ttl, VersionSet,
};

use crate::agenda::Time;
use crate::cluster::{RESOURCES, VOTED, kind, resource, version_of};
use crate::store::{Resource, Version};

/// How long the gate stays open after a renewal was sent: 0.9 of the TTL, by the process's own clock.
const PROOF_MS: u64 = 13_500;

const LEGAL: &str = "the year uses legal names and numbers";

/// What a binary has compiled in: it decodes the version that it is about, the one before and the one after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    /// What it prefers where it votes.
    pub(crate) about: Version,
    /// What it encodes where it does not.
    pub(crate) encodes: Version,
}

/// How a server is brought down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    /// Its gate closes, what it has sent lands, and it leaves.
    Stopped,
    /// It is killed.
    Killed,
    /// It is stopped by the system while another process takes its place, and goes on later.
    Overtaken,
}

/// What a process may do for a resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    /// In what it writes; `None`: it is closed.
    pub(crate) encoding: Option<Version>,
    /// When the version was selected that it follows.
    pub(crate) selected_revision: Revision,
    /// It is to be adopted as soon as nothing in another version is on its way.
    pub(crate) adopting: bool,
    /// The version to be reported as soon as nothing is on its way; the gate is closed meanwhile.
    pub(crate) redefined: Option<Version>,
    /// Writes whose answer is not known, by version.
    pub(crate) under_way: BTreeMap<Version, u32>,
}

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) server: usize,
    pub(crate) instance: u64,
    pub(crate) release: Release,
    /// `None`: it has not joined, or knows that it is a member no more.
    pub(crate) epoch: Option<Epoch>,
    pub(crate) lost_epoch: Option<Epoch>,
    /// Whether it knows that its epoch has reported: else every gate is closed, whatever the cluster has heard.
    pub(crate) is_reported: bool,
    /// How much it has said under its epoch.
    said: u64,
    /// How long a proof lasts, by the leader's clock: its own runs faster or slower.
    proof: u64,
    pub(crate) proof_until: Time,
    pub(crate) is_alive: bool,
    pub(crate) is_paused: bool,
    /// It writes nothing more, and leaves.
    pub(crate) is_leaving: bool,
    /// It has looked at the cluster at this revision last.
    pub(crate) known: Revision,
    pub(crate) gates: [Gate; RESOURCES.len()],
    /// It knows nothing of the cluster, and writes what it has compiled in.
    pub(crate) is_aloof: bool,
    /// The observer has seen what it shows.
    pub(crate) is_seen: bool,
    /// When it last wrote.
    pub(crate) wrote: Time,
}

impl Process {
    /// A process whose clock counts so many milliseconds while the leader's counts a thousand.
    pub(crate) fn new(server: usize, instance: u64, release: Release, rate: u64) -> Self {
        Self {
            server,
            instance,
            release,
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

    /// It is a member, perhaps still.
    pub(crate) fn joined(&mut self, epoch: Epoch) {
        if self.epoch.replace(epoch) != Some(epoch) {
            self.said = 0;
        }
        self.is_reported = false;
    }

    /// The number of what it says next.
    pub(crate) fn next_number(&mut self) -> StatementNumber {
        self.said += 1;
        StatementNumber::new(self.said).expect(LEGAL)
    }

    /// A renewal that was sent at this time has been acknowledged.
    pub(crate) fn proved(&mut self, sent: Time) {
        self.proof_until = sent + self.proof;
    }

    /// Whether it can do anything.
    pub(crate) fn runs(&self) -> bool {
        self.is_alive && !self.is_paused
    }

    /// In what it may write now.
    pub(crate) fn writes(&self, of: Resource, now: Time) -> Option<Version> {
        if self.is_aloof {
            return self.shows(of).filter(|_| self.runs() && !self.is_leaving);
        }
        let gate = &self.gates[of];
        let is_open = self.runs()
            && !self.is_leaving
            && self.epoch.is_some()
            && now < self.proof_until
            && gate.redefined.is_none();
        gate.encoding.filter(|_| is_open)
    }

    /// What its discovery shows of a resource.
    pub(crate) fn shows(&self, of: Resource) -> Option<Version> {
        match (self.is_aloof, of) {
            (false, _) => self.gates[of].encoding,
            (true, VOTED) => Some(self.release.about),
            (true, _) => Some(self.release.encodes),
        }
    }

    /// Every gate is closed until there is a report again.
    pub(crate) fn close(&mut self) {
        self.lost_epoch = self.epoch.take().or(self.lost_epoch);
        self.is_reported = false;
        for gate in &mut self.gates {
            gate.encoding = None;
            gate.adopting = false;
            gate.redefined = None;
        }
    }

    /// Whether everything that it has sent was answered.
    pub(crate) fn is_drained(&self) -> bool {
        self.gates.iter().all(|gate| gate.under_way.is_empty())
    }

    pub(crate) fn id(&self) -> MemberId {
        member(self.server)
    }

    pub(crate) fn join(&self) -> Join {
        Join {
            id: self.id(),
            instance: InstanceId::parse(&format!("process-{}", self.instance)).expect(LEGAL),
            ttl: Ttl::DEFAULT,
            labels: Labels::parse([("role", "api")]).expect(LEGAL),
            version: BinaryVersion::default(),
            endpoint: Endpoint::default(),
            lost_epoch: self.lost_epoch,
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

    /// What it reports of a resource.
    pub(crate) fn entry(&self, of: Resource) -> ReportEntry {
        let Release { about, encodes } = self.release;
        let decodable: VersionSet = (about - 1..=about + 1).map(version_of).collect();
        ReportEntry {
            resource: resource(of),
            kind: kind(),
            served: decodable.clone(),
            decodable,
            stance: if of == VOTED {
                Stance::Voting {
                    preferred: version_of(about),
                }
            } else {
                Stance::Fixed {
                    encoding: version_of(encodes),
                }
            },
        }
    }
}

impl Gate {
    /// Whether nothing is on its way but in the version that is written now.
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
