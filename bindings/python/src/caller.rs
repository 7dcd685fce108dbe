//! The span of the program in which Python calls.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use synod_bound::Caller;

/// The span that is current in this thread or task, if the program has one: `synod._caller.caller` says so.
pub(crate) fn caller(py: Python<'_>) -> PyResult<Option<Caller>> {
    static LOOK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let look = LOOK.import(py, "synod._caller", "caller")?;
    let named: Option<(String, Option<String>)> = look.call0()?.extract()?;
    Ok(named.map(|(traceparent, tracestate)| Caller {
        traceparent,
        tracestate,
    }))
}
