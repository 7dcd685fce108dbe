//! The client: calls by name, and the handles that it opens.

use std::sync::Arc;

use pyo3::prelude::*;
use synod_bound::Bound;

use crate::call::Call;
use crate::failure::raised;
use crate::lock::{Election, Lock};
use crate::membership::Membership;
use crate::objects::Objects;
use crate::runtime::{Home, OnRuntime};
use crate::span::seconds;
use crate::watch::{Reflector, Watch};
use crate::worker::Worker;

/// A client of a cluster.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Client {
    kept: OnRuntime<Arc<Bound>>,
}

#[pymethods]
impl Client {
    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<Self> {
        let home = Home::get()?;
        let connected = home.block_on(py, Bound::connect(options));
        let bound = raised(py, connected)?;
        Ok(Self {
            kept: OnRuntime::new(home, Arc::new(bound)),
        })
    }

    fn endpoints(&self) -> PyResult<Vec<String>> {
        Ok(self.kept.get()?.endpoints())
    }

    fn call(&self, method: String, request: String, timeout: Option<f64>) -> PyResult<Call> {
        let bound = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            bound.call(&method, &request, timeout.map(seconds)).await
        }))
    }

    fn join(&self, py: Python<'_>, options: &str) -> PyResult<Call> {
        let joining = raised(py, self.bound()?.join(options))?;
        Ok(Call::of_feed(&self.kept.home, joining, Membership::object))
    }

    fn watch(&self, options: String) -> PyResult<Call> {
        let (bound, home) = (self.bound()?, self.kept.home.clone());
        Ok(Call::new(&self.kept.home, async move {
            let watch = bound.watch(&options).await?;
            Ok(Watch::new(home, watch))
        }))
    }

    fn reflect(&self, options: String) -> PyResult<Call> {
        let (bound, home) = (self.bound()?, self.kept.home.clone());
        Ok(Call::new(&self.kept.home, async move {
            let reflector = bound.reflect(&options).await?;
            Ok(Reflector::new(home, reflector))
        }))
    }

    fn lock(&self, py: Python<'_>, options: &str) -> PyResult<Call> {
        let waiting = raised(py, self.bound()?.lock(options))?;
        Ok(Call::of_feed(&self.kept.home, waiting, Lock::object))
    }

    fn try_lock(&self, py: Python<'_>, options: &str) -> PyResult<Call> {
        let trying = raised(py, self.bound()?.try_lock(options))?;
        Ok(Call::of_feed(&self.kept.home, trying, Lock::object))
    }

    fn election(&self, py: Python<'_>, options: &str) -> PyResult<Election> {
        let election = raised(py, self.bound()?.election(options))?;
        Ok(Election::new(self.kept.home.clone(), election))
    }

    fn objects(&self, py: Python<'_>, options: &str) -> PyResult<Objects> {
        let objects = raised(py, self.bound()?.objects(options))?;
        Ok(Objects::new(self.kept.home.clone(), objects))
    }

    fn worker(&self, py: Python<'_>, options: &str) -> PyResult<Worker> {
        let migrator = raised(py, self.bound()?.migrator(options))?;
        Ok(Worker::new(self.kept.home.clone(), migrator))
    }

    fn close(&self) -> PyResult<Call> {
        let bound = self.bound()?;
        Ok(Call::new(
            &self.kept.home,
            async move { bound.close().await },
        ))
    }
}

impl Client {
    fn bound(&self) -> PyResult<Arc<Bound>> {
        self.kept.get().cloned()
    }
}

/// The id that Kubernetes would give to the API server on a host.
#[pyfunction]
pub(crate) fn apiserver_id(hostname: &str) -> String {
    synod_client::apiserver_id(hostname).to_string()
}
