//! The observations of discovery that random callers post.

use proptest::prelude::*;

use super::{RESOURCES, What};

/// A look at a resource, or the dismissal of one.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) resource: usize,
    /// One bit for each hash; none: what the members report.
    pub(crate) hashes: u8,
    pub(crate) tells_kind: bool,
    /// Whether it names a revision of the storage state, and whether that is the right one.
    pub(crate) expects: Option<bool>,
    pub(crate) by: By,
}

/// Whoever looks, or dismisses what others have seen.
#[derive(Clone, Debug)]
pub(crate) enum By {
    /// An observer without a name.
    Nobody,
    /// One of the observers, which reaches one of the servers, or both. The first shows the hashes, the second what members report.
    Observer {
        observer: usize,
        reached: u8,
        /// Whether it says which members the servers are.
        names: bool,
        /// Whether the first server does not show the resource.
        is_bare: bool,
    },
    /// An operator dismisses the looks of an observer, or of all, at a server, or at all.
    Dismissed {
        observer: Option<usize>,
        server: Option<usize>,
    },
}

/// `unreported` weighs the resource that few report; of others, usually what their members report.
pub(super) fn observations(unreported: u32) -> impl Strategy<Value = What> {
    let hashes = prop_oneof![8 => Just(1_u8), 6 => Just(2), 2 => 1..8_u8, 1 => Just(0)];
    let last = (Just(RESOURCES - 1), hashes);
    let hashes = prop_oneof![3 => Just(0_u8), 1 => 1..8_u8];
    let reported = (0..RESOURCES, hashes);
    let look = prop_oneof![unreported => last, 1 => reported];
    let expects = prop_oneof![6 => Just(None), 3 => Just(Some(true)), 1 => Just(Some(false))];
    (look, any::<bool>(), expects, by()).prop_map(
        |((resource, hashes), tells_kind, expects, by)| {
            What::Observe(Look {
                resource,
                hashes,
                tells_kind,
                expects,
                by,
            })
        },
    )
}

fn by() -> impl Strategy<Value = By> {
    let is_bare = prop_oneof![5 => Just(false), 1 => Just(true)];
    let observer = (0..2_usize, 1..4_u8, any::<bool>(), is_bare);
    let observer = observer.prop_map(|(observer, reached, names, is_bare)| By::Observer {
        observer,
        reached,
        names,
        is_bare,
    });
    let dismissed = (prop::option::of(0..2_usize), prop::option::of(0..2_usize));
    let dismissed = dismissed.prop_map(|(observer, server)| By::Dismissed { observer, server });
    prop_oneof![8 => Just(By::Nobody), 5 => observer, 1 => dismissed]
}
