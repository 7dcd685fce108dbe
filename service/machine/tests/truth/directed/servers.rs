//! Schedules about servers, observers and stores.

use crate::draws::{CLAIM_TTL, LONG_TTL, MEMBERS, TTL};
use crate::machine::WRITE_GRACE;
use crate::schedule::{
    Action, DECODES_OTHER_GROUP, ENCODES_1, ENCODES_2, GADGETS_1, OF_OTHER_GROUP, PREFERS_1,
    PREFERS_2, ResourceName, Roster, UNGATED_1, UNGATED_2,
};
use crate::truth::ABSENCE_GRACE;

use super::{
    DirectedSchedule, claim, migrate, reencode_both, settle, start, start_both, start_for,
};

use Action::{
    Adopt, Crash, Cut, Evict, Expire, Finish, Land, Learn, Look, Pass, Reencode, Rewrite, Run,
    StartUngated, Write,
};

pub(super) fn all() -> Vec<DirectedSchedule> {
    let mut all = voters();
    all.extend(absences());
    all.extend(first_joins());
    all.extend(ungated_members());
    all.extend(observers());
    all.extend(stores());
    all
}

fn voters() -> Vec<DirectedSchedule> {
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
            [
                settled(),
                vec![start("b", PREFERS_1), start("a", PREFERS_1)],
                vec![Learn("b"), start("a", PREFERS_2), start("b", PREFERS_2)],
                migrated_again(),
            ],
        ),
    ]
}

fn absences() -> Vec<DirectedSchedule> {
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
            [
                settled_for(2 * ABSENCE_GRACE),
                vec![StartUngated("b", 1), Pass(ABSENCE_GRACE + 2)],
                vec![Write("b", 0), Land("b"), start("b", ENCODES_2)],
            ],
        ),
        DirectedSchedule::new(
            "a member expires long after its last renewal",
            [
                settled_for(ABSENCE_GRACE + 10),
                vec![Crash("b"), StartUngated("b", 1), Pass(ABSENCE_GRACE + 10)],
                vec![Write("b", 0), Land("b"), Expire, start("b", ENCODES_2)],
            ],
        ),
    ]
}

fn first_joins() -> Vec<DirectedSchedule> {
    vec![
        DirectedSchedule::new(
            "a server that was never heard joins while a worker is on its way",
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

fn ungated_members() -> Vec<DirectedSchedule> {
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
            [settle(UNGATED_1), expired(), migrate("w")],
        )
        .with_roster(Some(Roster::Labelled)),
        DirectedSchedule::new(
            "an ungated member is evicted and writes on, and no roster asks for it",
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

fn observers() -> Vec<DirectedSchedule> {
    let settled = || {
        let mut settled = vec![Pass(WRITE_GRACE)];
        settled.extend(migrate("w"));
        settled
    };
    vec![
        DirectedSchedule::new(
            "a look does not reach a server that an earlier one showed",
            [
                vec![StartUngated("s", 1), start("a", ENCODES_2)],
                vec![Look(vec!["a", "s"]), Look(vec!["a"])],
                settled(),
            ],
        )
        .with_roster(None),
        DirectedSchedule::new(
            "members report beside a server that never joins and is seen in an older version",
            [
                vec![StartUngated("s", 1), Look(vec!["s"])],
                start_both(ENCODES_2),
                settled(),
                vec![Reencode("a", 2), Pass(WRITE_GRACE)],
                migrate("w"),
            ],
        )
        .with_roster(None),
        DirectedSchedule::new(
            "a server restarts in a newer version before an observer sees it for the first time",
            [
                settle(ENCODES_2),
                vec![StartUngated("s", 1), Write("s", 0)],
                vec![StartUngated("s", 2), Look(vec!["s"])],
            ],
        ),
        DirectedSchedule::new(
            "an observation expires before the first report",
            [
                vec![StartUngated("s", 1), Look(vec!["s"])],
                vec![Pass(2 * WRITE_GRACE + 1), Expire, start("a", ENCODES_2)],
                settled(),
            ],
        )
        .with_roster(None),
        DirectedSchedule::new(
            "a server that never joins writes beside a roster that only counts",
            [vec![StartUngated("s", 1), start("a", ENCODES_2)], settled()],
        )
        .with_roster(Some(Roster::AtLeast(1))),
    ]
}

fn stores() -> Vec<DirectedSchedule> {
    vec![
        DirectedSchedule::new(
            "a resource that is stored outside has an empty collection",
            [
                vec![Action::Declare(ResourceName::Widgets)],
                start_both(ENCODES_2),
            ],
        ),
        DirectedSchedule::new(
            "two names of one store are reported in two versions",
            [
                vec![start("a", ENCODES_2), Pass(WRITE_GRACE)],
                migrate("w"),
                vec![start("b", GADGETS_1)],
            ],
        )
        .with_roster(None)
        .in_one_store(),
        DirectedSchedule::new(
            "a snapshot stays in a version of another group",
            [
                settle(DECODES_OTHER_GROUP),
                vec![Action::Snapshot(OF_OTHER_GROUP)],
                settle(ENCODES_1),
            ],
        ),
        DirectedSchedule::new(
            "an operator asks about a misspelled version",
            [settle(ENCODES_1)],
        ),
    ]
}
