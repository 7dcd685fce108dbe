//! Levels of a feature: what is selected never goes back, whatever fails.

use super::World;
use crate::cluster::{About, RESOURCES, VOTED, about, number_of};

impl World {
    /// A level that was selected, and is no more.
    pub(super) fn unlearns_a_level(&mut self) -> Option<String> {
        if about() != About::Levels {
            return None;
        }
        let kept = self.cluster.kept(VOTED);
        let selected = kept.and_then(|kept| kept.row.status.selected.as_ref().map(number_of));
        let before = std::mem::replace(&mut self.level, selected);
        if before < selected {
            self.tally.levels += 1;
        }
        let name = RESOURCES[VOTED];
        (selected < before)
            .then(|| format!("{name} have used {before:?}, and {selected:?} is selected"))
    }
}
