//! The trace id of a request, which names it in logs: the caller's own, or a unique one that this replica generates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue};
use rand::RngExt;

use crate::limits::TRACE_ID_BYTES_MAX;
use crate::seams::random;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Generates trace ids for requests that bring none.
#[derive(Debug)]
pub(super) struct Names {
    /// A random number that distinguishes this run of this replica from all others.
    prefix: u64,
    given: AtomicU64,
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            prefix: random::rng().random(),
            given: AtomicU64::new(0),
        }
    }

    /// The trace id of a request with these headers.
    pub(super) fn of(&self, headers: &HeaderMap) -> Arc<str> {
        let own = headers.get(HEADER).and_then(|value| value.to_str().ok());
        self.or_new(own.unwrap_or_default())
    }

    /// The trace id that a request brings, or a new one if that is empty or too long.
    pub(super) fn or_new(&self, own: &str) -> Arc<str> {
        if own.is_empty() || own.len() > TRACE_ID_BYTES_MAX {
            let number = self.given.fetch_add(1, Ordering::Relaxed);
            return Arc::from(format!("{:016x}-{number}", self.prefix));
        }
        Arc::from(own)
    }
}

/// Adds the trace id to the headers of the response.
pub(super) fn tell(name: &str, headers: &mut HeaderMap) {
    if let Ok(value) = HeaderValue::from_str(name) {
        headers.insert(HEADER, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, name.parse().unwrap());
        headers
    }

    #[test]
    fn a_request_keeps_the_name_that_it_came_with() {
        assert_eq!(&*Names::new().of(&headers("deploy-7")), "deploy-7");
    }

    #[test]
    fn a_request_without_a_usable_name_gets_one_that_no_other_has() {
        let names = Names::new();
        let long = "x".repeat(TRACE_ID_BYTES_MAX + 1);
        let given = [
            names.of(&HeaderMap::new()),
            names.of(&headers("")),
            names.of(&headers(&long)),
        ];
        assert!(given[0] != given[1] && given[1] != given[2] && given[0] != given[2]);
        assert_ne!(Names::new().of(&HeaderMap::new()), given[0]);
    }
}
