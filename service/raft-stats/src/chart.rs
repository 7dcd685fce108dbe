//! The chart that openraft draws histograms in; this one draws nothing.

use std::fmt;

use crate::Histogram;

/// A chart of histograms side by side. It keeps none of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsciiChart;

impl AsciiChart {
    /// A chart without histograms.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    /// Returns the chart unchanged: the histogram is dropped.
    #[must_use]
    pub fn add(self, _name: &str, _histogram: Histogram) -> Self {
        self
    }

    /// The drawing of the chart: empty.
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
