//! The calls of random callers, made before their epochs, sessions and revisions are known.

mod equivalents;
mod looks;
mod objects;
mod says;
mod starts;
mod work;

use proptest::collection::vec;
use proptest::prelude::*;
use synod_model::Walk;

use says::says;

pub(crate) use equivalents::{NAMES, equivalent_steps};
pub(crate) use looks::{By, Look};

/// The aliases that migrations get.
pub(crate) const ALIASES: [&str; 3] = ["mine", "yours", "a.b-c"];

/// One log entry.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// How far log time moves. Below zero, the leader stamps an older time than the last.
    pub(crate) after_ms: i64,
    pub(crate) lift: bool,
    /// The members that renew first, or join again: one bit for each.
    pub(crate) renewals: u8,
    /// Whether every voter that is behind adopts the selection then.
    pub(crate) adopts: bool,
    /// What is done to the unended migration that was changed last.
    pub(crate) work: Option<Work>,
    pub(crate) calls: Vec<Call>,
    /// Whether the calls arrive in the opposite order.
    pub(crate) reversed: bool,
}

/// One command.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) what: What,
    pub(crate) as_request: Option<As>,
}

/// The exactly-once key of a call.
#[derive(Clone, Debug)]
pub(crate) enum As {
    /// The next request of a session, with this many before it unanswered.
    Next { session: usize, unanswered: u64 },
    /// A repetition of an earlier request.
    Again(usize),
    /// Of a session that was never opened.
    OfNoSession,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Initialize,
    /// A backup is restored as the cluster with this id.
    Restore(u8),
    Announce {
        replica: u64,
        machine_version: u32,
    },
    Raise(u32),
    OpenSession,
    CloseSession(usize),
    Join {
        who: usize,
        instance: usize,
        ttl: usize,
        release: usize,
        lost: Option<Which>,
    },
    Member {
        who: usize,
        epoch: Which,
        does: Does,
    },
    /// A statement that a member made this many statements ago arrives late, or once more.
    Late(usize),
    Expire(Named),
    Forget {
        resource: usize,
        expects: Option<bool>,
    },
    Keeps(Keeps),
    Start {
        resource: usize,
        rewrite_all: bool,
        alias: Option<usize>,
    },
    /// An action on one of the newest migrations, under the present claim or another token.
    Migration {
        which: usize,
        claim: Which,
        does: Work,
    },
    Observe(Look),
    Roster(Roll),
    Reset(Option<usize>),
    /// An operator says that resources are one store: one bit for each.
    Unite(u8),
    /// An operator takes a name out of a store with several.
    Part(usize),
    Settings {
        setting: Setting,
        expects: Option<bool>,
    },
}

/// A change of a roster.
#[derive(Clone, Debug)]
pub(crate) struct Roll {
    /// The scope: all resources, one of two groups, or one resource.
    pub(crate) scope: usize,
    /// The rule; `None` deletes the roster.
    pub(crate) rule: Option<Asked>,
    pub(crate) expects: Option<bool>,
}

/// The members that a roster asks for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// One bit for each member.
    pub(crate) members: u8,
    /// Whether it asks for many members that do not exist, more than a status names.
    pub(crate) crowd: bool,
    /// Asks for the members with the label of a release.
    pub(crate) release: Option<usize>,
    pub(crate) least: u32,
}

/// What an expiry names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Named {
    /// Everything past its deadline.
    Due,
    /// Also what is not past its deadline.
    All,
    /// What is past its deadline, with an earlier epoch.
    ByEarlierEpochs,
}

/// A command of a member under an epoch.
#[derive(Clone, Debug)]
pub(crate) enum Does {
    Renew,
    Ready,
    Leave(Leaves),
    Report { replace: bool, entries: Vec<Says> },
    ReportAgain { other_preference: bool },
    Adopt { resource: usize, selection: Which },
}

/// How a member leaves, or is put out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaves {
    Drained,
    Undrained,
    /// In the name of another instance.
    ByAnotherInstance,
    Evicted,
    SaidToHaveStopped,
}

/// What is said of a worker's rewrites.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stops {
    Nothing,
    SomeUnanswered,
    AllAnswered,
}

/// A command on a migration.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Claim {
        ttl: usize,
        fenced: bool,
        walks: Option<Walk>,
    },
    Progress {
        done: u64,
        tells_estimate: bool,
    },
    Complete,
    Fail(usize, Stops),
    Release(Stops),
    Abort,
    /// Whether it names a revision of the migration, and whether that is the right one.
    Delete {
        expects: Option<bool>,
    },
    Retry,
}

/// Which of the epochs or tokens given out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Present,
    Earlier(usize),
    Unheard,
}

/// One entry of a report.
#[derive(Clone, Debug)]
pub(crate) struct Says {
    pub(crate) resource: usize,
    /// One bit for each version.
    pub(crate) decodable: u8,
    pub(crate) served: u8,
    pub(crate) version: usize,
    pub(crate) votes: bool,
    pub(crate) kind: usize,
    pub(crate) outside: bool,
    /// The other names of its store, one bit for each.
    pub(crate) equivalents: u8,
    /// Whether it breaks the rules of a report, which no client of the protocol can do.
    pub(crate) lawless: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Setting {
    HistoryRevisions(u64),
    WriteGrace(u64),
    UnreportedGrace(u64),
    SessionTtl(u64),
    SessionOutcomes(u32),
    SessionsMax(u32),
    MembersMax(u32),
    ReportEntriesMax(u32),
    AgreementsKept(u32),
    MigrationsKept(u32),
    DiscoveryPeriod(u64),
    EnforcePersisted(u8),
}

pub(crate) use objects::{
    Asks, Change, Deed, Expects, KEYS, Keeps, Notes, Rules, Said, object_steps,
};

pub(crate) const MEMBERS: usize = 4;
pub(crate) const RESOURCES: usize = 3;
pub(crate) const VERSIONS: usize = 3;

pub(crate) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(step(what().boxed()), 1..most)
}

/// Steps that make more members missing and more discovery contradict reports than usual.
pub(crate) fn doubtful_steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let leaves = (who(), leaves()).prop_map(|(who, leaves)| What::Member {
        who,
        epoch: Which::Present,
        does: Does::Leave(leaves),
    });
    let what = prop_oneof![
        12 => what(),
        4 => joins_again(),
        4 => looks::observations(1),
        3 => rosters(),
        1 => leaves,
    ];
    vec(step(what.boxed()), 1..most)
}

fn step(what: BoxedStrategy<What>) -> impl Strategy<Value = Step> {
    let after_ms = prop_oneof![
        16 => 0..400_i64,
        8 => 400..3_000_i64,
        4 => 3_000..20_000_i64,
        1 => 60_000..400_000_i64,
        2 => -5_000..0_i64,
    ];
    let lift = prop::bool::weighted(0.05);
    let everybody = (1_u8 << MEMBERS) - 1;
    let renewals = prop_oneof![5 => Just(everybody), 3 => Just(0), 2 => 0..everybody];
    let adopts = prop::bool::weighted(0.2);
    let calls = vec(call(what), 0..5);
    let work = prop::option::weighted(0.5, work::at_work());
    let reversed = prop::bool::weighted(0.1);
    (after_ms, lift, renewals, adopts, work, calls, reversed).prop_map(
        |(after_ms, lift, renewals, adopts, work, calls, reversed)| Step {
            after_ms,
            lift,
            renewals,
            adopts,
            work,
            calls,
            reversed,
        },
    )
}

fn call(what: BoxedStrategy<What>) -> impl Strategy<Value = Call> {
    (what, as_request()).prop_map(|(what, as_request)| Call { what, as_request })
}

fn as_request() -> impl Strategy<Value = Option<As>> {
    let next = (0..3_usize, 0..4_u64);
    let next = next.prop_map(|(session, unanswered)| As::Next {
        session,
        unanswered,
    });
    prop_oneof![
        12 => Just(None),
        6 => next.prop_map(Some),
        2 => (0..40_usize).prop_map(|which| Some(As::Again(which))),
        1 => Just(Some(As::OfNoSession)),
    ]
}

fn what() -> impl Strategy<Value = What> {
    let member = (who(), which(), does());
    let member = member.prop_map(|(who, epoch, does)| What::Member { who, epoch, does });
    let announce = (1..4_u64, 0..2_u32).prop_map(|(replica, machine_version)| What::Announce {
        replica,
        machine_version,
    });
    prop_oneof![
        60 => member,
        16 => joins(),
        5 => (0..6_usize).prop_map(What::Late),
        8 => named().prop_map(What::Expire),
        4 => forgets(),
        3 => Just(What::OpenSession),
        1 => (0..3_usize).prop_map(What::CloseSession),
        5 => settings(),
        20 => work::work(),
        2 => starts::start(),
        14 => looks::observations(12),
        1 => rosters(),
        1 => prop::option::of(0..RESOURCES).prop_map(What::Reset),
        1 => announce,
        1 => (0..3_u32).prop_map(What::Raise),
        1 => beginnings(),
    ]
}

/// A restore is the rarest: its drains are the longest, and tests of what waits for their end must not become rare.
fn beginnings() -> impl Strategy<Value = What> {
    prop_oneof![
        5 => Just(What::Initialize),
        1 => restores(),
    ]
}

/// Usually another cluster id than the present one.
fn restores() -> impl Strategy<Value = What> {
    (7..11_u8).prop_map(What::Restore)
}

fn leaves() -> impl Strategy<Value = Leaves> {
    prop_oneof![
        8 => Just(Leaves::Drained),
        6 => Just(Leaves::Undrained),
        1 => Just(Leaves::ByAnotherInstance),
        3 => Just(Leaves::Evicted),
        3 => Just(Leaves::SaidToHaveStopped),
    ]
}

/// Usually rosters that are soon satisfied or removed: while a member is missing, little happens.
fn rosters() -> impl Strategy<Value = What> {
    let members =
        prop_oneof![4 => Just(0_u8), 3 => (0..MEMBERS).prop_map(|who| 1 << who), 1 => 0..16_u8];
    let release = prop::option::weighted(0.6, 0..2_usize);
    let crowd = prop::bool::weighted(0.05);
    let least = prop_oneof![3 => 0..2_u32, 1 => 2..4_u32];
    let asked = (members, crowd, release, least);
    let asked = asked.prop_map(|(members, crowd, release, least)| Asked {
        members,
        crowd,
        release,
        least,
    });
    let rule = prop_oneof![1 => asked.prop_map(Some), 1 => Just(None)];
    let expects = prop_oneof![4 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let scope = 0..3 + RESOURCES;
    (scope, rule, expects).prop_map(|(scope, rule, expects)| {
        What::Roster(Roll {
            scope,
            rule,
            expects,
        })
    })
}

fn named() -> impl Strategy<Value = Named> {
    prop_oneof![
        4 => Just(Named::Due),
        2 => Just(Named::All),
        1 => Just(Named::ByEarlierEpochs),
    ]
}

fn does() -> impl Strategy<Value = Does> {
    let adopt = (0..RESOURCES, which()).prop_map(|(resource, selection)| Does::Adopt {
        resource,
        selection,
    });
    prop_oneof![
        20 => reports(),
        10 => any::<bool>().prop_map(|other_preference| Does::ReportAgain { other_preference }),
        10 => adopt,
        3 => Just(Does::Renew),
        2 => Just(Does::Ready),
        3 => leaves().prop_map(Does::Leave),
    ]
}

fn joins() -> impl Strategy<Value = What> {
    let lost = prop_oneof![4 => Just(None), 1 => which().prop_map(Some)];
    (who(), 0..3_usize, 0..3_usize, 0..2_usize, lost).prop_map(
        |(who, instance, ttl, release, lost)| What::Join {
            who,
            instance,
            ttl,
            release,
            lost,
        },
    )
}

/// A join of the first process of a member, perhaps with other labels than before.
fn joins_again() -> impl Strategy<Value = What> {
    let join = (who(), 0..3_usize, 0..2_usize);
    join.prop_map(|(who, ttl, release)| What::Join {
        who,
        instance: 0,
        ttl,
        release,
        lost: None,
    })
}

fn reports() -> impl Strategy<Value = Does> {
    let replace = prop::bool::weighted(0.3);
    (replace, vec(says(), 0..4)).prop_map(|(replace, entries)| Does::Report { replace, entries })
}

fn settings() -> impl Strategy<Value = What> {
    let setting = prop_oneof![
        2 => (1..40_u64).prop_map(Setting::HistoryRevisions),
        1 => (1_000..100_000_u64).prop_map(Setting::WriteGrace),
        4 => (1_000..20_000_u64).prop_map(Setting::UnreportedGrace),
        1 => (1_000..400_000_u64).prop_map(Setting::SessionTtl),
        1 => (1..6_u32).prop_map(Setting::SessionOutcomes),
        1 => (1..4_u32).prop_map(Setting::SessionsMax),
        1 => (1..5_u32).prop_map(Setting::MembersMax),
        1 => (1..3_u32).prop_map(Setting::ReportEntriesMax),
        1 => (1..5_u32).prop_map(Setting::AgreementsKept),
        1 => (1..4_u32).prop_map(Setting::MigrationsKept),
        1 => (1_000..9_000_u64).prop_map(Setting::DiscoveryPeriod),
        1 => (0..(1_u8 << RESOURCES)).prop_map(Setting::EnforcePersisted),
        4 => Just(Setting::EnforcePersisted((1 << RESOURCES) - 1)),
    ];
    let expects = prop_oneof![2 => Just(None), 1 => any::<bool>().prop_map(Some)];
    (setting, expects).prop_map(|(setting, expects)| What::Settings { setting, expects })
}

/// Usually without a precondition, because otherwise few resources are forgotten.
fn forgets() -> impl Strategy<Value = What> {
    const KINDS: usize = 6;
    (0..RESOURCES * KINDS).prop_map(|drawn| What::Forget {
        resource: drawn / KINDS,
        expects: match drawn % KINDS {
            0 => Some(true),
            1 => Some(false),
            _ => None,
        },
    })
}

fn who() -> impl Strategy<Value = usize> {
    0..MEMBERS
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        17 => Just(Which::Present),
        2 => (0..3_usize).prop_map(Which::Earlier),
        1 => Just(Which::Unheard),
    ]
}
