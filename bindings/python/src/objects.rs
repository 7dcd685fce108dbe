//! Objects that Python encodes and decodes.

use std::sync::Arc;

use pyo3::prelude::*;
use synod_bound::Step;

use crate::call::Call;
use crate::failure::raised;
use crate::runtime::{Home, OnRuntime};

/// The objects of a collection.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Objects {
    kept: OnRuntime<synod_bound::Objects>,
}

impl Objects {
    pub(crate) fn new(home: Home, objects: synod_bound::Objects) -> Self {
        Self {
            kept: OnRuntime::new(home, objects),
        }
    }
}

#[pymethods]
impl Objects {
    fn version(&self) -> PyResult<String> {
        Ok(self.kept.get()?.version())
    }

    fn encode_in(&self, py: Python<'_>, version: &str) -> PyResult<()> {
        raised(py, self.kept.get()?.encode_in(version))
    }

    fn updater(&self, py: Python<'_>, key: &str, cached: Option<&str>) -> PyResult<Updater> {
        let updater = raised(py, self.kept.get()?.updater(key, cached))?;
        Ok(Updater {
            kept: OnRuntime::new(self.kept.home.clone(), Arc::new(updater)),
        })
    }

    fn creator(&self, py: Python<'_>, options: &str) -> PyResult<Creator> {
        let creator = raised(py, self.kept.get()?.creator(options))?;
        Ok(Creator {
            kept: OnRuntime::new(self.kept.home.clone(), Arc::new(creator)),
        })
    }
}

/// The next step: the object and the version to encode it in. At the end there is no version, and the two flags say
/// whether the object was changed, and whether it is gone.
type StepTuple = (String, Option<String>, bool, bool);

fn told(step: Step) -> StepTuple {
    match step {
        Step::Change { object, version } => (object, Some(version), false, false),
        Step::Done {
            object,
            changed,
            deleted,
        } => (object, None, changed, deleted),
    }
}

/// A change on its way.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Updater {
    kept: OnRuntime<Arc<synod_bound::Updater>>,
}

#[pymethods]
impl Updater {
    fn begin(&self) -> PyResult<Call> {
        let updater = Arc::clone(self.kept.get()?);
        Ok(Call::new(&self.kept.home, async move {
            updater.begin().await.map(told)
        }))
    }

    fn failed(&self) -> PyResult<Call> {
        let updater = Arc::clone(self.kept.get()?);
        Ok(Call::new(&self.kept.home, async move {
            Ok(updater.failed().await?.map(told))
        }))
    }

    fn write(&self, attributes: String, content: String, same: bool) -> PyResult<Call> {
        let updater = Arc::clone(self.kept.get()?);
        Ok(Call::new(&self.kept.home, async move {
            let step = updater.write(&attributes, &content, Some(same)).await;
            step.map(told)
        }))
    }
}

/// A new object on its way.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Creator {
    kept: OnRuntime<Arc<synod_bound::Creator>>,
}

#[pymethods]
impl Creator {
    fn version(&self) -> PyResult<Call> {
        let creator = Arc::clone(self.kept.get()?);
        Ok(Call::new(&self.kept.home, async move {
            Ok(creator.version().await)
        }))
    }

    fn write(&self, content: String) -> PyResult<Call> {
        let creator = Arc::clone(self.kept.get()?);
        Ok(Call::new(&self.kept.home, async move {
            creator.write(&content).await
        }))
    }
}
