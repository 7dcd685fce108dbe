//! Watches and reflectors.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use crate::call::{Call, object};
use crate::failure::{self, raised};
use crate::runtime::{Home, OnRuntime};
use crate::span::seconds;

/// A watch.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Watch {
    kept: OnRuntime<Arc<synod_bound::Watch>>,
}

impl Watch {
    pub(crate) fn new(home: Home, watch: synod_bound::Watch) -> Self {
        Self {
            kept: OnRuntime::new(home, Arc::new(watch)),
        }
    }
}

#[pymethods]
impl Watch {
    /// Answers the next message; `None` if the watch is closed.
    fn next(&self) -> PyResult<Call> {
        let watch = Arc::clone(self.kept.get()?);
        let waiting = async move {
            watch.ready().await?;
            Ok(watch)
        };
        Ok(Call::finished(&self.kept.home, waiting, |py, watch| {
            object(py, watch.pop())
        }))
    }

    fn position(&self) -> PyResult<Option<u64>> {
        Ok(self.kept.get()?.position())
    }

    fn close(&self) -> PyResult<()> {
        let watch = self.kept.get()?;
        self.kept.home.within(|| watch.close());
        Ok(())
    }
}

/// A cache that follows the cluster.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Reflector {
    /// `None` once it is closed.
    kept: OnRuntime<Mutex<Option<Arc<synod_bound::Reflector>>>>,
}

impl Reflector {
    pub(crate) fn new(home: Home, reflector: synod_bound::Reflector) -> Self {
        Self {
            kept: OnRuntime::new(home, Mutex::new(Some(Arc::new(reflector)))),
        }
    }

    fn bound(&self) -> PyResult<Arc<synod_bound::Reflector>> {
        let reflector = self
            .kept
            .get()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        reflector
            .clone()
            .ok_or_else(|| failure::closed("the reflector was closed"))
    }
}

#[pymethods]
impl Reflector {
    fn revision(&self) -> PyResult<u64> {
        Ok(self.bound()?.revision())
    }

    fn get(&self, py: Python<'_>, asked: &str) -> PyResult<Option<String>> {
        raised(py, self.bound()?.get(asked))
    }

    fn list(&self, py: Python<'_>, kind: &str) -> PyResult<String> {
        raised(py, self.bound()?.list(kind))
    }

    fn changed(&self, since: u64) -> PyResult<Call> {
        let reflector = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            reflector.changed(since).await
        }))
    }

    fn reached(&self, revision: u64, limit: f64) -> PyResult<Call> {
        let reflector = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            reflector.reached(revision, seconds(limit)).await
        }))
    }

    fn close(&self) -> PyResult<()> {
        let reflector = self
            .kept
            .get()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.kept.home.within(|| drop(reflector));
        Ok(())
    }
}
