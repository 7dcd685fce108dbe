//! Answers of a server.

use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status code.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// What an API server says beside a status code, as far as anybody acts on it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Status {
    /// The reason for a program, as in `NotFound`; empty if there is none.
    pub reason: String,
    /// The reason for people.
    pub message: String,
    /// What it is about.
    pub details: Details,
    /// What a list goes on with.
    pub metadata: Metadata,
}

/// What a [`Status`] is about.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
pub struct Details {
    /// The name of an object; empty if it is about none.
    pub name: String,
    /// After how many seconds to ask again; zero if it does not say.
    pub retry_after_seconds: u64,
}

/// What stands in a [`Status`] where an object has its metadata.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Metadata {
    /// With a 410: the token by which the list goes on with the present state. Empty if there is none.
    #[serde(rename = "continue")]
    pub next: String,
}

/// Whether a server that answers with this status code may answer with another one later.
#[must_use]
pub fn may_pass(status: StatusCode) -> bool {
    let is_busy = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
    );
    // A balancer says 502 while a server behind it starts again.
    is_busy || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

impl Reply {
    /// What the server says; nothing if the body is no `Status`, as from a proxy in between.
    #[must_use]
    pub fn says(&self) -> Status {
        #[derive(Deserialize)]
        struct Kind {
            kind: String,
        }
        let kind: Option<Kind> = serde_json::from_slice(&self.body).ok();
        if kind.is_none_or(|found| found.kind != "Status") {
            return Status::default();
        }
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The answer in words: the status code, and what the server says beside it.
    #[must_use]
    pub fn words(&self) -> String {
        let says = self.says();
        match says.message.is_empty() {
            true => self.status.to_string(),
            false => format!("{}: {}", self.status, says.message),
        }
    }

    /// How long to wait before the request is made again, if the server says so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let header = self
            .headers
            .get(RETRY_AFTER)
            .and_then(|one| one.to_str().ok());
        let header = header.and_then(|text| text.trim().parse().ok());
        let said = Some(self.says().details.retry_after_seconds).filter(|seconds| *seconds > 0);
        header.or(said).map(Duration::from_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str) -> Reply {
        Reply {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    #[test]
    fn a_status_says_why_and_how_a_list_goes_on() {
        let body = r#"{"kind":"Status","apiVersion":"v1","metadata":{"continue":"next"},"status":"Failure",
            "message":"too old","reason":"Expired","details":{"retryAfterSeconds":7},"code":410}"#;
        let reply = reply(410, body);
        let says = reply.says();
        assert_eq!(
            (says.reason.as_str(), says.metadata.next.as_str()),
            ("Expired", "next")
        );
        assert_eq!(reply.retry_after(), Some(Duration::from_secs(7)));
        assert_eq!(reply.words(), "410 Gone: too old");
    }

    #[test]
    fn what_is_no_status_says_nothing() {
        for body in [
            "<html>bad gateway</html>",
            "{}",
            r#"{"kind":"Widget","message":"x"}"#,
        ] {
            assert_eq!(reply(502, body).says(), Status::default(), "{body}");
            assert_eq!(reply(502, body).words(), "502 Bad Gateway");
        }
    }
}
