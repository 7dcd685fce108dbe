//! Long answers, compressed for clients that take that.
//!
//! The rule is that of Kubernetes' API servers: gzip at its fastest, from 128 KiB on, and never a watch, whose client waits for
//! each event. An answer is compressed piece by piece as it is taken, so that nothing holds the whole of it.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream::{self, StreamExt};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, HeaderValue, VARY};
use http::{HeaderMap, Method, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use synod_server::Origin;

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

/// The answer compressed, if it is long.
pub(crate) fn compressed(origin: &Origin, mut response: Response) -> Response {
    let is_long = match response.extensions_mut().remove::<Length>() {
        Some(Length::Bytes(bytes)) => bytes >= BYTES_MIN,
        Some(Length::Pages) => true,
        None => false,
    };
    // The tag of an answer is that of its bytes as they are.
    if !is_long || response.status() != StatusCode::OK || response.headers().contains_key(ETAG) {
        return response;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let origin = origin.clone();
    response.map(|body| gzipped(origin, body))
}

/// A body that is compressed.
struct Compressing {
    body: Body,
    encoder: Option<GzEncoder<Vec<u8>>>,
}

fn gzipped(origin: Origin, body: Body) -> Body {
    let compressing = Compressing {
        body,
        encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())),
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
        while let Some(encoder) = &mut self.encoder {
            let Some(frame) = self.body.frame().await else {
                let last = self.encoder.take().map(GzEncoder::finish).transpose()?;
                return Ok(last.map(Bytes::from));
            };
            let Ok(piece) = frame?.into_data() else {
                continue;
            };
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
    use super::*;

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
