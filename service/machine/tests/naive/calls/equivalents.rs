//! Steps in which resources turn out to be one store, and to be several again.

use proptest::collection::vec;
use proptest::prelude::*;

use super::says::says;
use super::{
    Does, Expects, Keeps, RESOURCES, Rules, Says, Step, What, Which, looks, step, what, who,
};

/// The resources that can be names of one store, and a topic, which cannot.
pub(crate) const NAMES: usize = 5;

pub(crate) fn equivalent_steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let declare = (0..2_usize, any::<bool>()).prop_map(|(which, strict)| {
        What::Keeps(Keeps::Declare {
            resource: RESOURCES + which,
            rules: Rules {
                strict,
                creates: true,
                unconditional: true,
                status: false,
            },
        })
    });
    let remove = (0..2_usize).prop_map(|which| {
        What::Keeps(Keeps::Remove {
            resource: RESOURCES + which,
            expects: Expects::Any,
        })
    });
    let forget = (0..2_usize).prop_map(|which| What::Forget {
        resource: RESOURCES + which,
        expects: None,
    });
    let what = prop_oneof![
        150 => what(),
        8 => unite(),
        6 => (0..NAMES).prop_map(What::Part),
        40 => reports(),
        3 => declare,
        2 => remove,
        3 => forget,
        12 => looks::observations(1),
        4 => super::rosters(),
    ];
    vec(step(what.boxed()), 1..most)
}

/// Usually two or three names, seldom a single one or a topic.
fn unite() -> impl Strategy<Value = What> {
    let bits = prop_oneof![
        8 => Just(0b00011_u8),
        3 => Just(0b00101),
        2 => Just(0b01001),
        2 => Just(0b00111),
        1 => 0..1_u8 << NAMES,
    ];
    bits.prop_map(What::Unite)
}

/// Reports of one or two resources, which often tell the other names of these.
fn reports() -> impl Strategy<Value = What> {
    let told = prop_oneof![
        6 => Just(0_u8),
        3 => Just(0b00011),
        1 => Just(0b00101),
        1 => Just(0b01000),
        1 => 0..1_u8 << NAMES,
    ];
    let says = (says(), told).prop_map(|(says, equivalents)| Says {
        equivalents,
        ..says
    });
    let replace = prop::bool::weighted(0.5);
    (who(), replace, vec(says, 1..3)).prop_map(|(who, replace, entries)| What::Member {
        who,
        epoch: Which::Present,
        does: Does::Report { replace, entries },
    })
}
