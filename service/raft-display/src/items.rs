//! Slices and sets, of which the middle is left out if they are long.

use std::collections::{BTreeSet, btree_set};
use std::{fmt, slice};

/// The most items that are displayed if nothing else is asked for.
const ITEMS_MAX: usize = 5;

/// The items of a list, displayed as `[1,2,3,4,..,8]`.
#[derive(Clone, Copy, Debug)]
pub struct Items<I> {
    items: I,
    most: usize,
}

impl<I> fmt::Display for Items<I>
where
    I: ExactSizeIterator + DoubleEndedIterator + Clone,
    I::Item: fmt::Display,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut items = self.items.clone();
        let is_short = items.len() <= self.most;
        let last = items.next_back();
        let shown = if is_short {
            items.len()
        } else {
            self.most.saturating_sub(1)
        };
        f.write_str("[")?;
        for item in items.take(shown) {
            write!(f, "{item},")?;
        }
        match last {
            Some(last) if is_short => write!(f, "{last}")?,
            Some(last) if self.most > 0 => write!(f, "..,{last}")?,
            Some(_) => f.write_str("..")?,
            None => {}
        }
        f.write_str("]")
    }
}

/// Displays a slice.
pub trait DisplaySliceExt<T> {
    /// The items; of more than five the first four and the last.
    fn display(&self) -> Items<slice::Iter<'_, T>> {
        self.display_n(ITEMS_MAX)
    }

    /// The items; of more than `most` the first ones and the last.
    fn display_n(&self, most: usize) -> Items<slice::Iter<'_, T>>;
}

impl<T: fmt::Display> DisplaySliceExt<T> for [T] {
    fn display_n(&self, most: usize) -> Items<slice::Iter<'_, T>> {
        let items = self.iter();
        Items { items, most }
    }
}

/// Displays a set.
pub trait DisplayBTreeSetExt<T> {
    /// The items; of more than five the first four and the last.
    fn display(&self) -> Items<btree_set::Iter<'_, T>> {
        self.display_n(ITEMS_MAX)
    }

    /// The items; of more than `most` the first ones and the last.
    fn display_n(&self, most: usize) -> Items<btree_set::Iter<'_, T>>;
}

impl<T: fmt::Display> DisplayBTreeSetExt<T> for BTreeSet<T> {
    fn display_n(&self, most: usize) -> Items<btree_set::Iter<'_, T>> {
        let items = self.iter();
        Items { items, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_list_is_displayed_as_a_whole_and_a_long_one_without_its_middle() {
        let shown = |count: usize, most| {
            let items: Vec<usize> = (1..=count).collect();
            let set: BTreeSet<usize> = items.iter().copied().collect();
            let shown = items.display_n(most).to_string();
            assert_eq!(set.display_n(most).to_string(), shown);
            shown
        };
        assert_eq!(shown(0, 5), "[]");
        assert_eq!(shown(1, 5), "[1]");
        assert_eq!(shown(5, 5), "[1,2,3,4,5]");
        assert_eq!(shown(8, 5), "[1,2,3,4,..,8]");
        assert_eq!(shown(8, 1), "[..,8]");
        assert_eq!(shown(8, 0), "[..]");
        assert_eq!(shown(0, 0), "[]");
        assert_eq!([1, 2, 3, 4, 5, 6].display().to_string(), "[1,2,3,4,..,6]");
        assert_eq!(BTreeSet::from([1, 2]).display().to_string(), "[1,2]");
    }
}
