//! Errors, on their way to being exceptions.

use std::any::Any;

use pyo3::prelude::*;

pub(crate) use synod_bound::Failure;

pyo3::import_exception!(synod._errors, ClosedError);

/// The exception for what is refused without asking a replica, since it can never be done.
pub(crate) fn closed(message: &'static str) -> PyErr {
    ClosedError::new_err((message,))
}

/// The exception of the failure's class.
pub(crate) fn error(py: Python<'_>, failure: &Failure) -> PyErr {
    let raised = || {
        let errors = py.import("synod._errors")?;
        errors.call_method1("error_of", (failure.to_json(),))
    };
    raised().map_or_else(|fault| fault, PyErr::from_value)
}

/// A result of the client, its failure as an exception.
pub(crate) fn raised<T>(py: Python<'_>, result: Result<T, Failure>) -> PyResult<T> {
    result.map_err(|failure| error(py, &failure))
}

/// What a panic said.
pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it did not say why");
    format!("a bug in synod: {said}")
}
