//! Families of random schedules, each about one topic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;

use crate::draws::{
    CLAIM_TTL, DAY_AND_GRACE, Draw, LONG_TTL, MEMBERS, TTL, absences, claims, claims_of,
    departures, draw_always, draw_both, draw_one, evictions, first_joins, forgets_at_rest,
    hidden_spans, lands, looks, member, operator_draws, partial_looks, passes, passes_long,
    preamble, reencodes, restores, rollbacks, rollbacks_after, rosters, server_draws, starts,
    starts_both, strangers, turns, worker_draws, writes,
};
use crate::schedule::{
    Action, Binary, DECODES_OTHER_GROUP, ENCODES_1, ENCODES_2, GADGETS_1, OF_OTHER_GROUP, ONLY_1,
    PREFERS_1, PREFERS_2, ResourceName, Roster, UNGATED_1, UNGATED_2,
};
use crate::truth::ABSENCE_GRACE;
use crate::world::Setup;

/// A random schedule and the world that it begins in.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) family: &'static str,
    pub(crate) setup: Setup,
    pub(crate) schedule: Vec<Action>,
}

/// A family of schedules.
pub(crate) struct Family {
    name: &'static str,
    setup: Setup,
    /// The releases of the servers that may run at the beginning; empty: none runs.
    binaries: &'static [Binary],
    draws: Vec<Draw>,
}

/// The fewest and the most draws of a schedule.
const DRAWS: std::ops::RangeInclusive<usize> = 6..=30;

const TTLS: [u64; 3] = [TTL, TTL, LONG_TTL];
const CLAIM_TTLS: [u64; 2] = [CLAIM_TTL, LONG_TTL];
const NAMED: Option<Roster> = Some(Roster::Named(&MEMBERS));
const ALL_BINARIES: [Binary; 5] = [ONLY_1, ENCODES_1, ENCODES_2, PREFERS_1, PREFERS_2];
const MOST_BINARIES: [Binary; 4] = [ENCODES_1, ENCODES_2, PREFERS_1, PREFERS_2];
const FIXED: [Binary; 2] = [ENCODES_1, ENCODES_2];
const VOTING: [Binary; 2] = [PREFERS_1, PREFERS_2];
const OLD_AND_NEW: [Binary; 3] = [DECODES_OTHER_GROUP, ENCODES_1, ENCODES_2];
const UNGATED: [Binary; 2] = [UNGATED_1, UNGATED_2];

impl Family {
    fn new(name: &'static str, roster: Option<Roster>, draws: Vec<Draw>) -> Self {
        Self {
            name,
            setup: Setup {
                roster,
                ..Setup::default()
            },
            binaries: &FIXED,
            draws,
        }
    }

    fn with_binaries(self, binaries: &'static [Binary]) -> Self {
        Self { binaries, ..self }
    }

    fn with_setup(self, setup: impl FnOnce(&mut Setup)) -> Self {
        let mut family = self;
        setup(&mut family.setup);
        family
    }

    fn logs(self) -> BoxedStrategy<Log> {
        let Self {
            name,
            setup,
            binaries,
            draws,
            ..
        } = self;
        let schedule = vec(Union::new_weighted(draws), DRAWS);
        let log = (preamble(binaries), schedule).prop_map(move |(preamble, schedule)| Log {
            family: name,
            setup: setup.clone(),
            schedule: [vec![preamble], schedule].concat().concat(),
        });
        log.boxed()
    }
}

/// Logs of all families.
pub(crate) fn logs() -> BoxedStrategy<Log> {
    let mut all = plain_families();
    all.extend(families_of_workers());
    all.extend(families_of_strangers());
    all.extend(families_of_stores());
    all.extend(families_of_everything());
    Union::new(all.into_iter().map(Family::logs)).boxed()
}

/// Everything at once.
fn families_of_everything() -> [Family; 2] {
    let draws = || {
        let widgets = ResourceName::Widgets;
        let mut draws = server_draws();
        draws.extend(worker_draws());
        draws.extend(operator_draws());
        draws.extend([
            starts(40, &MOST_BINARIES, &TTLS),
            turns(60, &CLAIM_TTLS, true),
            rollbacks(30, &CLAIM_TTLS, true),
            claims(30, &CLAIM_TTLS, true),
            departures(20),
            restores(3),
            passes_long(5, DAY_AND_GRACE),
            draw_always(5, Action::ReleaseClaim(widgets)),
            evictions(10),
            draw_always(5, Action::Forget(widgets)),
            starts(10, &UNGATED, &[TTL]),
            first_joins(7),
            absences(10, ABSENCE_GRACE),
            hidden_spans(5, ABSENCE_GRACE),
            partial_looks(5),
        ]);
        draws
    };
    [
        Family::new("everything", NAMED, draws()),
        Family::new("everything without a roster", None, draws()),
    ]
}

/// Servers and workers as they are most of the time.
fn plain_families() -> Vec<Family> {
    let common = || {
        let mut draws = server_draws();
        draws.extend(worker_draws());
        draws.extend(operator_draws());
        draws.push(starts(40, &ALL_BINARIES, &TTLS));
        draws.push(starts_both(20, &MOST_BINARIES, TTL));
        draws.push(turns(60, &CLAIM_TTLS, false));
        draws.push(rollbacks(20, &CLAIM_TTLS, false));
        draws.push(departures(30));
        draws.push(claims(30, &CLAIM_TTLS, false));
        draws
    };
    let mut restored = common();
    restored.push(draw_always(5, Action::BackUp));
    restored.push(draw_always(5, Action::Restore));
    restored.push(restores(20));
    restored.push(passes_long(30, DAY_AND_GRACE));
    let mut rostered = common();
    rostered.push(rosters(15));
    vec![
        Family::new("named", NAMED, common()).with_binaries(&MOST_BINARIES),
        Family::new("without a roster", None, common()).with_binaries(&MOST_BINARIES),
        Family::new("rosters that move", NAMED, rostered).with_binaries(&MOST_BINARIES),
        Family::new("restored", NAMED, restored),
    ]
}

/// Servers and workers, and the draws of a family about migrations.
fn migration_draws(own: impl IntoIterator<Item = Draw>) -> Vec<Draw> {
    let mut draws = server_draws();
    draws.extend(worker_draws());
    draws.push(starts(20, &FIXED, &TTLS));
    draws.push(claims(20, &CLAIM_TTLS, false));
    draws.push(rollbacks(30, &CLAIM_TTLS, false));
    draws.extend(own);
    draws
}

fn families_of_workers() -> Vec<Family> {
    let turns = || turns(60, &CLAIM_TTLS, false);
    let fenced = rollbacks(60, &CLAIM_TTLS, true);
    let release = Action::ReleaseClaim(ResourceName::Widgets);
    let releases = rollbacks_after(60, &CLAIM_TTLS, false, &[release]);
    let leaves = draw_both(20, |who| Action::Leave(who, true));
    let forgets = draw_always(20, Action::Forget(ResourceName::Widgets));
    let voters = starts(30, &VOTING, &[TTL, LONG_TTL]);
    let both_voters = starts_both(20, &VOTING, LONG_TTL);
    let raises = draw_always(10, Action::Raise);
    vec![
        Family::new("late rewrites", NAMED, migration_draws([turns()])),
        Family::new("fenced", NAMED, migration_draws([fenced])),
        Family::new("released", NAMED, migration_draws([turns(), releases])),
        Family::new(
            "forgotten",
            None,
            migration_draws([turns(), leaves, forgets, forgets_at_rest(30)]),
        ),
        Family::new("raised", NAMED, migration_draws([turns(), raises]))
            .with_setup(|setup| setup.is_before_raise = true),
        Family::new(
            "evicted",
            None,
            migration_draws([turns(), evictions(30), voters, both_voters]),
        )
        .with_binaries(&MOST_BINARIES),
        Family::new("misspelled", NAMED, migration_draws([turns()])),
    ]
}

/// Servers that write without a gate, and the draws of a family about them.
fn stranger_draws(own: impl IntoIterator<Item = Draw>) -> Vec<Draw> {
    let mut draws = vec![
        passes(40),
        writes(20),
        lands(30),
        draw_always(20, Action::Expire),
    ];
    draws.extend(worker_draws());
    draws.push(starts(20, &FIXED, &[TTL]));
    draws.push(turns(40, &CLAIM_TTLS, false));
    draws.extend(own);
    draws
}

fn families_of_strangers() -> Vec<Family> {
    let ungated = |weight| {
        draw_one(
            weight,
            member().prop_map(|who| Action::StartUngated(who, 1)),
        )
    };
    let long = || passes_long(30, ABSENCE_GRACE);
    let absent = [absences(30, ABSENCE_GRACE), long(), ungated(10)];
    let hidden = [hidden_spans(30, ABSENCE_GRACE), long(), ungated(10)];
    let kubernetes = [
        starts(40, &UNGATED, &[TTL]),
        starts_both(20, &UNGATED, TTL),
        reencodes(20),
    ];
    let loose = Some(Roster::AtLeast(1));
    vec![
        Family::new(
            "strangers",
            None,
            stranger_draws([strangers(20), first_joins(10)]),
        ),
        Family::new("observed", None, stranger_draws([strangers(20), looks(40)])),
        Family::new(
            "partly observed",
            None,
            stranger_draws([
                strangers(40),
                partial_looks(60),
                draw_always(5, Action::Dismiss(ResourceName::Widgets)),
            ]),
        ),
        Family::new("unheard", NAMED, stranger_draws([first_joins(30)])).with_binaries(&[]),
        Family::new("absent", NAMED, stranger_draws(absent)),
        Family::new("hidden", NAMED, stranger_draws(hidden)),
        Family::new("ungated", NAMED, stranger_draws(kubernetes)).with_binaries(&UNGATED),
        Family::new("loose roster", loose, stranger_draws([strangers(20)])),
    ]
}

fn families_of_stores() -> Vec<Family> {
    let declares = draw_always(10, Action::Declare(ResourceName::Widgets));
    let both = vec![ResourceName::Widgets, ResourceName::Gadgets];
    let shared = [
        starts(30, &[GADGETS_1], &[TTL]),
        claims_of(60, both, &[CLAIM_TTL], false),
    ];
    let snapshots = [
        turns(50, &CLAIM_TTLS, false),
        draw_always(20, Action::Snapshot(OF_OTHER_GROUP)),
    ];
    let turns = turns(50, &CLAIM_TTLS, false);
    vec![
        Family::new("snapshots", NAMED, migration_draws(snapshots)).with_binaries(&OLD_AND_NEW),
        Family::new("declared", NAMED, migration_draws([turns, declares])),
        Family::new("one store", None, migration_draws(shared))
            .with_setup(|setup| setup.is_one_store = true),
    ]
}
