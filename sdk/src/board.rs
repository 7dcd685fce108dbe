//! A value that tasks share and wait on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// A value that can be read, changed, and waited on. Those who wait are woken in the order in which they came, so that a
/// simulation repeats.
#[derive(Debug, Default)]
pub(crate) struct Board<T> {
    value: Mutex<T>,
    changed: Notify,
}

impl<T> Board<T> {
    /// The value, to be read; changes through it wake nobody.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        // What a panic left behind is whole: values here are changed field by field.
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value, and wakes all who wait.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_waiters();
        result
    }

    /// Waits until `ask` finds an answer.
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
