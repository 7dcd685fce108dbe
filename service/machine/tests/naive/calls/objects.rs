//! The calls on collections and objects.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    Call, Does, Leaves, Named, Step, What, Which, as_request, does, joins, restores, which, who,
};

/// A call on a collection or an object.
#[derive(Clone, Debug)]
pub(crate) enum Keeps {
    Declare {
        resource: usize,
        rules: Rules,
    },
    Rules {
        resource: usize,
        strict: Option<bool>,
        status: Option<bool>,
        /// Which of two kinds it is to have from now on.
        kind: Option<bool>,
        expects: Expects,
    },
    Remove {
        resource: usize,
        expects: Expects,
    },
    Object(Deed),
    /// Fenced by a member's epoch.
    Fenced(Deed, usize, Which),
    Transact {
        compares: Vec<Asks>,
        deeds: Vec<Deed>,
    },
    Collect,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) strict: bool,
    pub(crate) creates: bool,
    pub(crate) unconditional: bool,
    pub(crate) status: bool,
}

/// The object that a change was made for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expects {
    Any,
    ThePresent,
    AnOlder,
    Another,
}

/// A comparison of a transaction: of a key, or of the selection of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asks {
    Version(usize, bool),
    Exists(usize),
    Absent(usize),
    Selected(usize, Option<usize>),
}

/// A change of one object.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub(crate) key: usize,
    /// On the next key, this one included, that can be created, changed or is being deleted, as the change needs.
    pub(crate) apt: bool,
    pub(crate) expects: Expects,
    pub(crate) what: Change,
}

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Create(Said),
    /// With a change of the TTL beside it.
    Update(Said, Option<Option<usize>>),
    /// Replaces the present object by itself, with other finalizers.
    Finalize(u8),
    Patch {
        by_operations: bool,
        number: u8,
        version: Option<usize>,
        says: Option<Notes>,
        ttl: Option<Option<usize>>,
    },
    /// Patches only the metadata of an object.
    Say(Notes),
    Delete(usize),
    /// Deletes an object again that is being deleted and still has dependents.
    DeleteAgain(usize),
}

/// A patch of an object's metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notes {
    /// Sets one label and removes another one, or removes all.
    Labels(Option<u8>),
    /// These, by their bits; if the object is being deleted, those of them that it has.
    Finalizers(u8),
    NoOwners,
    /// Tests a label and removes it.
    Tests(u8),
    /// Its own name, or another one.
    Name(bool),
    /// Its present version, or an older one.
    Version(bool),
}

/// An object as a caller writes it.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) version: usize,
    pub(crate) number: u8,
    pub(crate) labels: u8,
    /// One bit for each key.
    pub(crate) owners: u8,
    /// Whether owners may be named that do not exist.
    pub(crate) ghosts: bool,
    /// Whether the uid of one owner is given with the name of another.
    pub(crate) misnames: bool,
    pub(crate) finalizers: u8,
    pub(crate) ttl: Option<usize>,
}

pub(crate) const KEYS: usize = 6;

pub(crate) fn object_steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(object_step(), 1..most)
}

fn object_step() -> impl Strategy<Value = Step> {
    let after_ms = prop_oneof![8 => 0..400_i64, 2 => 400..3_000_i64, 1 => 3_000..20_000_i64];
    let adopts = prop::bool::weighted(0.5);
    let keeps = keeps().prop_map(What::Keeps);
    let keeps = (keeps, as_request());
    let keeps = keeps.prop_map(|(what, as_request)| Call { what, as_request });
    let member = (who(), which(), does());
    let member = member.prop_map(|(who, epoch, does)| What::Member { who, epoch, does });
    let leaves = who().prop_map(|who| What::Member {
        who,
        epoch: Which::Present,
        does: Does::Leave(Leaves::Undrained),
    });
    let expire = prop_oneof![Just(Named::Due), Just(Named::All)].prop_map(What::Expire);
    let others = prop_oneof![
        8 => member,
        2 => leaves,
        2 => joins(),
        8 => expire,
        1 => restores(),
    ];
    let others = others.prop_map(|what| Call {
        what,
        as_request: None,
    });
    let calls = vec(prop_oneof![7 => keeps, 1 => others], 1..5);
    let work = prop::option::weighted(0.3, super::work::at_work());
    let step = (after_ms, adopts, work, calls);
    step.prop_map(|(after_ms, adopts, work, calls)| Step {
        after_ms,
        lift: false,
        renewals: u8::MAX,
        adopts,
        work,
        calls,
        reversed: false,
    })
}

fn keeps() -> impl Strategy<Value = Keeps> {
    let resource = || 0..2_usize;
    let (seldom, often) = (prop::bool::weighted(0.2), prop::bool::weighted(0.8));
    let rules = (any::<bool>(), any::<bool>(), often, seldom);
    let rules = rules.prop_map(|(strict, creates, unconditional, status)| Rules {
        strict,
        creates,
        unconditional,
        status,
    });
    let status = prop::option::weighted(0.5, prop::bool::weighted(0.8));
    let kind = prop::option::weighted(0.3, any::<bool>());
    let change = (resource(), any::<Option<bool>>(), status, kind, expects());
    let change = change.prop_map(|(resource, strict, status, kind, expects)| Keeps::Rules {
        resource,
        strict,
        status,
        kind,
        expects,
    });
    let remove = (resource(), expects());
    let fenced = (deed(), who(), which());
    let transact = (vec(asks(), 0..3), vec(deed(), 1..4));
    prop_oneof![
        24 => deed().prop_map(Keeps::Object),
        2 => fenced.prop_map(|(deed, who, epoch)| Keeps::Fenced(deed, who, epoch)),
        6 => transact.prop_map(|(compares, deeds)| Keeps::Transact { compares, deeds }),
        4 => (resource(), rules).prop_map(|(resource, rules)| Keeps::Declare { resource, rules }),
        2 => change,
        1 => remove.prop_map(|(resource, expects)| Keeps::Remove { resource, expects }),
        1 => Just(Keeps::Collect),
    ]
}

fn asks() -> impl Strategy<Value = Asks> {
    prop_oneof![
        (key(), prop::bool::weighted(0.8)).prop_map(|(key, right)| Asks::Version(key, right)),
        key().prop_map(Asks::Exists),
        key().prop_map(Asks::Absent),
        (0..2_usize, prop::option::of(0..3_usize))
            .prop_map(|(resource, version)| Asks::Selected(resource, version)),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    let patch = (
        any::<bool>(),
        0..3_u8,
        prop::option::of(0..3_usize),
        prop::option::weighted(0.3, says()),
        new_ttl(),
    );
    let patch = patch.prop_map(
        |(by_operations, number, version, says, ttl)| Change::Patch {
            by_operations,
            number,
            version,
            says,
            ttl,
        },
    );
    let what = prop_oneof![
        6 => said().prop_map(Change::Create),
        5 => (said(), new_ttl()).prop_map(|(said, ttl)| Change::Update(said, ttl)),
        3 => (0..16_u8).prop_map(Change::Finalize),
        3 => patch,
        2 => says().prop_map(Change::Say),
        5 => (0..4_usize).prop_map(Change::Delete),
        3 => (0..4_usize).prop_map(Change::DeleteAgain),
    ];
    let what = what.boxed();
    let apt = prop::bool::weighted(0.7);
    (key(), apt, expects(), what).prop_map(|(key, apt, expects, what)| Deed {
        key,
        apt,
        expects,
        what,
    })
}

fn said() -> impl Strategy<Value = Said> {
    let owners =
        prop_oneof![1 => Just(0_u8), 2 => (0..KEYS).prop_map(|key| 1 << key), 2 => 0..64_u8];
    let finalizers = prop_oneof![2 => Just(0_u8), 1 => 0..16_u8];
    let ttl = prop_oneof![3 => Just(None), 1 => (0..3_usize).prop_map(Some)];
    let version = prop_oneof![3 => Just(0_usize), 1 => 0..3_usize];
    let ghosts = prop::bool::weighted(0.1);
    (version, 0..3_u8, 0..8_u8, (owners, ghosts), finalizers, ttl).prop_map(
        |(version, number, labels, (owners, ghosts), finalizers, ttl)| Said {
            version,
            number,
            labels,
            owners,
            ghosts,
            misnames: ghosts && number == 2,
            finalizers,
            ttl,
        },
    )
}

/// Boxed, because unions of unions are too large for the stack.
fn says() -> BoxedStrategy<Notes> {
    let says = prop_oneof![
        2 => prop::option::of(0..2_u8).prop_map(Notes::Labels),
        2 => (0..16_u8).prop_map(Notes::Finalizers),
        1 => Just(Notes::NoOwners),
        1 => (0..2_u8).prop_map(Notes::Tests),
        1 => any::<bool>().prop_map(Notes::Name),
        1 => any::<bool>().prop_map(Notes::Version),
    ];
    says.boxed()
}

/// A change of the TTL: none, its removal, or another one.
fn new_ttl() -> BoxedStrategy<Option<Option<usize>>> {
    let ttl = prop_oneof![
        3 => Just(None),
        1 => Just(Some(None)),
        1 => (0..3_usize).prop_map(|ttl| Some(Some(ttl))),
    ];
    ttl.boxed()
}

fn expects() -> impl Strategy<Value = Expects> {
    prop_oneof![
        6 => Just(Expects::Any),
        3 => Just(Expects::ThePresent),
        1 => Just(Expects::AnOlder),
        1 => Just(Expects::Another),
    ]
}

fn key() -> impl Strategy<Value = usize> {
    0..KEYS
}
