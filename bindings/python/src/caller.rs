//! The spans of the program in which Python calls: `synod._caller` begins and ends them.

use std::time::UNIX_EPOCH;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use synod_bound::{Caller, FailedTry, Failure, grpc_status_of};

/// A call as it is followed in the traces of the program, if it has any.
#[derive(Default)]
pub(crate) struct Followed {
    caller: Option<Caller>,
    /// The `CallSpan` of the call itself. `None`: its requests are below the span that is current.
    span: Option<Py<PyAny>>,
}

/// How a call has ended.
pub(crate) enum End<'a> {
    Answered,
    Failed(&'a Failure),
    /// Nobody waits for it any more, or it broke off in this process.
    GivenUp,
}

impl Followed {
    /// Begins to follow a call for this request, which is made in this thread or task. Without a request it has no span of its
    /// own.
    pub(crate) fn begin(py: Python<'_>, request: Option<&str>) -> PyResult<Self> {
        static BEGIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        type Begun = Option<(Option<String>, Option<String>, Option<Py<PyAny>>)>;
        let begin = BEGIN.import(py, "synod._caller", "begin")?;
        let begun: Begun = begin.call1((request,))?.extract()?;
        let Some((traceparent, tracestate, span)) = begun else {
            return Ok(Self::default());
        };
        Ok(Self {
            caller: Some(Caller::new(traceparent, tracestate)),
            span,
        })
    }

    /// The span that requests are below.
    pub(crate) fn caller(&self) -> Option<Caller> {
        self.caller.clone()
    }

    /// Whether a span is to be ended.
    pub(crate) fn has_span(&self) -> bool {
        self.span.is_some()
    }

    /// Ends the span of the call. One in which nothing was asked of a replica is let go, and is not exported.
    pub(crate) fn ended(self, py: Python<'_>, end: &End<'_>) {
        let (Some(caller), Some(span)) = (self.caller, self.span) else {
            return;
        };
        let asked = caller.asked();
        if asked.requests == 0 {
            return;
        }
        let failed: Vec<_> = asked.failed.iter().map(told).collect();
        // The code, and why.
        let end = match end {
            End::Answered => Some((Some(0), None)),
            End::Failed(failure) => Some((grpc_status_of(failure.kind), Some(failure.kind))),
            End::GivenUp => None,
        };
        if let Err(fault) = span.call_method1(py, "ended", (failed, end)) {
            fault.write_unraisable(py, None);
        }
    }
}

/// A failed try: where, why, and when in nanoseconds since 1970.
fn told(failed: &FailedTry) -> (&str, &str, u64) {
    let since = failed.at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = u64::try_from(since.as_nanos()).unwrap_or_default();
    (&failed.endpoint, failed.kind, since)
}
