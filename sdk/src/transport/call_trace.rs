//! One call as it is followed in the application's traces, if it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName};

use crate::Error;
use crate::traces::{CallSpan, Traces};

/// The header that names the caller's span.
pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header with what vendors say of it.
pub(super) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// A call over all of its tries. Clones mean the same call.
#[derive(Clone, Default)]
pub(crate) struct CallTrace(Option<Arc<Followed>>);

struct Followed {
    traces: Arc<dyn Traces>,
    stage: Mutex<Stage>,
}

enum Stage {
    /// The first request names the method, and begins it.
    Unsent,
    Underway(Box<dyn CallSpan>),
    /// It is answered, or not followed.
    Over,
}

impl CallTrace {
    pub(crate) fn new(traces: Option<&Arc<dyn Traces>>) -> Self {
        Self(traces.map(|traces| {
            Arc::new(Followed {
                traces: Arc::clone(traces),
                stage: Mutex::new(Stage::Unsent),
            })
        }))
    }

    /// Names the call to the replica in the headers of a request for this path.
    pub(super) fn name(&self, path: &str, headers: &mut HeaderMap) {
        let Some(followed) = &self.0 else { return };
        let mut stage = followed.lock();
        if let Stage::Unsent = &*stage {
            let begun = followed.traces.begin(path.trim_start_matches('/'));
            *stage = begun.map_or(Stage::Over, Stage::Underway);
        }
        let Stage::Underway(span) = &*stage else {
            return;
        };
        let Some(Ok(parent)) = span.traceparent().map(TryInto::try_into) else {
            return;
        };
        headers.insert(TRACEPARENT, parent);
        if let Some(Ok(state)) = span.tracestate().map(TryInto::try_into) {
            headers.insert(TRACESTATE, state);
        }
    }

    /// A try has failed.
    pub(super) fn try_failed(&self, endpoint: impl FnOnce() -> String, error: &Error) {
        let Some(followed) = &self.0 else { return };
        if let Stage::Underway(span) = &mut *followed.lock() {
            span.try_failed(&endpoint(), error);
        }
    }

    /// The call is answered, or has failed.
    pub(crate) fn ended(&self, error: Option<&Error>) {
        let Some(followed) = &self.0 else { return };
        let last = std::mem::replace(&mut *followed.lock(), Stage::Over);
        if let Stage::Underway(span) = last {
            span.ended(error);
        }
    }
}

impl Followed {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use synod_model::ErrorKind;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    const STATE: &str = "vendor=said";

    /// Notes what it is told. Methods with `List` in their names it does not follow.
    #[derive(Clone, Default)]
    struct Notes(Arc<Mutex<Vec<String>>>);

    impl Notes {
        fn add(&self, note: String) {
            self.0.lock().unwrap().push(note);
        }
    }

    impl Traces for Notes {
        fn begin(&self, method: &str) -> Option<Box<dyn CallSpan>> {
            self.add(format!("begin {method}"));
            let is_followed = !method.contains("List");
            is_followed.then(|| Box::new(self.clone()) as Box<dyn CallSpan>)
        }
    }

    impl CallSpan for Notes {
        fn traceparent(&self) -> Option<String> {
            Some(PARENT.to_owned())
        }

        fn tracestate(&self) -> Option<String> {
            Some(STATE.to_owned())
        }

        fn try_failed(&mut self, endpoint: &str, error: &Error) {
            self.add(format!("{} at {endpoint}", error.kind().reason()));
        }

        fn ended(self: Box<Self>, error: Option<&Error>) {
            let kind = error.map(|error| error.kind().reason());
            self.add(format!("ended {kind:?}"));
        }
    }

    fn followed(notes: &Notes) -> CallTrace {
        let traces: Arc<dyn Traces> = Arc::new(notes.clone());
        CallTrace::new(Some(&traces))
    }

    /// How a request for this path is named.
    fn named(call: &CallTrace, path: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        call.name(path, &mut headers);
        headers
    }

    #[test]
    fn a_call_is_followed_once_over_all_of_its_tries() {
        let notes = Notes::default();
        let call = followed(&notes);
        let path = "/synod.v1.Objects/Get";
        let first = named(&call, path);
        assert_eq!(first[TRACEPARENT], PARENT);
        assert_eq!(first[TRACESTATE], STATE);
        let error = Error::new(ErrorKind::Unavailable, "it is down");
        call.try_failed(|| "a:1".to_owned(), &error);
        assert_eq!(named(&call, path), first);
        call.ended(None);
        call.ended(None);
        let told = notes.0.lock().unwrap();
        let expected = [
            "begin synod.v1.Objects/Get",
            "UNAVAILABLE at a:1",
            "ended None",
        ];
        assert_eq!(*told, expected);
    }

    #[test]
    fn what_nobody_follows_names_nothing_to_the_replica() {
        let notes = Notes::default();
        let call = followed(&notes);
        assert!(named(&call, "/synod.v1.Objects/List").is_empty());
        call.ended(None);
        assert_eq!(*notes.0.lock().unwrap(), ["begin synod.v1.Objects/List"]);
        let unfollowed = CallTrace::default();
        assert!(named(&unfollowed, "/synod.v1.Objects/Get").is_empty());
    }
}
