//! Clients of consensus alone: they join members, one after another, and read which have joined.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rand::RngExt;
use rand::rngs::StdRng;
use synod_machine::{Command, Envelope, LogEntry, State};
use synod_model::stored::to_bytes;
use synod_model::{
    BinaryVersion, Endpoint, InstanceId, Join, Labels, LogTime, MemberId, Ttl, WallTime,
};
use synod_server::consensus::{Consensus, ProposeError};
use tokio::time::Instant;

use crate::machine::Machine;
use crate::net::Host;
use crate::trace::Trace;

/// The known fate of each proposal, by the number of its member.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Entries>>);

#[derive(Default)]
struct Entries {
    proposals: BTreeMap<u64, Fate>,
    broken_reads: Vec<String>,
    reads: usize,
}

/// The fate of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// There is no answer yet, or one that does not tell.
    Unknown,
    /// It was acknowledged: it is executed, and must not be lost.
    Acknowledged,
    /// It was answered as not executed: it must never be executed.
    NotExecuted,
}

impl Ledger {
    /// Starts a proposal or a read, now and then.
    pub(crate) fn begin(
        &self,
        machines: &BTreeMap<Host, Machine>,
        rng: &mut StdRng,
        trace: &Trace,
    ) {
        if rng.random_ratio(1, 4)
            && let Some(machine) = pick(machines, rng)
        {
            self.propose(machine, trace);
        }
        if rng.random_ratio(1, 20)
            && let Some(machine) = pick(machines, rng)
        {
            self.read(machine, trace);
        }
    }

    /// Proposes to join the next member, on `machine`.
    pub(crate) fn propose(&self, machine: &Machine, trace: &Trace) {
        let Some(consensus) = machine.consensus() else {
            return;
        };
        let number = {
            let mut entries = self.0.lock().unwrap();
            let number = entries.proposals.len() as u64;
            entries.proposals.insert(number, Fate::Unknown);
            number
        };
        let (ledger, trace) = (self.clone(), trace.clone());
        machine.spawn(async move {
            let outcome = consensus.propose(join(number), None).await;
            let fate = match &outcome {
                Ok(applied) if applied.applied.outcomes[0].result.is_ok() => Fate::Acknowledged,
                Err(ProposeError::Unknown) => Fate::Unknown,
                // Until the cluster has its id, commands are refused in apply.
                Ok(_)
                | Err(
                    ProposeError::NotLeader { .. }
                    | ProposeError::NotExecuted(_)
                    | ProposeError::Stopped,
                ) => Fate::NotExecuted,
            };
            trace.add(format_args!(
                "proposal {number} on {}: {fate:?}",
                consensus.replica()
            ));
            ledger.0.lock().unwrap().proposals.insert(number, fate);
        });
    }

    /// Reads on `machine`, and checks that everything acknowledged before is there.
    pub(crate) fn read(&self, machine: &Machine, trace: &Trace) {
        let Some(consensus) = machine.consensus() else {
            return;
        };
        let expected = self.with_fate(Fate::Acknowledged);
        let (ledger, trace) = (self.clone(), trace.clone());
        machine.spawn(async move {
            let Some(index) = read_index(&consensus).await else {
                return;
            };
            let deadline = Instant::now() + Duration::from_secs(5);
            let Ok(published) = consensus.wait_applied(index, deadline).await else {
                return;
            };
            let missing = missing(&published.state, &expected);
            let mut entries = ledger.0.lock().unwrap();
            entries.reads += 1;
            if let Some(number) = missing {
                let line = format!(
                    "a read on {} at index {index} misses proposal {number}",
                    consensus.replica()
                );
                trace.add(&line);
                entries.broken_reads.push(line);
            }
        });
    }

    pub(crate) fn with_fate(&self, fate: Fate) -> BTreeSet<u64> {
        let entries = self.0.lock().unwrap();
        entries
            .proposals
            .iter()
            .filter(|(_, known)| **known == fate)
            .map(|(number, _)| *number)
            .collect()
    }

    pub(crate) fn acknowledged(&self) -> BTreeSet<u64> {
        self.with_fate(Fate::Acknowledged)
    }

    pub(crate) fn broken_reads(&self) -> Vec<String> {
        self.0.lock().unwrap().broken_reads.clone()
    }

    /// The number of answered reads.
    pub(crate) fn reads(&self) -> usize {
        self.0.lock().unwrap().reads
    }
}

async fn read_index(consensus: &Consensus) -> Option<u64> {
    if let Ok(position) = consensus.read_index().await {
        return Some(position.index);
    }
    let leader = consensus.leadership().borrow().leader?;
    let position = consensus
        .remote_read_index(leader, Duration::from_secs(1))
        .await
        .ok()?;
    Some(position.index)
}

/// Picks a machine for a request, mostly the leader.
fn pick<'a>(machines: &'a BTreeMap<Host, Machine>, rng: &mut StdRng) -> Option<&'a Machine> {
    let running: Vec<_> = machines
        .values()
        .filter(|machine| machine.is_running())
        .collect();
    match running.iter().find(|machine| machine.leads()) {
        Some(leader) if rng.random_ratio(4, 5) => Some(leader),
        _ if running.is_empty() => None,
        _ => Some(running[rng.random_range(0..running.len())]),
    }
}

/// A number of `expected` whose member is not in `state`.
pub(crate) fn missing(state: &State, expected: &BTreeSet<u64>) -> Option<u64> {
    let present = state.present();
    expected
        .iter()
        .copied()
        .find(|number| present.member(&member(*number)).is_none())
}

/// A number of `numbers` whose member is in `state`.
pub(crate) fn present(state: &State, numbers: &BTreeSet<u64>) -> Option<u64> {
    let present = state.present();
    numbers
        .iter()
        .copied()
        .find(|number| present.member(&member(*number)).is_some())
}

fn join(number: u64) -> Bytes {
    entry(Command::Join(Join {
        id: member(number),
        instance: InstanceId::parse("simulated").unwrap(),
        ttl: Ttl::DEFAULT,
        labels: Labels::default(),
        version: BinaryVersion::parse("1").unwrap(),
        endpoint: Endpoint::parse("").unwrap(),
        lost_epoch: None,
        gated: true,
    }))
}

fn member(number: u64) -> MemberId {
    MemberId::parse(&format!("member-{number}")).unwrap()
}

/// The log entry of one command.
pub(crate) fn entry(command: Command) -> Bytes {
    to_bytes(&LogEntry {
        log_time: LogTime::from_millis(1),
        lift_deadlines: false,
        wall: WallTime::from_millis(0),
        commands: vec![Envelope {
            actor: None,
            request: None,
            command: Arc::new(command),
        }],
    })
}
