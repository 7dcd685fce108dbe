//! Options and results.

use std::fmt;

/// An option, displayed as its value or as `None`.
#[derive(Clone, Copy, Debug)]
pub struct DisplayOption<'a, T>(&'a Option<T>);

impl<T: fmt::Display> fmt::Display for DisplayOption<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("None"),
        }
    }
}

/// Displays an option.
pub trait DisplayOptionExt<T> {
    /// The value, or `None`.
    fn display(&self) -> DisplayOption<'_, T>;
}

impl<T: fmt::Display> DisplayOptionExt<T> for Option<T> {
    fn display(&self) -> DisplayOption<'_, T> {
        DisplayOption(self)
    }
}

/// A result, displayed as `Ok(value)` or `Err(error)`.
#[derive(Clone, Copy, Debug)]
pub struct DisplayResult<'a, T, E>(&'a Result<T, E>);

impl<T: fmt::Display, E: fmt::Display> fmt::Display for DisplayResult<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(value) => write!(f, "Ok({value})"),
            Err(error) => write!(f, "Err({error})"),
        }
    }
}

/// Displays a result.
pub trait DisplayResultExt<T, E> {
    /// The value or the error, in its brackets.
    fn display(&self) -> DisplayResult<'_, T, E>;
}

impl<T: fmt::Display, E: fmt::Display> DisplayResultExt<T, E> for Result<T, E> {
    fn display(&self) -> DisplayResult<'_, T, E> {
        DisplayResult(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_results_are_displayed_with_their_values() {
        assert_eq!(Some(42).display().to_string(), "42");
        assert_eq!(None::<u8>.display().to_string(), "None");
        assert_eq!(Ok::<u8, u8>(1).display().to_string(), "Ok(1)");
        assert_eq!(Err::<u8, u8>(2).display().to_string(), "Err(2)");
    }
}
