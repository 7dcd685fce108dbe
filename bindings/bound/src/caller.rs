//! [`Caller`]: the span of the program in which a call is made, as the replicas are told.

use synod_client::Error;
use synod_client::traces::{CallSpan, Traces};

tokio::task_local! {
    /// The span in which what is polled now was asked for, if there is one.
    static CALLER: Option<Caller>;
}

/// A span of the program that uses the client, by its names in the Trace Context of the W3C. Languages have traces of their
/// own, so no span is made here: the replicas make theirs right below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Its `traceparent`.
    pub traceparent: String,
    /// What vendors say of it, its `tracestate`; `None`: nothing.
    pub tracestate: Option<String>,
}

impl Caller {
    /// Does a work that waits. The requests that it makes itself name this span to the replicas; what it begins in the
    /// background, such as renewals, does not.
    pub fn of<F: Future>(caller: Option<Self>, work: F) -> impl Future<Output = F::Output> {
        CALLER.scope(caller, work)
    }

    /// As [`Caller::of`], of a work that does not wait.
    pub fn of_sync<T>(caller: Option<Self>, work: impl FnOnce() -> T) -> T {
        CALLER.sync_scope(caller, work)
    }

    /// The span in which this is done.
    pub(crate) fn present() -> Option<Self> {
        CALLER.try_with(Clone::clone).ok().flatten()
    }
}

/// Names the spans of callers in the calls of a client.
pub(crate) struct Callers;

impl Traces for Callers {
    fn begin(&self, _method: &str) -> Option<Box<dyn CallSpan>> {
        let caller = Caller::present()?;
        Some(Box::new(caller))
    }
}

impl CallSpan for Caller {
    fn traceparent(&self) -> Option<String> {
        Some(self.traceparent.clone())
    }

    fn tracestate(&self) -> Option<String> {
        self.tracestate.clone()
    }

    fn try_failed(&mut self, _endpoint: &str, _error: &Error) {}

    fn ended(self: Box<Self>, _error: Option<&Error>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Caller {
        Caller {
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned(),
            tracestate: None,
        }
    }

    fn named() -> Option<String> {
        Callers.begin("synod.v1.Objects/Get")?.traceparent()
    }

    #[tokio::test]
    async fn what_a_caller_does_names_its_span_and_what_it_begins_beside_does_not() {
        let work = Caller::of(Some(caller()), async {
            let beside = tokio::spawn(async { named() });
            (named(), beside.await.expect("it does not panic"))
        });
        assert_eq!(work.await, (Some(caller().traceparent), None));
        assert_eq!(named(), None);
        let inner = Caller::of_sync(Some(caller()), || Caller::of_sync(None, named));
        assert_eq!(inner, None, "the call that is made now has no span");
    }
}
