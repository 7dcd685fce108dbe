//! Directed schedules. Each leads to an untrue answer if a rule is missing.

use crate::abilities::Ability;
use crate::draws::{CLAIM_TTL, LONG_TTL, MEMBERS, TTL};
use crate::machine::WRITE_GRACE;
use crate::schedule::{
    Action, Binary, ClaimTerms, ENCODES_1, ENCODES_2, GADGETS_1, PREFERS_1, PREFERS_2,
    ResourceName, Roster, Server, UNGATED_1, UNGATED_2, Version, WorkerName,
};
use crate::truth::ABSENCE_GRACE;
use crate::world::Setup;

use Action::{
    Adopt, Claim, Crash, Cut, CutWorker, Evict, Expire, Finish, Land, LandRewrite, Learn, Leave,
    Look, Pass, Raise, Reencode, Rewrite, Run, StartUngated, Write,
};

/// A schedule with a name.
pub(crate) struct DirectedSchedule {
    pub(crate) name: &'static str,
    pub(crate) setup: Setup,
    /// The abilities that it needs.
    pub(crate) about: &'static [Ability],
    pub(crate) schedule: Vec<Action>,
}

impl DirectedSchedule {
    /// A schedule in a world with a roster that names both members.
    fn new(
        name: &'static str,
        about: &'static [Ability],
        parts: impl IntoIterator<Item = Vec<Action>>,
    ) -> Self {
        let roster = Some(Roster::Named(&MEMBERS));
        Self {
            name,
            setup: Setup {
                roster,
                ..Setup::default()
            },
            about,
            schedule: parts.into_iter().flatten().collect(),
        }
    }

    fn with_roster(mut self, roster: Option<Roster>) -> Self {
        self.setup.roster = roster;
        self
    }

    fn before_raise(mut self) -> Self {
        self.setup.is_before_raise = true;
        self
    }

    fn in_one_store(mut self) -> Self {
        self.setup.is_one_store = true;
        self
    }
}

/// Every directed schedule.
pub(crate) fn all() -> Vec<DirectedSchedule> {
    let mut all = of_rewrites();
    all.extend(of_ended_claims());
    all.extend(of_upgrades());
    all.extend(of_voters());
    all.extend(of_absences());
    all.extend(of_ungated_members());
    all.extend(of_observers());
    all.extend(of_stores());
    all
}

const REWRITES: &[Ability] = &[Ability::LateRewrites];

fn start(server: Server, binary: Binary) -> Action {
    start_for(server, binary, TTL)
}

fn start_for(server: Server, binary: Binary, ttl: u64) -> Action {
    Action::Start(server, binary, ttl)
}

fn start_both(binary: Binary) -> Vec<Action> {
    MEMBERS.map(|server| start(server, binary)).to_vec()
}

fn reencode_both(version: Version) -> Vec<Action> {
    MEMBERS.map(|server| Reencode(server, version)).to_vec()
}

fn claim(worker: WorkerName, ttl: u64) -> Action {
    claim_widgets(worker, ttl, false)
}

fn claim_widgets(worker: WorkerName, ttl: u64, is_fenced: bool) -> Action {
    Claim(worker, ResourceName::Widgets, ClaimTerms { ttl, is_fenced })
}

fn migrate(worker: WorkerName) -> Vec<Action> {
    vec![claim(worker, CLAIM_TTL), Run(worker)]
}

/// Both members run this binary, and everything is in its version.
fn settle(binary: Binary) -> Vec<Action> {
    let mut settled = start_both(binary);
    settled.push(Pass(WRITE_GRACE));
    settled.extend(migrate("w"));
    settled
}

/// A worker is cut off after its first rewrite to version 2 was sent, with this much of its claim left.
fn strand_worker(ttl: u64) -> Vec<Action> {
    let mut stranded = reencode_both(2);
    stranded.extend([claim("w", ttl), Rewrite("w"), CutWorker("w")]);
    stranded
}

/// The members return to version 1, and another worker migrates back.
fn roll_back() -> Vec<Action> {
    let mut rolled_back = reencode_both(1);
    rolled_back.extend(migrate("x"));
    rolled_back.push(LandRewrite("w"));
    rolled_back
}

fn of_rewrites() -> Vec<DirectedSchedule> {
    let settled = || settle(ENCODES_1);
    vec![
        DirectedSchedule::new(
            "a rewrite lands after the servers rolled back and another worker migrated back",
            REWRITES,
            [settled(), strand_worker(CLAIM_TTL), roll_back()],
        ),
        DirectedSchedule::new(
            "a worker that is cut off goes on until its claim's deadline",
            REWRITES,
            [
                settled(),
                strand_worker(LONG_TTL),
                vec![LandRewrite("w")],
                reencode_both(1),
                vec![Pass(WRITE_GRACE)],
                migrate("x"),
                vec![Finish("w"), Rewrite("w"), LandRewrite("w")],
            ],
        ),
        DirectedSchedule::new(
            "the claim expires before the servers roll back",
            REWRITES,
            [
                settled(),
                reencode_both(2),
                vec![claim("w", CLAIM_TTL), CutWorker("w"), Pass(CLAIM_TTL - 1)],
                vec![Rewrite("w"), Pass(1), Expire],
                roll_back(),
            ],
        ),
        DirectedSchedule::new(
            "the agreement returns while the rewrite is on its way",
            REWRITES,
            [
                settled(),
                strand_worker(CLAIM_TTL),
                vec![Pass(CLAIM_TTL + 1), Expire],
                roll_back(),
            ],
        ),
        DirectedSchedule::new(
            "a fenced claim waits for a rewrite that compares no fence",
            &[Ability::FencedWorkers, Ability::LateRewrites],
            [
                settled(),
                strand_worker(LONG_TTL),
                reencode_both(1),
                vec![claim_widgets("x", CLAIM_TTL, true), Run("x")],
                vec![LandRewrite("w"), Pass(LONG_TTL + WRITE_GRACE)],
            ],
        ),
    ]
}

/// The ways in which a claim ends while its worker is cut off, or has just given up.
fn of_ended_claims() -> Vec<DirectedSchedule> {
    let widgets = ResourceName::Widgets;
    let ended_by = |name, about, action| {
        let parts = [
            settle(ENCODES_1),
            strand_worker(LONG_TTL),
            vec![action],
            reencode_both(1),
            vec![Pass(WRITE_GRACE)],
            migrate("x"),
        ];
        DirectedSchedule::new(name, about, parts)
    };
    let given_up = |name, action| {
        let parts = [
            settle(ENCODES_1),
            reencode_both(2),
            vec![claim("w", CLAIM_TTL), Rewrite("w"), Pass(1), action],
            roll_back(),
        ];
        DirectedSchedule::new(name, REWRITES, parts)
    };
    let leave_both = MEMBERS.map(|server| Leave(server, true)).to_vec();
    let forgets = vec![Action::Forget(widgets)];
    vec![
        ended_by("an operator aborts", REWRITES, Action::Abort(widgets)),
        ended_by("an operator deletes", REWRITES, Action::Delete(widgets)),
        ended_by("an operator resets", REWRITES, Action::Reset(widgets)),
        ended_by(
            "an operator releases the claim of a worker that goes on",
            &[Ability::ForeignReleases, Ability::LateRewrites],
            Action::ReleaseClaim(widgets),
        ),
        given_up("a worker fails", Action::Fail("w")),
        given_up("a worker gives its claim back", Action::GiveBack("w")),
        DirectedSchedule::new(
            "an operator deletes the state while a worker goes on",
            &[Ability::ForgottenStates, Ability::LateRewrites],
            [
                settle(ENCODES_1),
                strand_worker(LONG_TTL),
                leave_both,
                forgets,
                start_both(ENCODES_1),
                vec![Pass(WRITE_GRACE)],
                migrate("x"),
            ],
        )
        .with_roster(None),
    ]
}

fn of_upgrades() -> Vec<DirectedSchedule> {
    const RAISES: &[Ability] = &[Ability::Raises, Ability::LateRewrites];
    let claimed_before = DirectedSchedule::new(
        "a claim ended before the raise, and its worker goes on",
        RAISES,
        [
            settle(ENCODES_1),
            strand_worker(LONG_TTL),
            reencode_both(1),
            vec![Raise, Pass(WRITE_GRACE)],
            migrate("x"),
        ],
    );
    let concluded_before = DirectedSchedule::new(
        "an answer of the older version was untrue, and stays so",
        RAISES,
        [
            settle(ENCODES_1),
            strand_worker(CLAIM_TTL),
            roll_back(),
            vec![Pass(20), Raise, Pass(60 * 60 * 24 + WRITE_GRACE)],
        ],
    );
    vec![
        claimed_before.before_raise(),
        concluded_before.before_raise(),
    ]
}

fn of_voters() -> Vec<DirectedSchedule> {
    let settled = || {
        vec![
            start("a", PREFERS_2),
            start_for("b", PREFERS_2, LONG_TTL),
            Pass(WRITE_GRACE),
            claim("w", CLAIM_TTL),
            Run("w"),
            Cut("b"),
        ]
    };
    let migrated_again = || {
        let mut again = vec![Adopt("a"), Adopt("b"), Pass(2 * WRITE_GRACE)];
        again.extend(migrate("w"));
        again
    };
    vec![
        DirectedSchedule::new(
            "an evicted voter learns of a later selection",
            &[Ability::Evictions],
            [
                settled(),
                vec![Evict("b"), start("a", PREFERS_1), Pass(WRITE_GRACE)],
                vec![Learn("b"), start("a", PREFERS_2)],
                migrated_again(),
            ],
        )
        .with_roster(None),
        DirectedSchedule::new(
            "an evicted server goes on until its membership can no longer be proved",
            &[Ability::Evictions],
            [
                vec![start("a", ENCODES_1), start_for("b", ENCODES_1, LONG_TTL)],
                vec![
                    Pass(1),
                    Cut("b"),
                    Evict("b"),
                    Reencode("a", 2),
                    Pass(WRITE_GRACE),
                ],
                migrate("w"),
            ],
        )
        .with_roster(None),
        DirectedSchedule::new(
            "a replaced voter learns of a later selection",
            &[],
            [
                settled(),
                vec![start("b", PREFERS_1), start("a", PREFERS_1)],
                vec![Learn("b"), start("a", PREFERS_2), start("b", PREFERS_2)],
                migrated_again(),
            ],
        ),
    ]
}

fn of_absences() -> Vec<DirectedSchedule> {
    let gone = || vec![Crash("b"), Pass(TTL), Expire];
    let settled_for = |ttl| {
        let mut settled = MEMBERS.map(|it| start_for(it, ENCODES_2, ttl)).to_vec();
        settled.push(Pass(WRITE_GRACE));
        settled.extend(migrate("w"));
        settled
    };
    vec![
        DirectedSchedule::new(
            "a member returns from a long absence with a write on its way",
            &[Ability::AbsentServers],
            [
                settle(ENCODES_2),
                gone(),
                vec![Pass(ABSENCE_GRACE + 2), StartUngated("b", 1), Write("b", 0)],
                vec![start("b", ENCODES_2)],
                migrate("w"),
                vec![Land("b")],
            ],
        ),
        DirectedSchedule::new(
            "a migration completes soon after a short absence",
            &[Ability::AbsentServers],
            [
                settle(ENCODES_2),
                gone(),
                vec![StartUngated("b", 1), Write("b", 0), Pass(1)],
                vec![start("b", ENCODES_2)],
                reencode_both(1),
                vec![Pass(WRITE_GRACE - 2)],
                reencode_both(2),
                migrate("w"),
                vec![Land("b")],
            ],
        ),
        DirectedSchedule::new(
            "a membership hides a long span without a gate",
            &[Ability::HiddenSpans],
            [
                settled_for(2 * ABSENCE_GRACE),
                vec![StartUngated("b", 1), Pass(ABSENCE_GRACE + 2)],
                vec![Write("b", 0), Land("b"), start("b", ENCODES_2)],
            ],
        ),
        DirectedSchedule::new(
            "a member expires long after its last renewal",
            &[Ability::HiddenSpans],
            [
                settled_for(ABSENCE_GRACE + 10),
                vec![Crash("b"), StartUngated("b", 1), Pass(ABSENCE_GRACE + 10)],
                vec![Write("b", 0), Land("b"), Expire, start("b", ENCODES_2)],
            ],
        ),
        DirectedSchedule::new(
            "a server that was never heard joins while a worker is on its way",
            &[Ability::UnheardServers],
            [
                vec![
                    start("a", ENCODES_2),
                    Pass(WRITE_GRACE),
                    claim("w", LONG_TTL),
                ],
                vec![Rewrite("w"), Finish("w"), Pass(1)],
                vec![
                    StartUngated("b", 1),
                    Write("b", 0),
                    start("b", ENCODES_2),
                    Land("b"),
                ],
                vec![Run("w"), Pass(WRITE_GRACE)],
            ],
        )
        .with_roster(Some(Roster::Named(&["a"]))),
    ]
}

fn of_ungated_members() -> Vec<DirectedSchedule> {
    const UNGATED: &[Ability] = &[Ability::UngatedMembers];
    let expired = || {
        vec![
            Cut("b"),
            Pass(TTL),
            Expire,
            Reencode("a", 2),
            Pass(WRITE_GRACE),
        ]
    };
    vec![
        DirectedSchedule::new(
            "an ungated member reports another version with a write on its way",
            UNGATED,
            [
                settle(UNGATED_1),
                vec![Write("b", 0)],
                reencode_both(2),
                migrate("w"),
                vec![Land("b")],
            ],
        ),
        DirectedSchedule::new(
            "an ungated member expires, writes on, restarts and returns",
            UNGATED,
            [
                settle(UNGATED_1),
                expired(),
                vec![Write("b", 0), start("b", UNGATED_2)],
                migrate("w"),
                vec![Land("b")],
            ],
        ),
        DirectedSchedule::new(
            "an ungated member expires and writes on, and a roster by labels does not miss it",
            &[Ability::UngatedMembers, Ability::LooseRosters],
            [settle(UNGATED_1), expired(), migrate("w")],
        )
        .with_roster(Some(Roster::Labelled)),
        DirectedSchedule::new(
            "an ungated member is evicted and writes on, and no roster asks for it",
            &[Ability::UngatedMembers, Ability::Evictions],
            [
                settle(UNGATED_1),
                vec![
                    Cut("b"),
                    Evict("b"),
                    Reencode("a", 2),
                    Pass(WRITE_GRACE + TTL),
                ],
                migrate("w"),
            ],
        )
        .with_roster(Some(Roster::Named(&["a"]))),
    ]
}

fn of_observers() -> Vec<DirectedSchedule> {
    let settled = || {
        let mut settled = vec![Pass(WRITE_GRACE)];
        settled.extend(migrate("w"));
        settled
    };
    vec![
        DirectedSchedule::new(
            "a look does not reach a server that an earlier one showed",
            &[Ability::PartialLooks],
            [
                vec![StartUngated("s", 1), start("a", ENCODES_2)],
                vec![Look(vec!["s"]), Look(vec!["a"])],
                settled(),
            ],
        )
        .with_roster(None),
        DirectedSchedule::new(
            "an observation expires before the first report",
            &[],
            [
                vec![StartUngated("s", 1), Look(vec!["s"])],
                vec![Pass(2 * WRITE_GRACE + 1), Expire, start("a", ENCODES_2)],
                settled(),
            ],
        )
        .with_roster(None),
        DirectedSchedule::new(
            "a server that never joins writes beside a roster that only counts",
            &[Ability::LooseRosters],
            [vec![StartUngated("s", 1), start("a", ENCODES_2)], settled()],
        )
        .with_roster(Some(Roster::AtLeast(1))),
    ]
}

fn of_stores() -> Vec<DirectedSchedule> {
    vec![
        DirectedSchedule::new(
            "a resource that is stored outside has an empty collection",
            &[Ability::StoresBesideCollections],
            [
                vec![Action::Declare(ResourceName::Widgets)],
                start_both(ENCODES_2),
            ],
        ),
        DirectedSchedule::new(
            "two names of one store are reported in two versions",
            &[Ability::SharedStores],
            [
                vec![start("a", ENCODES_2), Pass(WRITE_GRACE)],
                migrate("w"),
                vec![start("b", GADGETS_1)],
            ],
        )
        .with_roster(None)
        .in_one_store(),
        DirectedSchedule::new(
            "an operator asks about a misspelled version",
            &[Ability::Misspellings],
            [settle(ENCODES_1)],
        ),
    ]
}
