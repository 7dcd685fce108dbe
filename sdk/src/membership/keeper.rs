//! Keeps a server a member: joins again, and records in gate and state what becomes known of its epochs.

use std::sync::Arc;
use std::time::Duration;

use synod_model::{Epoch, ErrorKind, Join};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::Ended;
use super::state::Standing;
use crate::board::Board;
use crate::gate::Gate;
use crate::transport::Backoff;
use crate::{Client, Error, Joined, MemberEpoch};

/// The parts by which a server is kept a member.
pub(super) struct Keeper {
    pub(super) client: Client,
    pub(super) gate: Gate,
    pub(super) standing: Arc<Board<Standing>>,
    /// Notified on every sign that the epoch may be over.
    pub(super) doubt: Arc<Notify>,
    /// The request by which to join again.
    pub(super) join: Join,
}

/// An epoch of this process.
#[derive(Clone, Debug)]
pub(super) struct Tenure {
    pub(super) member: MemberEpoch,
    pub(super) ttl: Duration,
}

/// The time until which an acknowledged join or renewal proves a membership: 0.9 of the TTL after it was sent. The
/// cluster counts the TTL from when it was received, so a clock that runs a tenth too slowly still ends the proof in
/// time.
pub(super) fn proof(sent_at: Duration, ttl: Duration) -> Duration {
    sent_at + ttl / 10 * 9
}

impl Keeper {
    /// Records an acknowledged join; `sent_at` is when its first try was sent.
    pub(super) fn joined(&self, joined: &Joined, sent_at: Duration) -> Tenure {
        let member = MemberEpoch {
            member: self.join.id.clone(),
            epoch: joined.epoch,
            cluster: Some(joined.header.cluster),
        };
        let until = proof(sent_at, joined.ttl);
        self.standing
            .update(|standing| standing.joined(member.clone()));
        self.gate.update(|book| book.joined(joined.epoch, until));
        tracing::info!(member = %member.member, epoch = %member.epoch, "joined");
        Tenure {
            member,
            ttl: joined.ttl,
        }
    }

    /// Joins again, until it succeeds.
    ///
    /// # Errors
    ///
    /// Another instance has joined under the id.
    pub(super) async fn join_again(&self, lost: Epoch) -> Result<Tenure, Error> {
        let join = Join {
            lost_epoch: Some(lost),
            ..self.join.clone()
        };
        let longest = self.join.ttl.duration().min(Duration::from_secs(5));
        let mut backoff = Backoff::new(Duration::from_millis(100), longest);
        loop {
            let sent_at = self.gate.now();
            match self.client.send_join(join.clone()).await {
                Ok(joined) => return Ok(self.joined(&joined, sent_at)),
                Err(error) if error.kind() == ErrorKind::StaleEpoch => return Err(error),
                Err(error) => {
                    let error = error.context("the server cannot join again");
                    tracing::warn!(member = %self.join.id, %error);
                    self.gate
                        .update(|book| book.still_outside(error.to_string()));
                    self.note(error);
                }
            }
            sleep(backoff.next(&*self.client.seams().randomness)).await;
        }
    }

    /// Records an acknowledged renewal.
    pub(super) fn proved(&self, epoch: Epoch, until: Duration) {
        self.gate.update(|book| book.proved(epoch, until));
        self.standing
            .update(|standing| standing.renewal_error = None);
    }

    /// Records an error that may be temporary.
    pub(super) fn note(&self, error: Error) {
        self.standing
            .update(|standing| standing.renewal_error = Some(error));
    }

    /// The epoch is over; the server may join again.
    pub(super) fn lost(&self, epoch: Epoch, error: Error) {
        tracing::warn!(member = %self.join.id, %epoch, %error, "the membership was lost");
        let reason = format!("the membership of epoch {epoch} was lost: {error}");
        self.gate.update(|book| book.lost(epoch, reason));
        self.standing.update(|standing| standing.lost(error));
    }

    /// Another instance has joined under the id: the membership is over for good.
    pub(super) fn replaced(&self, error: Error) {
        tracing::error!(member = %self.join.id, %error, "another instance has taken the member's id");
        self.gate.update(|book| book.end(Ended::Replaced));
        self.standing.update(|standing| {
            standing.renewal_error = Some(error);
            standing.end(Ended::Replaced);
        });
    }

    /// Keeps the state's `proved` equal to what the gate finds by the clock.
    pub(super) async fn follow_proof(&self) {
        loop {
            let changed = self.gate.changed();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let proof = self.gate.proof();
            let proved = proof.is_some();
            if self.standing.lock().is_proved() != proved {
                self.standing.update(|standing| standing.set_proved(proved));
            }
            match proof {
                None => changed.await,
                Some(left) => {
                    tokio::select! {
                        biased;
                        () = changed => {}
                        () = sleep(left) => {}
                    }
                }
            }
        }
    }
}
