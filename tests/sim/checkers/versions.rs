//! Served versions: nobody shows one that another server, which clients may ask as well, cannot serve; none is withdrawn
//! before its date; and its code may be removed only when nobody shows it.

use std::collections::BTreeSet;

use synod_machine::{State, StateStatus};
use synod_model::{Revision, WITHDRAWN};

use crate::rotations::{Named, Scene, may_be_removed};

/// The withdrawals that were checked, by the revisions at which they were decided.
#[derive(Default)]
pub(super) struct Versions(BTreeSet<Revision>);

impl Versions {
    pub(super) fn check(
        &mut self,
        state: &State,
        status: &StateStatus,
        scene: &Scene,
        now: u64,
    ) -> Result<(), String> {
        let selected = status.selected.as_ref();
        let is_withdrawn = selected.is_some_and(|selected| selected.as_str() == WITHDRAWN);
        if is_withdrawn && self.0.insert(status.selected_revision) {
            let before = |named: &&Named| named.revision < status.selected_revision;
            scene
                .named
                .iter()
                .filter(before)
                .try_for_each(|named| has_come(*named, now))?;
        }
        // Who shows it by a later revision than this one has done nothing wrong.
        let mut signs = scene.signs.iter();
        let shown = signs.find(|sign| sign.shows() && sign.pen.revision <= state.revision());
        match shown.filter(|_| may_be_removed(state)) {
            Some(shown) => Err(format!("its code may be removed, and {shown:?}")),
            None => Ok(()),
        }
    }
}

/// Checks that a date has come. The clock of the leader, by which the time until it is counted, may run faster by a twentieth.
fn has_come(named: Named, now: u64) -> Result<(), String> {
    let span = named.until.saturating_sub(named.at);
    let soonest = named.at + span * 95 / 100;
    (now >= soonest)
        .then_some(())
        .ok_or_else(|| format!("withdrawn at {now}, and promised: {named:?}"))
}

/// Checks that whoever may be asked can serve what another one shows.
pub(super) fn check_what_is_shown(scene: &Scene) -> Result<(), String> {
    let shown = scene.signs.iter().find(|sign| sign.shows());
    let cannot = scene.signs.iter().find(|sign| !sign.can);
    match (shown, cannot) {
        (Some(shown), Some(cannot)) => Err(format!("{shown:?} shows what {cannot:?} cannot serve")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use synod_model::{ApiVersion, Epoch, MemberId, SERVED};

    use super::*;
    use crate::rotations::{Pen, Sign};

    fn sign(value: &str, can: bool) -> Sign {
        Sign {
            pen: Pen {
                member: MemberId::parse("a").unwrap(),
                epoch: Epoch::new(Revision::new(3)),
                value: ApiVersion::parse(value).unwrap(),
                revision: Revision::new(5),
            },
            can,
        }
    }

    #[test]
    fn a_version_that_one_shows_and_another_one_cannot_serve_is_found() {
        let scene = |signs: &[(&str, bool)]| Scene {
            signs: signs.iter().map(|(value, can)| sign(value, *can)).collect(),
            ..Scene::default()
        };
        for fine in [
            &[(SERVED, true), (WITHDRAWN, true)][..],
            &[(WITHDRAWN, true), (WITHDRAWN, false)],
        ] {
            check_what_is_shown(&scene(fine)).unwrap();
        }
        check_what_is_shown(&scene(&[(SERVED, true), (WITHDRAWN, false)])).unwrap_err();
    }

    #[test]
    fn a_withdrawal_before_the_date_is_found() {
        let named = |until| Named {
            revision: Revision::new(7),
            at: 1_000,
            until,
        };
        for (until, now) in [(500, 1_000), (3_000, 3_000), (3_000, 2_900)] {
            has_come(named(until), now).unwrap();
        }
        has_come(named(3_000), 2_899).unwrap_err();
    }
}
