//! Locks, elections, and observers of a lease.

use std::sync::Arc;

use pyo3::prelude::*;
use synod_bound::{Feed, LeadingEnd};

use crate::call::{Call, object};
use crate::failure::raised;
use crate::runtime::{Home, OnRuntime};

/// A lease that this process holds.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Lock {
    kept: OnRuntime<Arc<synod_bound::Lock>>,
}

impl Lock {
    pub(crate) fn object(
        py: Python<'_>,
        home: Home,
        lock: synod_bound::Lock,
    ) -> PyResult<Py<PyAny>> {
        let kept = OnRuntime::new(home, Arc::new(lock));
        object(py, Self { kept })
    }

    fn bound(&self) -> PyResult<Arc<synod_bound::Lock>> {
        self.kept.get().cloned()
    }
}

#[pymethods]
impl Lock {
    fn holder(&self) -> PyResult<String> {
        Ok(self.bound()?.holder().to_owned())
    }

    fn token(&self) -> PyResult<u64> {
        Ok(self.bound()?.token())
    }

    fn proof(&self) -> PyResult<String> {
        Ok(self.bound()?.proof().to_owned())
    }

    fn check(&self, py: Python<'_>) -> PyResult<()> {
        raised(py, self.bound()?.check())
    }

    /// Answers why, as the document of a failure.
    fn lost(&self) -> PyResult<Call> {
        let lock = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            Ok(lock.lost().await?.to_json())
        }))
    }

    fn release(&self) -> PyResult<Call> {
        let lock = self.bound()?;
        Ok(Call::new(
            &self.kept.home,
            async move { lock.release().await },
        ))
    }
}

/// An election.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Election {
    kept: OnRuntime<Arc<synod_bound::Election>>,
}

impl Election {
    pub(crate) fn new(home: Home, election: synod_bound::Election) -> Self {
        Self {
            kept: OnRuntime::new(home, Arc::new(election)),
        }
    }
}

#[pymethods]
impl Election {
    fn campaign(&self) -> PyResult<Call> {
        let campaigning = self.kept.get()?.campaign();
        Ok(Call::of_feed(&self.kept.home, campaigning, Lock::object))
    }

    /// Answers the document of a failure and `None`, or `None` and who is preferred.
    fn over(&self, lock: &Lock) -> PyResult<Call> {
        let (election, lock) = (Arc::clone(self.kept.get()?), lock.bound()?);
        Ok(Call::new(&self.kept.home, async move {
            Ok(match election.over(&lock).await? {
                LeadingEnd::Lost(failure) => (Some(failure.to_json()), None),
                LeadingEnd::Preferred(identity) => (None, Some(identity)),
            })
        }))
    }

    fn observe(&self) -> PyResult<Observer> {
        let observed = self.kept.get()?.observe();
        Ok(Observer {
            kept: OnRuntime::new(self.kept.home.clone(), Arc::new(observed)),
        })
    }

    fn withdraw(&self) -> PyResult<Call> {
        let election = Arc::clone(self.kept.get()?);
        Ok(Call::new(&self.kept.home, async move {
            election.withdraw().await
        }))
    }
}

/// Who holds a lease, again and again.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Observer {
    kept: OnRuntime<Arc<Feed<String>>>,
}

#[pymethods]
impl Observer {
    /// Answers the lease, `null` while there is none; `None` if this is closed.
    fn next(&self) -> PyResult<Call> {
        let feed = Arc::clone(self.kept.get()?);
        let waiting = async move {
            feed.ready().await?;
            Ok(feed)
        };
        Ok(Call::finished(&self.kept.home, waiting, |py, feed| {
            object(py, feed.pop())
        }))
    }

    fn close(&self) -> PyResult<()> {
        let feed = self.kept.get()?;
        self.kept.home.within(|| feed.close());
        Ok(())
    }
}
