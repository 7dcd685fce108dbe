//! Bodies of requests as they come in: bounded each, all together, and in time.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use synod_model::limits::REQUEST_BYTES_MAX;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::status::Fault;

/// The longest time that a body takes to come.
const COMING_MAX: Duration = Duration::from_secs(5);

/// Bytes of all bodies that have come and are not carried out; who sends more is to come again.
const BYTES_MAX: usize = 64 << 20;

/// Bodies that are parsed and carried out at a time; the next one waits.
const CARRIED_MAX: usize = 64;

/// Bytes of a body that is too large which are read beyond what a body may have.
const DISCARDED_MAX: usize = 8 << 20;

/// The places of bodies.
pub(crate) struct Bodies {
    coming_max: Duration,
    bytes: Arc<Semaphore>,
    carried: Semaphore,
}

/// A body that has come. While it is kept it takes the place of its bytes.
pub(crate) struct Come {
    pub(crate) bytes: Bytes,
    _held: OwnedSemaphorePermit,
}

impl Bodies {
    pub(crate) fn new() -> Self {
        Self {
            coming_max: COMING_MAX,
            bytes: Arc::new(Semaphore::new(BYTES_MAX)),
            carried: Semaphore::new(CARRIED_MAX),
        }
    }

    /// The whole of a body. It takes a place for what has come alone, so who sends slowly keeps nobody waiting.
    pub(crate) async fn whole<B>(&self, body: B) -> Result<Come, Fault>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let deadline = Instant::now() + self.coming_max;
        match timeout_at(deadline, self.read(body)).await {
            Ok(read) => read,
            Err(_) => Err(Fault::slow(self.coming_max)),
        }
    }

    async fn read<B>(&self, mut body: B) -> Result<Come, Fault>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let mut held = self.hold(0)?;
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                Fault::bad_request(format!("the body of the request cannot be read: {error}"))
            })?;
            // Trailers say nothing here.
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > REQUEST_BYTES_MAX {
                drop((bytes, held));
                discard(body).await;
                return Err(Fault::too_large(REQUEST_BYTES_MAX));
            }
            held.merge(self.hold(data.len())?);
            bytes.extend_from_slice(&data);
        }
        Ok(Come {
            bytes: bytes.freeze(),
            _held: held,
        })
    }

    fn hold(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Fault> {
        let bytes = u32::try_from(bytes).map_err(|_| Fault::too_large(REQUEST_BYTES_MAX))?;
        let held = Arc::clone(&self.bytes).try_acquire_many_owned(bytes);
        held.map_err(|_| Fault::too_many())
    }

    /// A place to be carried out, until this deadline.
    pub(crate) async fn turn(
        &self,
        deadline: Instant,
    ) -> Result<tokio::sync::SemaphorePermit<'_>, Fault> {
        match timeout_at(deadline, self.carried.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(Fault::too_many()),
        }
    }
}

/// Reads what is left of a body, and keeps nothing of it: who still sends would find the connection broken in place of the answer.
async fn discard<B: Body<Data = Bytes> + Unpin>(mut body: B) {
    let mut left = DISCARDED_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        let read = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(read) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{Stream as _, StreamExt as _, stream};
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};

    use super::*;

    /// A body whose first bytes come, and nothing more.
    fn stuck(bytes: usize) -> impl Body<Data = Bytes, Error = std::io::Error> + Unpin {
        let first = stream::iter([Ok(Frame::data(vec![b' '; bytes].into()))]);
        StreamBody::new(first.chain(stream::pending()))
    }

    #[tokio::test]
    async fn bodies_that_do_not_come_keep_nobody_waiting() {
        let bodies = Bodies {
            coming_max: Duration::from_millis(500),
            ..Bodies::new()
        };
        let slow = async {
            let all = (0..CARRIED_MAX + 1).map(|_| bodies.whole(stuck(10)));
            futures::future::join_all(all).await
        };
        let quick = async {
            let come = bodies.whole(Full::from("x")).await;
            assert_eq!(come.map(|come| come.bytes).unwrap(), "x");
            bodies.turn(Instant::now()).await.map(drop).unwrap();
        };
        let (slow, ()) = tokio::join!(slow, quick);
        let codes: Vec<u16> = slow
            .into_iter()
            .map(|one| one.map_or_else(|fault| fault.code, |_| 200))
            .collect();
        assert_eq!(codes, [408; CARRIED_MAX + 1]);
    }

    #[tokio::test]
    async fn a_body_that_is_too_large_is_read_on_for_a_while() {
        let bodies = Bodies::new();
        for (frames, left) in [(8, 0), (64, 64 - 11)] {
            let mut frames = stream::iter(vec![vec![b' '; 1 << 20]; frames]);
            let body = frames
                .by_ref()
                .map(|bytes| Ok::<_, std::io::Error>(Frame::data(Bytes::from(bytes))));
            let refused = bodies.whole(StreamBody::new(body)).await;
            assert_eq!(refused.map_or_else(|fault| fault.code, |_| 200), 413);
            assert_eq!(frames.size_hint().0, left);
        }
    }

    #[tokio::test]
    async fn a_body_is_bounded_and_so_are_all_together() {
        let bodies = Bodies::new();
        let large = |bytes| Full::from(vec![b' '; bytes]);
        let code = |come: Result<Come, Fault>| come.map_or_else(|fault| fault.code, |_| 200);
        assert_eq!(code(bodies.whole(large(REQUEST_BYTES_MAX)).await), 200);
        assert_eq!(code(bodies.whole(large(REQUEST_BYTES_MAX + 1)).await), 413);
        let mut held = Vec::new();
        while let Ok(come) = bodies.whole(large(REQUEST_BYTES_MAX)).await {
            held.push(come);
        }
        assert_eq!(held.len(), BYTES_MAX / REQUEST_BYTES_MAX);
        assert_eq!(code(bodies.whole(large(REQUEST_BYTES_MAX)).await), 429);
        drop(held);
        assert_eq!(code(bodies.whole(large(REQUEST_BYTES_MAX)).await), 200);
    }
}
