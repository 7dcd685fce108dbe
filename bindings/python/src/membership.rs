//! Memberships, their gates, and permits to write.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use synod_bound::Admitted;

use crate::call::{Call, object};
use crate::failure::{self, raised};
use crate::runtime::{Home, OnRuntime};
use crate::span::seconds;

/// A membership.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Membership {
    kept: OnRuntime<Arc<synod_bound::Membership>>,
}

impl Membership {
    pub(crate) fn object(
        py: Python<'_>,
        home: Home,
        membership: synod_bound::Membership,
    ) -> PyResult<Py<PyAny>> {
        let kept = OnRuntime::new(home, Arc::new(membership));
        object(py, Self { kept })
    }

    fn bound(&self) -> PyResult<Arc<synod_bound::Membership>> {
        self.kept.get().cloned()
    }
}

#[pymethods]
impl Membership {
    fn id(&self) -> PyResult<String> {
        Ok(self.bound()?.id().to_owned())
    }

    fn instance(&self) -> PyResult<String> {
        Ok(self.bound()?.instance().to_owned())
    }

    fn state(&self, py: Python<'_>) -> PyResult<String> {
        raised(py, self.bound()?.state())
    }

    fn changed(&self, seen: String) -> PyResult<Call> {
        let membership = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            membership.changed_from(&seen).await
        }))
    }

    fn ended(&self) -> PyResult<Call> {
        let membership = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            membership.ended().await
        }))
    }

    fn report(&self, entries: String) -> PyResult<Call> {
        let membership = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            membership.report(&entries).await
        }))
    }

    fn report_change(&self, entry: String) -> PyResult<Call> {
        let membership = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            membership.report_change(&entry).await
        }))
    }

    fn ready(&self) -> PyResult<Call> {
        let membership = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            membership.ready().await
        }))
    }

    fn leave(&self, drain_limit: f64) -> PyResult<Call> {
        let membership = self.bound()?;
        Ok(Call::new(&self.kept.home, async move {
            membership.leave(seconds(drain_limit)).await
        }))
    }

    fn gate(&self) -> PyResult<Gate> {
        let gate = self.bound()?.gate();
        Ok(Gate {
            kept: OnRuntime::new(self.kept.home.clone(), gate),
        })
    }

    fn close(&self) -> PyResult<()> {
        let membership = self.bound()?;
        self.kept.home.within(|| membership.close());
        Ok(())
    }
}

/// The gate of a membership.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Gate {
    kept: OnRuntime<synod_bound::Gate>,
}

#[pymethods]
impl Gate {
    fn permit(&self, py: Python<'_>, resource: &str, wait: Option<f64>) -> PyResult<Call> {
        let gate = self.kept.get()?;
        let waiting = raised(py, gate.permit(resource, wait.map(seconds)))?;
        Ok(Call::of_feed(&self.kept.home, waiting, Permit::object))
    }

    fn try_permit(&self, py: Python<'_>, resource: &str) -> PyResult<Permit> {
        let permit = raised(py, self.kept.get()?.try_permit(resource))?;
        Ok(Permit::new(self.kept.home.clone(), permit))
    }

    fn waits_for(&self) -> PyResult<Option<String>> {
        Ok(self.kept.get()?.waits_for())
    }

    fn is_drained(&self) -> PyResult<bool> {
        Ok(self.kept.get()?.is_drained())
    }

    fn door(&self, py: Python<'_>, wait: f64, not_stored: &str) -> PyResult<Door> {
        let door = raised(py, self.kept.get()?.door(seconds(wait), not_stored))?;
        Ok(Door {
            kept: OnRuntime::new(self.kept.home.clone(), door),
        })
    }
}

/// The gate's rule for HTTP requests.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Door {
    kept: OnRuntime<synod_bound::Door>,
}

#[pymethods]
impl Door {
    /// Answers a permit or `None`, or what to answer in place of the server: code, content type and body.
    fn admit(&self, method: &str, target: &str) -> PyResult<Call> {
        let admitting = self.kept.get()?.admit(method, target);
        Ok(Call::of_feed(&self.kept.home, admitting, admitted))
    }
}

fn admitted(py: Python<'_>, home: Home, admitted: Admitted) -> PyResult<Py<PyAny>> {
    match admitted {
        Admitted::Pass => object(py, None::<Permit>),
        Admitted::Permitted(permit) => Permit::object(py, home, permit),
        Admitted::Refused {
            code,
            content_type,
            body,
        } => object(py, (code, content_type, body)),
    }
}

/// A permit to write.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Permit {
    /// `None` once it was given back without a word.
    kept: OnRuntime<Mutex<Option<Arc<synod_bound::Permit>>>>,
}

impl Permit {
    fn new(home: Home, permit: synod_bound::Permit) -> Self {
        Self {
            kept: OnRuntime::new(home, Mutex::new(Some(Arc::new(permit)))),
        }
    }

    fn object(py: Python<'_>, home: Home, permit: synod_bound::Permit) -> PyResult<Py<PyAny>> {
        object(py, Self::new(home, permit))
    }

    fn bound(&self) -> PyResult<Arc<synod_bound::Permit>> {
        let permit = self
            .kept
            .get()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        permit
            .clone()
            .ok_or_else(|| failure::closed("the permit was given back"))
    }
}

#[pymethods]
impl Permit {
    fn resource(&self) -> PyResult<String> {
        Ok(self.bound()?.resource())
    }

    fn encoding(&self) -> PyResult<String> {
        Ok(self.bound()?.encoding())
    }

    fn epoch(&self) -> PyResult<u64> {
        Ok(self.bound()?.epoch())
    }

    fn revision(&self) -> PyResult<u64> {
        Ok(self.bound()?.revision())
    }

    fn check(&self, py: Python<'_>) -> PyResult<()> {
        raised(py, self.bound()?.check())
    }

    fn done(&self) -> PyResult<()> {
        self.bound()?.done();
        Ok(())
    }

    fn unknown_outcome(&self) -> PyResult<()> {
        self.bound()?.unknown_outcome();
        Ok(())
    }

    fn give_back(&self) -> PyResult<()> {
        let permit = self
            .kept
            .get()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(permit);
        Ok(())
    }
}
