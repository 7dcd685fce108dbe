//! A value that tasks share and wait on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// A value that tasks read, change and wait on. Waiting tasks are woken in the order in which they began to wait, so
/// that a simulation run can be repeated.
#[derive(Debug, Default)]
pub(crate) struct Board<T> {
    value: Mutex<T>,
    changed: Notify,
}

impl<T> Board<T> {
    /// Locks the value for reading. A change made through this guard wakes no waiting task.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        // Poison is ignored: values here are changed field by field, so a panic leaves a whole value.
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value and wakes all waiting tasks.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_waiters();
        result
    }

    /// Waits until `ask` returns `Some` for the value.
    pub(crate) async fn wait<R>(&self, ask: impl Fn(&T) -> Option<R>) -> R {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = ask(&self.lock()) {
                return found;
            }
            changed.await;
        }
    }
}
