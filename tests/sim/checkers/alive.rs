//! No replica ends by itself, or panics, or cannot start: the faults of these simulations give it no reason to.

use crate::seeds;
use crate::trace::Trace;

pub(crate) fn look(trace: &Trace) {
    assert_eq!(trace.failure(), None);
    // A panic in a task of a replica ends only that task.
    assert_eq!(seeds::panicked(), None);
}
