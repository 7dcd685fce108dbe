//! The actions of a schedule: what servers, workers, observers and operators do, and the time that passes between.
//!
//! An action that is not possible does nothing, so that every part of a schedule is a schedule.

/// The number of a version: 1 is `v1`.
pub(crate) type Version = u8;

/// The id of a server.
pub(crate) type Server = &'static str;

/// The name of a worker.
pub(crate) type WorkerName = &'static str;

/// The versions that objects can be in.
pub(crate) const VERSIONS: [Version; 3] = [1, 2, 3];

/// A version in another group, in which only snapshots can be.
pub(crate) const OF_OTHER_GROUP: Version = 4;

/// A version that no server ever names, as when an operator misspells version 1.
pub(crate) const MISSPELLED: Version = 9;

/// A resource that servers report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ResourceName {
    Widgets,
    /// Another name, which is stored with `Widgets` in worlds with one store.
    Gadgets,
}

/// One step of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// So many seconds of log time pass. Servers renew and workers report progress, unless they are cut off.
    Pass(u64),
    /// The leader removes all members, claims and observations that are past their deadlines.
    Expire,
    /// Another replica becomes the leader, and gives everything its whole TTL again.
    Elect,
    /// A process starts, joins and reports. It replaces the process that ran under this id.
    Start(Server, Binary, u64),
    /// A process starts that writes this version without a gate and never joins.
    StartUngated(Server, Version),
    /// The process is killed.
    Crash(Server),
    /// The process leaves. The flag is set if it has waited for all its writes.
    Leave(Server, bool),
    /// An operator removes the member, whose process may go on.
    Evict(Server),
    /// The process no longer reaches the cluster.
    Cut(Server),
    /// The process reaches the cluster again.
    Heal(Server),
    /// A voter learns by its watch what is selected, and encodes that.
    Learn(Server),
    /// A voter waits for its writes in other versions, and adopts what is selected.
    Adopt(Server),
    /// A server reports another version, which it encodes from then on or prefers.
    Reencode(Server, Version),
    /// A server sends a write of this object.
    Write(Server, usize),
    /// The oldest write of the server reaches the store.
    Land(Server),
    /// A worker claims the oldest unfinished migration.
    Claim(WorkerName, ResourceName, ClaimTerms),
    /// The worker sends its next rewrite.
    Rewrite(WorkerName),
    /// The worker's rewrite reaches the store, and the worker receives the answer.
    Finish(WorkerName),
    /// A rewrite of the worker, or of a former process of it, reaches the store.
    LandRewrite(WorkerName),
    /// The worker rewrites all that is left and completes the migration.
    Run(WorkerName),
    /// The worker no longer reaches the cluster.
    CutWorker(WorkerName),
    /// The worker gives up.
    Fail(WorkerName),
    /// The worker gives its claim back.
    GiveBack(WorkerName),
    /// An operator releases the claim of a worker that may go on.
    ReleaseClaim(ResourceName),
    /// An operator starts a migration.
    StartMigration(ResourceName),
    /// An operator aborts the unfinished migration.
    Abort(ResourceName),
    /// An operator deletes the unfinished migration.
    Delete(ResourceName),
    /// An operator resets what is known of the store.
    Reset(ResourceName),
    /// An operator deletes the state of the resource.
    Forget(ResourceName),
    /// An operator declares a collection for the resource.
    Declare(ResourceName),
    /// An operator sets the roster, or deletes it.
    Roster(Option<Roster>),
    /// A backup of the state is taken.
    BackUp,
    /// The newest backup is restored, as the state of another cluster; without one, the present state is.
    Restore,
    /// The newest machine version comes into force.
    Raise,
    /// An observer reaches these servers, and reports what they show. One that looks at all servers has no name; any other is
    /// named after its first server.
    Look(Vec<Server>),
    /// An operator dismisses all looks at the resource.
    Dismiss(ResourceName),
    /// A controller keeps a snapshot of a widget in this version, which is never rewritten.
    Snapshot(Version),
}

/// The terms of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClaimTerms {
    pub(crate) ttl: u64,
    /// Whether the worker moves the fence in the store first, and every rewrite compares it.
    pub(crate) is_fenced: bool,
}

/// The members that a roster asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roster {
    /// These members.
    Named(&'static [Server]),
    /// All members with the label that each server has.
    Labelled,
    /// At least this many members.
    AtLeast(u32),
}

/// A release of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binary {
    /// Whether it writes only while it can prove its membership.
    pub(crate) is_gated: bool,
    pub(crate) decodes: &'static [Version],
    pub(crate) stance: Stance,
    pub(crate) resources: &'static [ResourceName],
}

/// The version that a release encodes or prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stance {
    Encodes(Version),
    Prefers(Version),
}

const WIDGETS: &[ResourceName] = &[ResourceName::Widgets];
const GADGETS: &[ResourceName] = &[ResourceName::Gadgets];

const fn gated_binary(decodes: &'static [Version], stance: Stance) -> Binary {
    Binary {
        is_gated: true,
        decodes,
        stance,
        resources: WIDGETS,
    }
}

/// Knows version 1 alone.
pub(crate) const ONLY_1: Binary = gated_binary(&[1], Stance::Encodes(1));
/// Decodes what was written when widgets were in another group.
pub(crate) const DECODES_OTHER_GROUP: Binary =
    gated_binary(&[1, 2, OF_OTHER_GROUP], Stance::Encodes(1));
pub(crate) const ENCODES_1: Binary = gated_binary(&[1, 2], Stance::Encodes(1));
pub(crate) const ENCODES_2: Binary = gated_binary(&[1, 2], Stance::Encodes(2));
pub(crate) const PREFERS_1: Binary = gated_binary(&[1, 2], Stance::Prefers(1));
pub(crate) const PREFERS_2: Binary = gated_binary(&[1, 2], Stance::Prefers(2));
pub(crate) const UNGATED_1: Binary = Binary {
    is_gated: false,
    ..ENCODES_1
};
pub(crate) const UNGATED_2: Binary = Binary {
    is_gated: false,
    ..ENCODES_2
};
/// Reports the other name, which may be in the store of the first.
pub(crate) const GADGETS_1: Binary = Binary {
    resources: GADGETS,
    ..ENCODES_1
};

/// The schedule in Rust, one action on each line, ready to become a directed one.
pub(crate) fn write(schedule: &[Action]) -> String {
    let lines = schedule.iter().map(|action| format!("    {action:?},\n"));
    lines.collect()
}
