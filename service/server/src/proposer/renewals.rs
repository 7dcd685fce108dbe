//! Renewals without a log entry: extended by the leader alone, and answered after a confirmed round of leadership.

use std::sync::Arc;

use synod_machine::{Envelope, Outcome};
use tokio::time::Instant;

use super::kept::Extended;
use super::sequencer::Sequencer;
use crate::consensus::{Position, Term};
use crate::metrics::ProposerMetrics;
use crate::read::{ConfirmedState, Reader};

/// Carries out renewals on the leader.
pub(super) struct Renewals {
    pub(super) sequencer: Sequencer,
    pub(super) reader: Reader,
    pub(super) metrics: Arc<ProposerMetrics>,
}

/// Renewals that came together and whose deadlines this leader has extended. They must not be answered before they are
/// confirmed.
#[derive(Debug)]
pub(super) struct Unconfirmed {
    term: Term,
    renewals: Vec<Extended>,
}

impl Renewals {
    /// Extends the deadlines of what these commands renew. `None` if the commands must go into the log: this replica does
    /// not lead, a command is no renewal, or what it renews is being expired.
    pub(super) fn extend(&self, envelopes: &[Envelope]) -> Option<Unconfirmed> {
        let (term, renewals) = self.sequencer.extend(envelopes)?;
        Some(Unconfirmed { term, renewals })
    }

    /// Waits until a quorum confirms that this replica has led since the renewals came. Returns an outcome for each, and
    /// the position whose state they were judged by. `None` if that cannot be confirmed, or one was not extended that is in
    /// order by then: they must go into the log.
    pub(super) async fn confirm(
        &self,
        unconfirmed: &Unconfirmed,
        deadline: Instant,
    ) -> Option<(Position, Vec<Outcome>)> {
        let ConfirmedState {
            published,
            term,
            leader,
        } = self.reader.confirm_leader(deadline).await.ok()?;
        // A round of another leader, or of this one in another term, does not confirm the deadlines that were extended here.
        if (term, leader) != (unconfirmed.term, self.sequencer.replica()) {
            return None;
        }
        let renewals = unconfirmed.renewals.iter();
        let outcomes = renewals.map(|renewal| renewal.outcome(&published.state));
        let outcomes: Vec<Outcome> = outcomes.collect::<Option<_>>()?;
        self.metrics.kept(outcomes.len());
        Some((published.applied?, outcomes))
    }
}
