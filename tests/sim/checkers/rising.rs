//! What is selected of keys and levels, which are numbered, never goes back.

use std::collections::BTreeMap;

use synod_model::Revision;

/// What was selected, by the revision at which it was.
#[derive(Default)]
pub(super) struct Rising(BTreeMap<Revision, u64>);

impl Rising {
    /// Checks that nothing older is selected after something newer, whichever replica shows it.
    pub(super) fn check(&mut self, at: Revision, selected: u64) -> Result<(), String> {
        let known = self.0.insert(at, selected);
        let before = self.0.range(..at).next_back();
        let after = self.0.range(at..).nth(1);
        let is_in_order = known.is_none_or(|known| known == selected)
            && before.is_none_or(|(_, before)| *before <= selected)
            && after.is_none_or(|(_, after)| selected <= *after);
        is_in_order.then_some(()).ok_or_else(|| {
            format!("{selected} is selected at {at}, between {before:?} and {after:?}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(revision: u64) -> Revision {
        Revision::new(revision)
    }

    #[test]
    fn a_selection_that_goes_back_is_found_in_whatever_order_it_is_seen() {
        let mut rising = Rising::default();
        for (revision, number) in [(5, 1), (9, 2), (5, 1), (7, 1), (20, 4)] {
            rising.check(at(revision), number).unwrap();
        }
        for (revision, number) in [(9, 3), (8, 3), (12, 1), (30, 3)] {
            rising.check(at(revision), number).unwrap_err();
            rising.0.remove(&at(revision));
            rising.check(at(9), 2).unwrap();
        }
    }
}
