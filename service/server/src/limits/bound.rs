//! A row of the table of limits.

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What is bounded.
    pub name: &'static str,
    /// The limit itself, which is still allowed.
    pub value: u64,
    /// What is counted.
    pub unit: &'static str,
    /// The metric of how much is used, or how often it was reached; `None` if whoever exceeds the limit is told, and nobody else.
    pub metric: Option<&'static str>,
    /// What happens beyond it.
    pub beyond: &'static str,
}

pub(super) const OVERLOADED: &str = "refused with OVERLOADED, not executed";
pub(super) const WAITS: &str = "the next one waits";
pub(super) const GIVES_WAY: &str =
    "the one that is idle for longest is closed; the new one if none is";

pub(super) const fn bound(
    name: &'static str,
    value: usize,
    unit: &'static str,
    metric: Option<&'static str>,
    beyond: &'static str,
) -> Bound {
    Bound {
        name,
        value: value as u64,
        unit,
        metric,
        beyond,
    }
}
