//! No replica ends by itself, panics, or fails to start: the simulated faults give it no reason to.

use crate::seeds;
use crate::trace::Trace;

pub(crate) fn look(trace: &Trace) {
    assert_eq!(trace.failure(), None);
    // A panic in a task of a replica ends only that task, so it is looked for here.
    assert_eq!(seeds::panicked(), None);
}
