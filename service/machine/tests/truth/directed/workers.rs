//! Schedules about claims, and the rewrites of workers whose claims have ended.

use crate::draws::{CLAIM_TTL, LONG_TTL, MEMBERS};
use crate::machine::WRITE_GRACE;
use crate::schedule::{Action, ENCODES_1, ResourceName};

use super::{DirectedSchedule, claim, claim_widgets, migrate, reencode_both, settle, start_both};

use Action::{CutWorker, Expire, Finish, LandRewrite, Leave, Pass, Raise, Rewrite, Run};

pub(super) fn all() -> Vec<DirectedSchedule> {
    let mut all = rewrites();
    all.extend(ended_claims());
    all.extend(upgrades());
    all
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

fn rewrites() -> Vec<DirectedSchedule> {
    let settled = || settle(ENCODES_1);
    vec![
        DirectedSchedule::new(
            "a rewrite lands after the servers rolled back and another worker migrated back",
            [settled(), strand_worker(CLAIM_TTL), roll_back()],
        ),
        DirectedSchedule::new(
            "a worker that is cut off goes on until its claim's deadline",
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
            [
                settled(),
                strand_worker(CLAIM_TTL),
                vec![Pass(CLAIM_TTL + 1), Expire],
                roll_back(),
            ],
        ),
        DirectedSchedule::new(
            "a fenced claim waits for a rewrite that compares no fence",
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
fn ended_claims() -> Vec<DirectedSchedule> {
    let widgets = ResourceName::Widgets;
    let ended_by = |name, action| {
        let parts = [
            settle(ENCODES_1),
            strand_worker(LONG_TTL),
            vec![action],
            reencode_both(1),
            vec![Pass(WRITE_GRACE)],
            migrate("x"),
        ];
        DirectedSchedule::new(name, parts)
    };
    let given_up = |name, action| {
        let parts = [
            settle(ENCODES_1),
            reencode_both(2),
            vec![claim("w", CLAIM_TTL), Rewrite("w"), Pass(1), action],
            roll_back(),
        ];
        DirectedSchedule::new(name, parts)
    };
    let leave_both = MEMBERS.map(|server| Leave(server, true)).to_vec();
    let forgets = vec![Action::Forget(widgets)];
    vec![
        ended_by("an operator aborts", Action::Abort(widgets)),
        ended_by("an operator deletes", Action::Delete(widgets)),
        ended_by("an operator resets", Action::Reset(widgets)),
        ended_by(
            "an operator releases the claim of a worker that goes on",
            Action::ReleaseClaim(widgets),
        ),
        given_up("a worker fails", Action::Fail("w")),
        given_up("a worker gives its claim back", Action::GiveBack("w")),
        DirectedSchedule::new(
            "an operator deletes the state while a worker goes on",
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

fn upgrades() -> Vec<DirectedSchedule> {
    let claimed_before = DirectedSchedule::new(
        "a claim ended before the raise, and its worker goes on",
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
