//! The tokens that came lately.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_tokens::Print;

use crate::limits::TOKENS_REMEMBERED_MAX;

/// What was found out about those tokens that came last: to check a signature costs more than the rest of a small call.
#[derive(Debug)]
pub(super) struct Lately<T>(Mutex<Found<T>>);

#[derive(Debug)]
struct Found<T> {
    by_print: BTreeMap<Print, Arc<T>>,
    /// The tokens in the order in which they came, the oldest first.
    order: VecDeque<Print>,
}

impl<T> Lately<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Found {
            by_print: BTreeMap::new(),
            order: VecDeque::new(),
        }))
    }

    pub(super) fn get(&self, print: Print) -> Option<Arc<T>> {
        self.found().by_print.get(&print).cloned()
    }

    pub(super) fn put(&self, print: Print, found: &Arc<T>) {
        let mut all = self.found();
        let Found { by_print, order } = &mut *all;
        if by_print.insert(print, Arc::clone(found)).is_some() {
            return;
        }
        order.push_back(print);
        if order.len() > TOKENS_REMEMBERED_MAX
            && let Some(oldest) = order.pop_front()
        {
            by_print.remove(&oldest);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.found().order.len()
    }

    fn found(&self) -> MutexGuard<'_, Found<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_tokens_are_forgotten() {
        let lately = Lately::new();
        let print = |number: usize| Print::of(&number.to_string());
        for number in 0..=TOKENS_REMEMBERED_MAX {
            lately.put(print(number), &Arc::new(0));
            lately.put(print(number), &Arc::new(number));
        }
        assert_eq!(lately.len(), TOKENS_REMEMBERED_MAX);
        let found = |number| lately.get(print(number)).map(|found| *found);
        assert_eq!(found(0), None);
        assert_eq!(found(1), Some(1));
        assert_eq!(found(TOKENS_REMEMBERED_MAX), Some(TOKENS_REMEMBERED_MAX));
    }
}
