//! Packs commands into log entries, here or through the leader, and returns their outcomes.
//!
//! There are two lanes, each with a queue, entries in flight and, on a follower, a link of its own. Renewals, joins,
//! reports, leaves and expiries take one of them, so no flood of other requests can keep a member from renewing. A lane
//! is greedy: whatever has gathered while an entry was being written goes into the next one, and an idle lane sends a
//! lone request at once.
//!
//! A leader keeps renewals of members, leases and candidates to itself: they cost no log entry ([`kept`]).
//!
//! A request gets exactly one of three answers, within its deadline: the outcome of its command, which is then applied
//! on this replica too; that it was certainly not executed; or that its outcome is unknown.

#[cfg(test)]
pub(crate) mod costs;
mod driver;
mod entry;
mod inbound;
mod intake;
mod kept;
pub(crate) mod lane;
mod link;
mod log_time;
mod refusals;
mod renewals;
mod request;
mod sequencer;
mod settle;
mod stall;

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{Envelope, Holder, Outcome, State};
use synod_model::Refusal;
use synod_model::limits::COMMAND_BYTES_MAX;
use synod_model::stored::to_bytes;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::consensus::Consensus;
use crate::metrics::ProposerMetrics;
use crate::read::Reader;
use crate::seams::Seams;
use crate::stop::Stop;
use crate::traces::{Span, Stages, Traces};

use driver::Driver;
use intake::{Queue, Unit};
pub use lane::Lane;
use renewals::Renewals;
pub(crate) use sequencer::{Named, Sequencer};

/// Executes commands. Clones share the lanes.
#[derive(Clone)]
pub struct Proposer {
    shared: Arc<ProposerParts>,
}

struct ProposerParts {
    consensus: Consensus,
    ordinary: Queue,
    renewal: Queue,
    renewals: Renewals,
    /// Makes the spans of what other replicas forward.
    traces: Traces,
    /// Once requested, no more batches of other replicas are accepted.
    stop: Stop,
}

impl Proposer {
    /// Creates the proposer, and spawns its tasks, which run until `stop`.
    pub(crate) fn new(
        consensus: &Consensus,
        reader: &Reader,
        seams: &Seams,
        metrics: &Arc<ProposerMetrics>,
        stop: &Stop,
        tasks: &mut JoinSet<()>,
    ) -> (Self, Sequencer) {
        let sequencer = Sequencer::new(consensus.clone(), Arc::clone(&seams.wall));
        let mut lane = |lane| {
            let (queue, intake) = intake::queue();
            let (consensus, metrics) = (consensus.clone(), Arc::clone(metrics));
            let driver = Driver::new(lane, intake, sequencer.clone(), consensus, metrics);
            tasks.spawn(driver.run(stop.clone()));
            queue
        };
        let (ordinary, renewal) = (lane(Lane::Ordinary), lane(Lane::Renewal));
        tasks.spawn({
            let (sequencer, stop) = (sequencer.clone(), stop.clone());
            async move {
                tokio::select! {
                    biased;
                    () = stop.requested() => {}
                    () = sequencer.count() => {}
                }
            }
        });
        let shared = ProposerParts {
            consensus: consensus.clone(),
            ordinary,
            renewal,
            renewals: Renewals {
                sequencer: sequencer.clone(),
                reader: reader.clone(),
                metrics: Arc::clone(metrics),
            },
            traces: Traces::new(seams.traces.as_ref()),
            stop: stop.clone(),
        };
        (
            Self {
                shared: Arc::new(shared),
            },
            sequencer,
        )
    }

    /// Executes a command, and returns its outcome once it is applied here.
    ///
    /// # Errors
    ///
    /// Why the command has no outcome: with `not_executed` in the metadata it was certainly not executed, and otherwise
    /// the kind is `UNKNOWN_OUTCOME`. A command that a rule refused is no error here: its outcome is the refusal.
    pub(crate) async fn execute(
        &self,
        envelope: &Envelope,
        deadline: Instant,
        trace: Arc<str>,
        span: &Span,
    ) -> Result<Outcome, Refusal> {
        let lane = Lane::of(&envelope.command);
        if lane == Lane::Renewal
            && let Some(outcome) = self.shared.keep(envelope, deadline).await
        {
            return Ok(outcome);
        }
        let encoded = to_bytes(envelope);
        if encoded.len() > COMMAND_BYTES_MAX {
            return Err(refusals::too_large(encoded.len()));
        }
        let queue = self.shared.queue(lane);
        let place = queue.place(encoded.len())?;
        let (request, waiter) = request::request(encoded, deadline, trace, Stages::of(span), place);
        queue.push(Unit::Own(request))?;
        waiter.answered().await
    }

    /// The log time that is left to what renews. `None` if this replica does not lead: the leader alone knows.
    pub(crate) fn left(&self, state: &State, holder: &Holder) -> Option<Duration> {
        self.shared.renewals.sequencer.left(state, holder)
    }

    /// The number of requests waiting in a lane, and of their bytes.
    pub(crate) fn waiting(&self, lane: Lane) -> (usize, usize) {
        let queue = self.shared.queue(lane);
        (queue.len(), queue.bytes())
    }
}

impl ProposerParts {
    /// The outcome of a renewal that this replica keeps to itself, as the leader. `None` if it must go into the log. One
    /// with a request id goes there, since its outcome is kept.
    async fn keep(&self, envelope: &Envelope, deadline: Instant) -> Option<Outcome> {
        if envelope.request.is_some() {
            return None;
        }
        let unconfirmed = self.renewals.extend(std::slice::from_ref(envelope))?;
        let (_, mut outcomes) = self.renewals.confirm(&unconfirmed, deadline).await?;
        outcomes.pop()
    }

    fn queue(&self, lane: Lane) -> &Queue {
        match lane {
            Lane::Ordinary => &self.ordinary,
            Lane::Renewal => &self.renewal,
        }
    }
}
