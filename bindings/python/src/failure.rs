//! Turns failures and panics into Python exceptions.

use std::any::Any;

use pyo3::prelude::*;

pub(crate) use synod_bound::Failure;

pyo3::import_exception!(synod._errors, ClosedError);

/// The exception for what can never be done here, and is refused without asking a replica.
pub(crate) fn closed(message: &'static str) -> PyErr {
    ClosedError::new_err((message,))
}

/// The exception of the class that the failure's reason has.
pub(crate) fn error(py: Python<'_>, failure: &Failure) -> PyErr {
    let raised = || {
        let errors = py.import("synod._errors")?;
        errors.call_method1("error_of", (failure.to_json(),))
    };
    raised().map_or_else(|fault| fault, PyErr::from_value)
}

/// A result of the client, with the failure as a Python exception.
pub(crate) fn raised<T>(py: Python<'_>, result: Result<T, Failure>) -> PyResult<T> {
    result.map_err(|failure| error(py, &failure))
}

/// The message of a panic.
pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it did not say why");
    format!("a bug in synod: {said}")
}
