//! Keeps one epoch alive by renewals over a stream, and moves to another replica when the stream is lost.

use std::time::Duration;

use synod_model::ErrorKind;
use synod_proto::v1;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Streaming};

use super::keeper::{Keeper, Tenure, proof};
use crate::client::stubs;
use crate::transport::{Backoff, FailedTry};
use crate::{Error, Renewed};

/// The renewals of one epoch, over one stream at a time.
pub(super) struct Renewals<'a> {
    keeper: &'a Keeper,
    tenure: &'a Tenure,
    /// The replica to ask.
    place: usize,
    /// Streams lost in a row.
    losses: usize,
    backoff: Backoff,
    correlation: u64,
}

/// Why an epoch is over.
#[derive(Debug)]
pub(super) enum Over {
    /// The member has expired or left, or the cluster was restored: the server can join again.
    Lost(Error),
    /// Another instance has joined under the member's id.
    Replaced(Error),
}

/// Why a stream ended.
enum End {
    Broken(Error),
    Over(Over),
}

/// A renewal that is not answered yet.
struct Sent {
    correlation: u64,
    /// When it was handed to the stream, by the clock that counts suspension.
    at: Duration,
}

/// The longest wait for the answer to one renewal.
const ANSWER_LIMIT_MAX: Duration = Duration::from_secs(3);

impl<'a> Renewals<'a> {
    pub(super) fn new(keeper: &'a Keeper, tenure: &'a Tenure) -> Self {
        Self {
            place: keeper.client.replicas().preferred(),
            keeper,
            tenure,
            losses: 0,
            backoff: Backoff::new(Duration::from_millis(25), tenure.ttl / 10),
            correlation: 0,
        }
    }

    /// Renews until the epoch is over.
    pub(super) async fn run(mut self) -> Over {
        loop {
            let error = match self.stream().await {
                Err(End::Over(over)) => return over,
                Err(End::Broken(error)) => error,
                Ok(never) => match never {},
            };
            let replicas = self.keeper.client.replicas();
            tracing::debug!(endpoint = replicas.text(self.place), %error, "renewals lost their stream");
            self.keeper.note(error);
            self.place = replicas.after(self.place);
            self.losses += 1;
            if self.losses >= replicas.len() {
                self.losses = 0;
                let wait = self.backoff.next(&*self.keeper.client.seams().randomness);
                sleep(wait).await;
            }
        }
    }

    /// Renews over one stream until it breaks. The first renewal goes out at once.
    async fn stream(&mut self) -> Result<std::convert::Infallible, End> {
        let (sender, receiver) = mpsc::channel(1);
        let mut sent = self.send(&sender).await?;
        let mut stub = stubs::membership(self.keeper.client.replicas().channel(self.place));
        let opening = stub.renew(Request::new(ReceiverStream::new(receiver)));
        let mut answers = match timeout(self.answer_limit(), opening).await {
            Ok(Ok(response)) => response.into_inner(),
            Ok(Err(status)) => return Err(self.refused(FailedTry::of(&status).error)),
            Err(_) => return Err(End::Broken(unanswered(self.answer_limit()))),
        };
        loop {
            self.take_answer(&mut answers, &sent).await?;
            self.losses = 0;
            self.backoff = Backoff::new(Duration::from_millis(25), self.tenure.ttl / 10);
            let due = Instant::now() + self.interval();
            tokio::select! {
                biased;
                // There is a sign that the epoch is over: renew now to find out.
                () = self.keeper.doubt.notified() => {}
                () = sleep_until(due) => {}
            }
            sent = self.send(&sender).await?;
        }
    }

    async fn send(
        &mut self,
        sender: &mpsc::Sender<v1::MembershipRenewRequest>,
    ) -> Result<Sent, End> {
        self.correlation += 1;
        let correlation = self.correlation;
        let at = self.keeper.gate.now();
        let renewal = self.tenure.member.renewal(correlation);
        // The previous renewal was answered, so the channel has room.
        match sender.send(renewal).await {
            Ok(()) => Ok(Sent { correlation, at }),
            Err(_) => Err(End::Broken(ended())),
        }
    }

    async fn take_answer(
        &mut self,
        answers: &mut Streaming<v1::MembershipRenewResponse>,
        sent: &Sent,
    ) -> Result<(), End> {
        let answer = match timeout(self.answer_limit(), answers.next()).await {
            Ok(Some(Ok(answer))) => answer,
            Ok(Some(Err(status))) => return Err(self.refused(FailedTry::of(&status).error)),
            Ok(None) => return Err(End::Broken(ended())),
            Err(_) => return Err(End::Broken(unanswered(self.answer_limit()))),
        };
        if answer.correlation != sent.correlation {
            let message = "the replica answered another renewal than the one that was sent";
            return Err(End::Broken(Error::new(ErrorKind::UnknownOutcome, message)));
        }
        match Renewed::from_answer(answer) {
            Ok(renewed) => {
                // The TTL is at most the one with which this epoch joined.
                let ttl = renewed.ttl.min(self.tenure.ttl);
                let until = proof(sent.at, ttl);
                self.keeper.proved(self.tenure.member.epoch, until);
                Ok(())
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// What a refusal means for the epoch.
    fn refused(&self, error: Error) -> End {
        if error.kind() == ErrorKind::NotAMember {
            End::Over(Over::Lost(error))
        } else if error.kind() == ErrorKind::StaleEpoch {
            End::Over(Over::Replaced(error))
        } else {
            End::Broken(error)
        }
    }

    /// Three renewals fit in a TTL, and the third is sent well before the proof of the first ends.
    fn interval(&self) -> Duration {
        self.tenure.ttl / 3
    }

    fn answer_limit(&self) -> Duration {
        self.interval().min(ANSWER_LIMIT_MAX)
    }
}

fn ended() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the replica ended the stream of renewals",
    )
}

fn unanswered(limit: Duration) -> Error {
    let message = format!("a renewal was not answered within {limit:?}");
    Error::new(ErrorKind::DeadlineExceeded, message)
}
