//! Locks a part of the simulated disk, which no thread leaves poisoned.

use std::sync::{Mutex, MutexGuard};

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .expect("nothing panics while it holds a part of the simulated disk")
}
