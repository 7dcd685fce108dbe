//! The channel to one replica. A call alone has a stream of HTTP/2; calls that overlap share one stream, a pipeline, in
//! which a call costs a fraction of that.
//!
//! A pipeline is opened in the background when two calls overlap for the first time. Until it is open, and for a while
//! after it could not be opened, calls go as calls alone do, so no call ever waits for a pipeline.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::AUTHORIZATION;
use http_body::{Frame, SizeHint};
use prost::bytes::Bytes;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::transport::{Channel, Error};
use tonic::{Code, Status};
use tower::{Service, ServiceExt as _};

use super::call_trace::CallTrace;
use super::pipeline::Pipeline;
use super::pipeline::calls::{Kind, answered};
use super::token::{Credential, Shown};

/// How long no other pipeline is tried after one could not be opened.
const PAUSE: Duration = Duration::from_secs(1);

/// How long no other pipeline is tried at a replica that knows none.
const LONG_PAUSE: Duration = Duration::from_secs(60);

/// The channel to one replica. Clones share the connection and the pipeline.
#[derive(Clone)]
pub(crate) struct ReplicaChannel {
    channel: Channel,
    /// What calls show; `None`: nothing, since the connection has shown a certificate or nobody asks.
    credential: Option<Credential>,
    parts: Arc<ChannelParts>,
    /// The call that it is used for, if that is followed.
    trace: CallTrace,
}

#[derive(Default)]
struct ChannelParts {
    /// Calls and streams in progress outside of the pipeline.
    alone: AtomicUsize,
    pipeline: Mutex<State>,
}

/// The pipeline of a channel.
#[derive(Default)]
enum State {
    #[default]
    None,
    Opening,
    /// It was opened by the token of this number; without one it is 0.
    Open(Arc<Pipeline>, u64),
    /// It could not be opened; another one is not tried before this time.
    Failed(Instant),
}

/// A call in progress outside of the pipeline.
struct Alone(Arc<ChannelParts>);

impl ReplicaChannel {
    pub(crate) fn new(channel: Channel, credential: Option<Credential>) -> Self {
        Self {
            channel,
            credential,
            parts: Arc::default(),
            trace: CallTrace::default(),
        }
    }

    /// The same channel, for the requests of one call.
    pub(crate) fn followed_by(mut self, trace: &CallTrace) -> Self {
        self.trace = trace.clone();
        self
    }

    /// The pipeline, if one is open by what is shown now. Opens one in the background if there is none and calls overlap.
    fn pipeline(&self, shown: Option<&Shown>) -> Option<Arc<Pipeline>> {
        let shown = shown.cloned();
        let generation = shown.as_ref().map_or(0, |shown| shown.generation);
        let mut state = self.parts.lock();
        match &*state {
            // A replica ends a pipeline when its token expires, so the next one begins with the new token.
            State::Open(pipeline, of) if pipeline.is_open() && *of == generation => {
                return Some(Arc::clone(pipeline));
            }
            State::Opening => return None,
            State::Failed(until) if Instant::now() < *until => return None,
            State::Open(..) | State::Failed(_) | State::None => {}
        }
        if self.parts.alone.load(Ordering::Relaxed) == 0 {
            return None;
        }
        *state = State::Opening;
        drop(state);
        let (channel, parts) = (self.channel.clone(), Arc::clone(&self.parts));
        tokio::spawn(async move {
            let header = shown.map(|shown| shown.header);
            let opened = match Pipeline::open(channel, header).await {
                Ok(pipeline) => State::Open(Arc::new(pipeline), generation),
                Err(status) => {
                    tracing::debug!(%status, "a pipeline could not be opened");
                    let pause = match status.code() {
                        Code::Unimplemented => LONG_PAUSE,
                        _ => PAUSE,
                    };
                    State::Failed(Instant::now() + pause)
                }
            };
            *parts.lock() = opened;
        });
        None
    }
}

impl Service<http::Request<Body>> for ReplicaChannel {
    type Response = http::Response<Body>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        // The channel is waited for by the call that uses it.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(self.clone().send(request))
    }
}

impl ReplicaChannel {
    async fn send(self, request: http::Request<Body>) -> Result<http::Response<Body>, Error> {
        let (mut head, body) = request.into_parts();
        self.trace.name(head.uri.path(), &mut head.headers);
        let request = http::Request::from_parts(head, body);
        let shown = match &self.credential {
            Some(credential) => Some(credential.shown().await),
            None => None,
        };
        let kind = Kind::of_path(request.uri().path());
        let pipeline = kind.and_then(|_| self.pipeline(shown.as_ref()));
        let mut request = match (kind, pipeline) {
            (Some(kind), Some(pipeline)) => match answered(pipeline, kind, request).await {
                Ok(response) => return Ok(response),
                Err(request) => request,
            },
            _ => request,
        };
        if let Some(shown) = shown {
            request.headers_mut().insert(AUTHORIZATION, shown.header);
        }
        let alone = Alone::new(self.parts);
        let response = self.channel.oneshot(request).await?;
        Ok(response.map(|body| {
            Body::new(Counted {
                body,
                _alone: alone,
            })
        }))
    }
}

impl fmt::Debug for ReplicaChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaChannel").finish_non_exhaustive()
    }
}

impl ChannelParts {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.pipeline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Alone {
    fn new(parts: Arc<ChannelParts>) -> Self {
        parts.alone.fetch_add(1, Ordering::Relaxed);
        Self(parts)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.alone.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer; its call is in progress until it was read.
struct Counted {
    body: Body,
    _alone: Alone,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
