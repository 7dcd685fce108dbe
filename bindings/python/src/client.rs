//! The client: calls by name, and the handles that it opens.

use pyo3::prelude::*;
use synod_bound::Bound;

use crate::call::Call;
use crate::failure::raised;
use crate::handle::{Of as _, handle};
use crate::lock::{Election, Lock};
use crate::membership::{FenceGuard, Membership};
use crate::objects::Objects;
use crate::runtime::Home;
use crate::span::seconds;
use crate::watch::{ObjectReflector, Reflector, Watch};
use crate::worker::Worker;

handle! {
    /// A client of a cluster.
    Client(Bound) {
        now endpoints(client) -> Vec<String> { client.endpoints() }

        fed join(client, options: &str) -> Membership { client.join(options)? }
        later watch(client, options: String) -> Watch { client.watch(&options).await? }
        later reflect(client, options: String) -> Reflector { client.reflect(&options).await? }
        later reflect_objects(client, options: String) -> ObjectReflector { client.reflect_objects(&options).await? }
        fed lock(client, options: &str) -> Lock { client.lock(options)? }
        fed try_lock(client, options: &str) -> Lock { client.try_lock(options)? }
        now election(client, options: &str) -> Election { client.election(options)? }
        now objects(client, options: &str) -> Objects { client.objects(options)? }
        now worker(client, options: &str) -> Worker { client.migrator(options)? }
        later back_up(client, options: String) -> String { client.back_up(&options).await? }
        later fence_guard(client, member: String) -> FenceGuard { client.fence_guard(&member).await? }
        later close(client) -> () { client.close().await? }
    }

    /// Answers the response to a request.
    fn call(
        &self,
        py: Python<'_>,
        method: String,
        request: String,
        timeout: Option<f64>,
    ) -> PyResult<Call> {
        let asked = method.clone();
        self.held.later::<_, String, _>(py, Some(&asked), |client| async move {
            client.call(&method, &request, timeout.map(seconds)).await
        })
    }

    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<Self> {
        let home = Home::get()?;
        let connected = home.block_on(py, Bound::connect(options));
        Ok(Self::of(raised(py, connected)?, &home))
    }
}

/// What the topic with this text is, as a document.
#[pyfunction]
pub(crate) fn topic(py: Python<'_>, text: &str) -> PyResult<String> {
    raised(py, synod_bound::topic(text))
}

/// What the topic is that a resource is, as a document.
#[pyfunction]
pub(crate) fn topic_of(py: Python<'_>, resource: &str) -> PyResult<String> {
    raised(py, synod_bound::topic_of(resource))
}

/// The id that Kubernetes would give to the API server on a host.
#[pyfunction]
pub(crate) fn apiserver_id(hostname: &str) -> String {
    synod_client::apiserver_id(hostname).to_string()
}
