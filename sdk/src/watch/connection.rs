//! One stream of a watch, from one replica.

use std::time::Duration;

use synod_model::{ErrorKind, Refusal};
use synod_proto::status::key;
use synod_proto::v1;
use tokio::time::timeout;
use tonic::{Request, Status, Streaming};

use crate::client::stubs;
use crate::transport::{FailedTry, ReplicaChannel};
use crate::{Client, Error};

/// A stream that a replica has opened: its first message has arrived.
#[derive(Debug)]
pub(super) struct Connection {
    first: Option<v1::WatchResponse>,
    stream: Streaming<v1::WatchResponse>,
    /// How long the stream may be silent.
    silence: Duration,
}

/// Why there is no stream (any more).
#[derive(Debug)]
pub(super) enum Broken {
    /// Another replica, or the same one later, may serve the watch.
    Lost(Error),
    /// The cluster refuses the watch.
    Refused(Error),
    /// The requested history is gone.
    Compacted(Error),
}

/// How long a stream may be silent beyond two bookmark intervals.
const SLACK: Duration = Duration::from_secs(2);

impl Connection {
    /// Opens a stream at the replica at `place`, and waits for its first message no longer than `span`. In the traces of the
    /// application that is one call.
    pub(super) async fn open(
        client: &Client,
        place: usize,
        message: v1::WatchRequest,
        span: Duration,
        bookmark_interval: Duration,
    ) -> Result<Self, Broken> {
        let trace = client.call_trace();
        let channel = client.replicas().channel(place).followed_by(&trace);
        let opened = Self::open_at(client, channel, message, span, bookmark_interval).await;
        trace.ended(opened.as_ref().err().map(Broken::error));
        opened
    }

    async fn open_at(
        client: &Client,
        channel: ReplicaChannel,
        message: v1::WatchRequest,
        span: Duration,
        bookmark_interval: Duration,
    ) -> Result<Self, Broken> {
        let token = client.replicas().token();
        let opening = async move {
            let response = stubs::watch(channel).watch(Request::new(message)).await?;
            let mut stream = response.into_inner();
            let first = stream.message().await?;
            Ok::<_, Status>((first, stream))
        };
        match timeout(span, opening).await {
            Ok(Ok((first @ Some(_), stream))) => Ok(Self {
                first,
                stream,
                silence: bookmark_interval * 2 + SLACK,
            }),
            Ok(Ok((None, _))) => Err(Broken::Lost(ended())),
            Ok(Err(status)) => match Broken::of(&status) {
                // It may be opened by the token that has taken its place.
                Broken::Refused(error)
                    if error.kind() == ErrorKind::Unauthenticated
                        && client.replicas().has_another_token(token).await =>
                {
                    Err(Broken::Lost(error))
                }
                broken => Err(broken),
            },
            Err(_) => Err(Broken::Lost(silent(span))),
        }
    }

    /// Whether the first message was taken from the stream: a replica works only if it sends more than that one.
    pub(super) fn has_begun(&self) -> bool {
        self.first.is_none()
    }

    pub(super) async fn next(&mut self) -> Result<v1::WatchResponse, Broken> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        match timeout(self.silence, self.stream.message()).await {
            Ok(Ok(Some(message))) => Ok(message),
            Ok(Ok(None)) => Err(Broken::Lost(ended())),
            Ok(Err(status)) => Err(Broken::of(&status)),
            Err(_) => Err(Broken::Lost(silent(self.silence))),
        }
    }
}

impl Broken {
    const fn error(&self) -> &Error {
        match self {
            Self::Lost(error) | Self::Refused(error) | Self::Compacted(error) => error,
        }
    }

    fn of(status: &Status) -> Self {
        let error = FailedTry::of(status).error;
        match error.kind() {
            ErrorKind::Compacted => Self::Compacted(error),
            ErrorKind::InvalidArgument
            | ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::Conflict
            | ErrorKind::NotAMember
            | ErrorKind::StaleEpoch
            | ErrorKind::NotDecodable
            | ErrorKind::EncodingNotSelected
            | ErrorKind::Immutable
            | ErrorKind::NoAgreement
            | ErrorKind::TooLarge
            | ErrorKind::Unauthenticated
            | ErrorKind::PermissionDenied
            | ErrorKind::SwitchedOff => Self::Refused(error),
            // The replica may only be behind the one that reported the revision, or be damaged while others are not.
            ErrorKind::FutureRevision
            | ErrorKind::DataLoss
            | ErrorKind::Draining
            | ErrorKind::RequestExpired
            | ErrorKind::Quota
            | ErrorKind::Overloaded
            | ErrorKind::Unavailable
            | ErrorKind::UnknownOutcome
            | ErrorKind::DeadlineExceeded => Self::Lost(error),
        }
    }
}

/// The error of a replica that reports a compaction in the stream.
pub(super) fn compacted(message: &v1::WatchCompacted) -> Error {
    let text = format!(
        "the history that is asked for is gone: the oldest revision that can be watched from is {}; list again",
        message.oldest_revision
    );
    let refusal = Refusal::new(ErrorKind::Compacted, text);
    refusal
        .with(key::OLDEST_REVISION, message.oldest_revision)
        .into()
}

pub(super) fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "the replica ended the stream")
}

fn silent(span: Duration) -> Error {
    let message = format!("the replica sent nothing for {span:?}");
    Error::new(ErrorKind::Unavailable, message)
}
