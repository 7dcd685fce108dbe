//! What histograms are drawn in.

use std::fmt;

use crate::Histogram;

/// Histograms side by side: empty ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsciiChart;

impl AsciiChart {
    /// One without histograms.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    /// The same, with one more.
    #[must_use]
    pub fn add(self, _name: &str, _histogram: Histogram) -> Self {
        self
    }

    /// What is drawn of it.
    #[must_use]
    pub fn detailed(&self) -> impl fmt::Display + use<> {
        *self
    }
}

impl fmt::Display for AsciiChart {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
