//! Random actions, each kind with its weight, in groups that families put together.

use proptest::prelude::*;
use proptest::sample::select;

use crate::schedule::{
    Action, Binary, ClaimTerms, ENCODES_1, ENCODES_2, PREFERS_1, ResourceName, Roster, Server,
    VERSIONS, Version, WorkerName,
};
use crate::stores::KEYS;

/// The default TTL of members, in seconds.
pub(crate) const TTL: u64 = 4;

/// The default TTL of claims, in seconds.
pub(crate) const CLAIM_TTL: u64 = 4;

/// A TTL that is longer than most of a schedule.
pub(crate) const LONG_TTL: u64 = 30;

/// The servers that join.
pub(crate) const MEMBERS: [Server; 2] = ["a", "b"];

/// All servers, with one that never joins.
pub(crate) const SERVERS: [Server; 3] = ["a", "b", "s"];

const WORKERS: [WorkerName; 2] = ["w", "x"];

const GRACE: u64 = crate::machine::WRITE_GRACE;

/// Longer than the longest TTL of a member and the grace of its writes.
pub(crate) const DAY_AND_GRACE: u64 = 24 * 60 * 60 + GRACE;

/// A kind of action with its weight: one draw may give several actions in a row.
pub(crate) type Draw = (u32, BoxedStrategy<Vec<Action>>);

/// One action, drawn with this weight.
pub(crate) fn draw_one(weight: u32, action: impl Strategy<Value = Action> + 'static) -> Draw {
    (weight, action.prop_map(|action| vec![action]).boxed())
}

/// Several actions in a row, drawn with this weight.
pub(crate) fn draw_several(
    weight: u32,
    actions: impl Strategy<Value = Vec<Action>> + 'static,
) -> Draw {
    (weight, actions.boxed())
}

pub(crate) fn draw_always(weight: u32, action: Action) -> Draw {
    draw_one(weight, Just(action))
}

pub(crate) fn member() -> impl Strategy<Value = Server> {
    select(MEMBERS.to_vec())
}

fn worker() -> impl Strategy<Value = WorkerName> {
    select(WORKERS.to_vec())
}

fn key() -> impl Strategy<Value = usize> {
    0..KEYS
}

/// Time passes: a second, a few, or what makes something expire or drain.
pub(crate) fn passes(weight: u32) -> Draw {
    let spans = [1, 1, 2, 3, GRACE, GRACE, CLAIM_TTL, CLAIM_TTL + GRACE];
    draw_one(weight, select(spans.to_vec()).prop_map(Action::Pass))
}

/// Time passes, sometimes much of it.
pub(crate) fn passes_long(weight: u32, longest: u64) -> Draw {
    let spans = vec![1, 2, GRACE, longest, longest + 2];
    draw_one(weight, select(spans).prop_map(Action::Pass))
}

/// Actions of servers while they run.
pub(crate) fn server_draws() -> Vec<Draw> {
    vec![
        passes(60),
        draw_always(40, Action::Expire),
        draw_one(10, member().prop_map(Action::Crash)),
        draw_one(
            10,
            (member(), any::<bool>()).prop_map(|(who, drained)| Action::Leave(who, drained)),
        ),
        draw_one(7, member().prop_map(Action::Cut)),
        draw_one(7, member().prop_map(Action::Heal)),
        draw_one(30, member().prop_map(Action::Adopt)),
        draw_one(10, member().prop_map(Action::Learn)),
        writes(20),
        lands(20),
    ]
}

pub(crate) fn writes(weight: u32) -> Draw {
    let server = select(SERVERS.to_vec());
    draw_one(
        weight,
        (server, key()).prop_map(|(who, key)| Action::Write(who, key)),
    )
}

pub(crate) fn lands(weight: u32) -> Draw {
    draw_one(weight, select(SERVERS.to_vec()).prop_map(Action::Land))
}

/// Actions of workers with their claims.
pub(crate) fn worker_draws() -> Vec<Draw> {
    vec![
        draw_one(20, worker().prop_map(Action::Rewrite)),
        draw_one(10, worker().prop_map(Action::Finish)),
        draw_one(15, worker().prop_map(Action::LandRewrite)),
        draw_one(50, worker().prop_map(Action::Run)),
        draw_one(10, worker().prop_map(Action::CutWorker)),
        draw_one(4, worker().prop_map(Action::Fail)),
        draw_one(3, worker().prop_map(Action::GiveBack)),
    ]
}

/// Both servers come to encode one version, and a worker claims the migration to it. The worker may begin to rewrite, meet a
/// conflict, be cut off, or go on to the end.
pub(crate) fn turns(weight: u32, ttls: &[u64], may_be_fenced: bool) -> Draw {
    let span = select(vec![0, 1, GRACE, CLAIM_TTL + GRACE]);
    let begins = (any::<bool>(), prop::bool::weighted(0.2));
    let ends = (prop::bool::weighted(0.3), any::<bool>());
    let turn = (
        version(),
        worker(),
        terms(ttls, may_be_fenced),
        span,
        begins,
        ends,
    );
    draw_several(
        weight,
        turn.prop_map(|(version, worker, terms, span, begins, ends)| {
            let (rewrites, conflicts) = begins;
            let (is_cut, runs) = ends;
            let contended = [
                Action::Write("a", 0),
                Action::Land("a"),
                Action::Finish(worker),
            ];
            let mut turn = agree_on(version, span);
            turn.push(Action::Claim(worker, ResourceName::Widgets, terms));
            turn.extend((rewrites || conflicts).then_some(Action::Rewrite(worker)));
            turn.extend(contended.into_iter().filter(|_| conflicts));
            turn.extend(is_cut.then_some(Action::CutWorker(worker)));
            turn.extend(runs.then_some(Action::Run(worker)));
            turn
        }),
    )
}

/// Both servers roll back in the middle of a migration, and another worker migrates back. A rewrite of the first worker may land
/// at any time.
pub(crate) fn rollbacks(weight: u32, ttls: &[u64], may_be_fenced: bool) -> Draw {
    let widgets = ResourceName::Widgets;
    let ends = [
        Action::Pass(0),
        Action::Pass(CLAIM_TTL - 1),
        Action::Abort(widgets),
        Action::Delete(widgets),
        Action::Reset(widgets),
        Action::Fail("w"),
        Action::GiveBack("w"),
    ];
    rollbacks_after(weight, ttls, may_be_fenced, &ends)
}

/// Like `rollbacks`, but one of these actions comes between the claim of the first worker and the rollback.
pub(crate) fn rollbacks_after(
    weight: u32,
    ttls: &[u64],
    may_be_fenced: bool,
    ends: &[Action],
) -> Draw {
    let terms = (terms(ttls, may_be_fenced), terms(ttls, may_be_fenced));
    let spans = (
        select(vec![0, GRACE]),
        select(vec![0, 1, CLAIM_TTL + 1, GRACE]),
    );
    let flags = (any::<bool>(), any::<bool>());
    let rollback = (version(), terms, spans, select(ends.to_vec()), flags);
    draw_several(
        weight,
        rollback.prop_map(|(version, terms, spans, end, (is_cut, lands_first))| {
            let land = Action::LandRewrite("w");
            let mut rollback = agree_on(version, spans.0);
            rollback.push(Action::Claim("w", ResourceName::Widgets, terms.0));
            rollback.push(Action::Rewrite("w"));
            rollback.extend(is_cut.then_some(Action::CutWorker("w")));
            rollback.push(end);
            rollback.extend(agree_on(3 - version, spans.1));
            rollback.push(Action::Claim("x", ResourceName::Widgets, terms.1));
            rollback.extend(lands_first.then(|| land.clone()));
            rollback.push(Action::Run("x"));
            rollback.push(land);
            rollback
        }),
    )
}

/// Both servers encode this version, by their reports or by what is selected, and then time passes.
fn agree_on(version: Version, span: u64) -> Vec<Action> {
    let reports = MEMBERS.map(|who| Action::Reencode(who, version));
    let adoptions = MEMBERS.map(Action::Adopt);
    let passes = [Action::Pass(span), Action::Expire];
    reports.into_iter().chain(adoptions).chain(passes).collect()
}

/// One of the versions between which servers move.
fn version() -> impl Strategy<Value = Version> {
    select(vec![1, 2])
}

fn terms(ttls: &[u64], may_be_fenced: bool) -> impl Strategy<Value = ClaimTerms> + use<> {
    let terms = (select(ttls.to_vec()), any::<bool>());
    terms.prop_map(move |(ttl, is_fenced)| ClaimTerms {
        ttl,
        is_fenced: is_fenced && may_be_fenced,
    })
}

/// A server goes with a write on its way, comes back, and both servers agree on a version that may be another.
pub(crate) fn departures(weight: u32) -> Draw {
    let departure = (
        version(),
        member(),
        key(),
        0..3_u8,
        (any::<bool>(), any::<bool>()),
    );
    draw_several(
        weight,
        departure.prop_map(|(version, who, key, way, (moves, votes))| {
            let mut departure = Vec::new();
            if moves {
                departure.extend(MEMBERS.map(|who| Action::Reencode(who, 3 - version)));
                departure.push(Action::Learn(who));
            }
            departure.push(Action::Write(who, key));
            departure.extend(match way {
                0 => vec![Action::Leave(who, false)],
                1 => vec![Action::Crash(who), Action::Pass(TTL), Action::Expire],
                _ => vec![Action::Cut(who), Action::Pass(TTL), Action::Expire],
            });
            let binary = if votes { PREFERS_1 } else { ENCODES_1 };
            departure.push(Action::Start(who, binary, TTL));
            departure.extend(agree_on(version, 0));
            departure.extend(complete_with("x"));
            departure.push(Action::Land(who));
            departure
        }),
    )
}

/// A backup is taken, the servers go on to another version, and the backup is restored.
pub(crate) fn restores(weight: u32) -> Draw {
    let restore = (version(), member(), key(), any::<bool>(), any::<bool>());
    draw_several(
        weight,
        restore.prop_map(|(version, who, key, migrates, waits)| {
            let mut restore = vec![Action::BackUp];
            restore.extend(agree_on(version, 0));
            restore.extend(complete_with("w").into_iter().filter(|_| migrates));
            restore.extend([Action::Write(who, key), Action::Restore]);
            restore.extend(MEMBERS.map(|who| Action::Start(who, ENCODES_1, TTL)));
            restore.extend(waits.then_some(Action::Pass(DAY_AND_GRACE)));
            restore.extend(agree_on(3 - version, 0));
            restore.extend(complete_with("x"));
            restore.push(Action::Land(who));
            restore
        }),
    )
}

/// A worker claims the migration and does all of it.
fn complete_with(worker: WorkerName) -> [Action; 2] {
    let terms = ClaimTerms {
        ttl: CLAIM_TTL,
        is_fenced: false,
    };
    let claim = Action::Claim(worker, ResourceName::Widgets, terms);
    [claim, Action::Run(worker)]
}

/// Both servers run one of these releases, and a worker has migrated to its version.
pub(crate) fn preamble(binaries: &'static [Binary]) -> BoxedStrategy<Vec<Action>> {
    let nothing = Just(Vec::new());
    if binaries.is_empty() {
        return nothing.boxed();
    }
    let migrated = select(binaries).prop_map(|binary| {
        let started = MEMBERS.map(|who| Action::Start(who, binary, TTL));
        let started = started.into_iter().chain([Action::Pass(GRACE)]);
        started.chain(complete_with("w")).collect()
    });
    prop_oneof![1 => nothing, 3 => migrated].boxed()
}

/// Claims with these TTLs, sometimes by fenced workers.
pub(crate) fn claims(weight: u32, ttls: &[u64], may_be_fenced: bool) -> Draw {
    claims_of(weight, vec![ResourceName::Widgets], ttls, may_be_fenced)
}

pub(crate) fn claims_of(
    weight: u32,
    resources: Vec<ResourceName>,
    ttls: &[u64],
    may_be_fenced: bool,
) -> Draw {
    let claim = (worker(), select(resources), terms(ttls, may_be_fenced));
    draw_one(
        weight,
        claim.prop_map(|(worker, resource, terms)| Action::Claim(worker, resource, terms)),
    )
}

/// Actions of operators on migrations and on what is known of the store, and changes of the leader.
pub(crate) fn operator_draws() -> Vec<Draw> {
    vec![
        draw_always(3, Action::Delete(ResourceName::Widgets)),
        draw_always(3, Action::Abort(ResourceName::Widgets)),
        draw_always(3, Action::Reset(ResourceName::Widgets)),
        draw_always(3, Action::Elect),
        draw_always(3, Action::StartMigration(ResourceName::Widgets)),
    ]
}

/// Servers start with one of these releases.
pub(crate) fn starts(weight: u32, binaries: &[Binary], ttls: &[u64]) -> Draw {
    let start = (member(), select(binaries.to_vec()), select(ttls.to_vec()));
    draw_one(
        weight,
        start.prop_map(|(who, binary, ttl)| Action::Start(who, binary, ttl)),
    )
}

/// Both servers start with the same release.
pub(crate) fn starts_both(weight: u32, binaries: &[Binary], ttl: u64) -> Draw {
    let both = select(binaries.to_vec());
    draw_several(
        weight,
        both.prop_map(move |binary| MEMBERS.map(|who| Action::Start(who, binary, ttl)).to_vec()),
    )
}

/// Both servers do the same.
pub(crate) fn draw_both(weight: u32, action: impl Fn(Server) -> Action) -> Draw {
    draw_several(weight, Just(MEMBERS.map(action).to_vec()))
}

/// Both members start and leave, and an operator deletes the state of the resource once nothing drains.
pub(crate) fn forgets_at_rest(weight: u32) -> Draw {
    let starts = MEMBERS.map(|who| Action::Start(who, ENCODES_2, TTL));
    let leaves = MEMBERS.map(|who| Action::Leave(who, true));
    let mut actions = [starts, leaves].concat();
    actions.push(Action::Pass(LONG_TTL + GRACE));
    actions.push(Action::Forget(ResourceName::Widgets));
    draw_several(weight, Just(actions))
}

pub(crate) fn reencodes(weight: u32) -> Draw {
    let one_of = (member(), version());
    draw_one(
        weight,
        one_of.prop_map(|(who, version)| Action::Reencode(who, version)),
    )
}

/// A server that never joins starts, in any version.
pub(crate) fn strangers(weight: u32) -> Draw {
    let version = select(VERSIONS.to_vec());
    draw_one(
        weight,
        version.prop_map(|version| Action::StartUngated("s", version)),
    )
}

/// A server writes without a gate before it joins.
pub(crate) fn first_joins(weight: u32) -> Draw {
    let first = (key(), any::<bool>());
    draw_several(
        weight,
        first.prop_map(|(key, waits)| {
            let wait = waits.then_some(Action::Pass(1));
            let before = [Action::StartUngated("b", 1), Action::Write("b", key)];
            let join = Action::Start("b", ENCODES_2, TTL);
            before.into_iter().chain(wait).chain([join]).collect()
        }),
    )
}

/// A member goes, writes without a gate, and comes back.
pub(crate) fn absences(weight: u32, absence_grace: u64) -> Draw {
    let span = select(vec![1, absence_grace, absence_grace + 2]);
    let wait = select(vec![1, 2, GRACE]);
    let absence = (member(), span, key(), wait, any::<bool>());
    draw_several(
        weight,
        absence.prop_map(|(who, span, key, wait, lands)| {
            let gone = [
                Action::Crash(who),
                Action::Pass(TTL),
                Action::Expire,
                Action::Pass(span),
                Action::StartUngated(who, 1),
                Action::Write(who, key),
                Action::Pass(wait),
            ];
            let landed = lands.then_some(Action::Land(who));
            let back = Action::Start(who, ENCODES_2, TTL);
            gone.into_iter().chain(landed).chain([back]).collect()
        }),
    )
}

/// A process writes without a gate while the membership of the one before it lasts, and another one joins.
pub(crate) fn hidden_spans(weight: u32, absence_grace: u64) -> Draw {
    let span = select(vec![1, absence_grace, absence_grace + 2]);
    let hidden = (member(), span, key(), any::<bool>());
    draw_several(
        weight,
        hidden.prop_map(move |(who, span, key, lands)| {
            let before = [
                Action::Start(who, ENCODES_2, 2 * absence_grace),
                Action::StartUngated(who, 1),
                Action::Pass(span),
                Action::Write(who, key),
            ];
            let landed = lands.then_some(Action::Land(who));
            let back = Action::Start(who, ENCODES_2, TTL);
            before.into_iter().chain(landed).chain([back]).collect()
        }),
    )
}

/// An observer reaches all servers.
pub(crate) fn looks(weight: u32) -> Draw {
    draw_always(weight, Action::Look(SERVERS.to_vec()))
}

/// An observer reaches some of the servers, and then others.
pub(crate) fn partial_looks(weight: u32) -> Draw {
    let reached = || proptest::sample::subsequence(SERVERS.to_vec(), 1..=SERVERS.len());
    let looks = (reached(), reached());
    draw_several(
        weight,
        looks.prop_map(|(first, second)| vec![Action::Look(first), Action::Look(second)]),
    )
}

/// An operator removes a member that may be cut off.
pub(crate) fn evictions(weight: u32) -> Draw {
    let eviction = (member(), any::<bool>());
    draw_several(
        weight,
        eviction.prop_map(|(who, is_cut)| {
            let cut = is_cut.then_some(Action::Cut(who));
            cut.into_iter().chain([Action::Evict(who)]).collect()
        }),
    )
}

/// An operator sets the roster, or deletes it.
pub(crate) fn rosters(weight: u32) -> Draw {
    let choices = vec![
        None,
        Some(Roster::Named(&MEMBERS)),
        Some(Roster::Named(&["a"])),
        Some(Roster::AtLeast(1)),
        Some(Roster::Labelled),
    ];
    draw_one(weight, select(choices).prop_map(Action::Roster))
}
