//! Renewals without a log entry: extended by the leader alone, and answered after a confirmed round of leadership.

use std::sync::Arc;

use synod_machine::{Command, Outcome};
use tokio::time::Instant;

use super::sequencer::Sequencer;
use crate::consensus::{Position, Term};
use crate::metrics::ProposerMetrics;
use crate::read::Reader;

/// Carries out renewals on the leader.
pub(super) struct Renewals {
    pub(super) sequencer: Sequencer,
    pub(super) reader: Reader,
    pub(super) metrics: Arc<ProposerMetrics>,
}

/// Renewals whose deadlines this leader has extended. They must not be answered before they are confirmed.
#[derive(Debug)]
pub(super) struct Extended {
    term: Term,
    renewals: Vec<Arc<Command>>,
}

impl Renewals {
    /// Extends the deadlines of what these commands renew. `None` if the commands must go into the log: this replica does
    /// not lead, a command is no renewal, or what it renews is being expired.
    pub(super) fn extend(&self, renewals: Vec<Arc<Command>>) -> Option<Extended> {
        let term = self.sequencer.extend(&renewals)?;
        Some(Extended { term, renewals })
    }

    /// Waits until a quorum confirms that this replica has led since the renewals came. Returns an outcome for each, and
    /// the position whose state they were judged by. `None` if that cannot be confirmed: then they must go into the log.
    pub(super) async fn confirm(
        &self,
        extended: &Extended,
        deadline: Instant,
    ) -> Option<(Position, Vec<Outcome>)> {
        let published = self.reader.confirm(deadline).await.ok()?;
        // A round that another leader answered confirms that one. A replica leads in a term once at most.
        if !self.sequencer.leads(extended.term) {
            return None;
        }
        let state = &published.state;
        let outcomes = extended.renewals.iter().map(|command| {
            let renewed = state.renewal(command)?;
            Some(Outcome {
                revision: state.revision(),
                changed: false,
                result: renewed.map(|renewal| renewal.answer),
            })
        });
        let outcomes: Vec<Outcome> = outcomes.collect::<Option<_>>()?;
        self.metrics.kept(outcomes.len());
        Some((published.applied?, outcomes))
    }
}
