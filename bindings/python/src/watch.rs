//! Watches and reflectors.

use pyo3::prelude::*;

use crate::call::{Call, object};
use crate::handle::handle;
use crate::span::seconds;

handle! {
    /// A watch.
    Watch(synod_bound::Watch) {
        now position(watch) -> Option<u64> { watch.position() }
        now close(watch) -> () { watch.close() }
    }

    /// Answers the next message; `None` if the watch is closed.
    fn next(&self) -> PyResult<Call> {
        let (waited, watch) = (self.held.bound()?, self.held.bound()?);
        let ready = async move { waited.ready().await };
        Ok(Call::finished(self.held.home(), ready, move |py, _| object(py, watch.pop())))
    }
}

handle! {
    /// A cache that follows the cluster.
    Reflector(synod_bound::Reflector) {
        now revision(reflector) -> u64 { reflector.revision() }
        now get(reflector, asked: &str) -> Option<String> { reflector.get(asked)? }
        now list(reflector, kind: &str) -> String { reflector.list(kind)? }
        later changed(reflector, since: u64) -> u64 { reflector.changed(since).await? }

        later reached(reflector, revision: u64, limit: f64) -> () {
            reflector.reached(revision, seconds(limit)).await?
        }
    }

    fn close(&self) -> PyResult<()> {
        self.held.let_go("the reflector was closed")
    }
}

handle! {
    /// What follows the objects of a collection.
    ObjectReflector(synod_bound::ObjectReflector) {
        /// Answers the revision, and a document of what has changed since the pull before, if anything has.
        now pull(reflector) -> (u64, Option<String>) {
            let pulled = reflector.pull();
            (pulled.revision, pulled.changes)
        }

        now revision(reflector) -> u64 { reflector.revision() }
        later changed(reflector, since: u64) -> u64 { reflector.changed(since).await? }

        later reached(reflector, revision: u64, limit: f64) -> () {
            reflector.reached(revision, seconds(limit)).await?
        }
    }

    fn close(&self) -> PyResult<()> {
        self.held.let_go("the cache was closed")
    }
}
