//! Long answers, compressed for clients that take that.
//!
//! The rule is that of Kubernetes' API servers: gzip at its fastest, from 128 KiB on, and never a watch, whose client waits for
//! each event. An answer is compressed piece by piece as it is taken, so that nothing holds the whole of it. What compresses one
//! has some 300 KB, so only so many are compressed at a time, and the others are sent as they are.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream::{self, StreamExt};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, HeaderValue, VARY};
use http::{HeaderMap, Method, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use synod_server::Origin;
use synod_server::limits::KUBE_COMPRESSED_MAX;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::{Body, Length, Response};

/// Shorter answers are sent as they are.
const BYTES_MIN: usize = 128 << 10;

/// Whether a client takes an answer to its request compressed.
pub(crate) fn takes_gzip(method: &Method, headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    let listed = values.filter_map(|value| value.to_str().ok());
    let takes = |one: &str| {
        let mut parts = one.split(';').map(str::trim);
        let is_gzip = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let quality = parts.find_map(|part| part.strip_prefix("q="));
        let quality = quality.map_or(Ok(1.0), str::parse::<f32>);
        is_gzip && quality.is_ok_and(|quality| quality > 0.0)
    };
    method == Method::GET && listed.flat_map(|listed| listed.split(',')).any(takes)
}

/// The places of the answers that are compressed at a time.
pub(crate) struct Places(Arc<Semaphore>);

impl Places {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(KUBE_COMPRESSED_MAX)))
    }

    /// A place for an answer, if it is long; `None` also if all are taken.
    fn one_for(&self, response: &mut Response) -> Option<OwnedSemaphorePermit> {
        let is_long = match response.extensions_mut().remove::<Length>() {
            Some(Length::Bytes(bytes)) => bytes >= BYTES_MIN,
            Some(Length::Pages) => true,
            None => false,
        };
        // The tag of an answer is that of its bytes as they are.
        if !is_long || response.status() != StatusCode::OK || response.headers().contains_key(ETAG)
        {
            return None;
        }
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}

/// The answer compressed, if it is long and there is a place.
pub(crate) fn compressed(origin: &Origin, places: &Places, mut response: Response) -> Response {
    let Some(place) = places.one_for(&mut response) else {
        return response;
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let origin = origin.clone();
    response.map(|body| gzipped(origin, place, body))
}

/// A body that is compressed.
struct Compressing {
    body: Body,
    /// Made when the first bytes are taken.
    encoder: Option<GzEncoder<Vec<u8>>>,
    /// Given back at the end.
    place: Option<OwnedSemaphorePermit>,
}

fn encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::fast())
}

fn gzipped(origin: Origin, place: OwnedSemaphorePermit, body: Body) -> Body {
    let compressing = Compressing {
        body,
        encoder: None,
        place: Some(place),
    };
    let parts = stream::try_unfold(compressing, |mut compressing| async move {
        let part = compressing.part().await?;
        Ok::<_, io::Error>(part.map(|part| (part, compressing)))
    });
    // What was given to the network is counted until it has taken it, as of any answer.
    let frames = parts.flat_map(move |part| {
        let frames: Vec<io::Result<Frame<Bytes>>> = match part {
            Ok(part) => {
                let pieces = origin.counted(part).into_iter();
                pieces.map(|piece| Ok(Frame::data(piece))).collect()
            }
            Err(error) => vec![Err(error)],
        };
        stream::iter(frames)
    });
    StreamBody::new(frames).boxed_unsync()
}

impl Compressing {
    /// The next bytes; `None` at the end.
    async fn part(&mut self) -> io::Result<Option<Bytes>> {
        while self.place.is_some() {
            let Some(frame) = self.body.frame().await else {
                let last = self.encoder.take().unwrap_or_else(encoder).finish()?;
                self.place = None;
                return Ok(Some(last.into()));
            };
            let Ok(piece) = frame?.into_data() else {
                continue;
            };
            let encoder = self.encoder.get_or_insert_with(encoder);
            encoder.write_all(&piece)?;
            let made = std::mem::take(encoder.get_mut());
            if !made.is_empty() {
                return Ok(Some(made.into()));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Empty;

    use super::*;

    fn answer(bytes: usize) -> Response {
        let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
        let mut response = Response::new(body);
        response.extensions_mut().insert(Length::Bytes(bytes));
        response
    }

    // Guarantee: TM-17
    #[test]
    fn as_many_are_compressed_at_a_time_as_have_a_place() {
        let places = Places::new();
        let mut taken: Vec<_> = (0..KUBE_COMPRESSED_MAX)
            .map(|_| places.one_for(&mut answer(BYTES_MIN)).unwrap())
            .collect();
        assert!(places.one_for(&mut answer(BYTES_MIN)).is_none());
        taken.pop();
        assert!(places.one_for(&mut answer(BYTES_MIN - 1)).is_none());
        assert!(places.one_for(&mut answer(BYTES_MIN)).is_some());
    }

    #[tokio::test]
    async fn an_answer_gives_its_place_back_when_it_has_ended() {
        let places = Places::new();
        let mut answer = answer(BYTES_MIN);
        let place = places.one_for(&mut answer);
        let mut compressing = Compressing {
            body: answer.into_body(),
            encoder: None,
            place,
        };
        assert_eq!(places.0.available_permits(), KUBE_COMPRESSED_MAX - 1);
        // Nothing in it is an answer, too, with the beginning of gzip.
        let last = compressing.part().await.unwrap().unwrap();
        assert!(last.starts_with(&[0x1f, 0x8b]));
        assert_eq!(places.0.available_permits(), KUBE_COMPRESSED_MAX);
        assert!(compressing.part().await.unwrap().is_none());
    }

    #[test]
    fn a_client_says_whether_it_takes_gzip() {
        let takes = |method: Method, accepted: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, accepted.parse().unwrap());
            takes_gzip(&method, &headers)
        };
        for yes in ["gzip", "deflate, gzip;q=0.5", "br, GZIP"] {
            assert!(takes(Method::GET, yes), "{yes}");
        }
        for no in ["", "identity", "gzip;q=0", "gzip;q=x", "x-gzip"] {
            assert!(!takes(Method::GET, no), "{no}");
        }
        assert!(!takes(Method::POST, "gzip"));
        assert!(!takes_gzip(&Method::GET, &HeaderMap::new()));
    }
}
