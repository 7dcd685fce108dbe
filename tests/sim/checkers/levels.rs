//! Levels of a feature: nobody uses one that another server, which meets what is made with it, does not have; and what is
//! selected never goes back.

use synod_machine::StateStatus;

use super::rising::Rising;
use crate::rotations::{Scene, level};

#[derive(Default)]
pub(super) struct Levels(Rising);

impl Levels {
    pub(super) fn check(&mut self, status: &StateStatus) -> Result<(), String> {
        match &status.selected {
            Some(selected) => self.0.check(status.selected_revision, level(selected)),
            None => Ok(()),
        }
    }
}

/// Checks that everybody has what somebody uses.
pub(super) fn check_what_is_used(scene: &Scene) -> Result<(), String> {
    let highest = scene.uses.iter().max_by_key(|one| one.level());
    let least = scene.uses.iter().min_by_key(|one| one.has);
    match (highest, least) {
        (Some(highest), Some(least)) if highest.level() > least.has => {
            Err(format!("{highest:?} uses what {least:?} does not have"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use synod_model::{ApiVersion, Epoch, MemberId, Revision};

    use super::*;
    use crate::rotations::{Pen, Use};

    #[test]
    fn a_level_that_one_uses_and_another_one_does_not_have_is_found() {
        let one = |(uses, has): &(&str, u64)| Use {
            pen: Pen {
                member: MemberId::parse("a").unwrap(),
                epoch: Epoch::new(Revision::new(3)),
                value: ApiVersion::parse(uses).unwrap(),
                revision: Revision::new(5),
            },
            has: *has,
        };
        let scene = |uses: &[(&str, u64)]| Scene {
            uses: uses.iter().map(one).collect(),
            ..Scene::default()
        };
        check_what_is_used(&scene(&[])).unwrap();
        check_what_is_used(&scene(&[("v9", 10), ("v10", 11)])).unwrap();
        check_what_is_used(&scene(&[("v9", 9), ("v10", 11)])).unwrap_err();
    }
}
