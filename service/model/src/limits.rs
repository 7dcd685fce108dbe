//! All limits that are constants of the program, and how they relate. [`LIMITS`] is the table that the documentation
//! publishes.
//!
//! Every replica must apply alike, so a limit that apply reads is either a replicated [setting](crate::settings), whose
//! bounds are in a table there, or a constant that belongs to the machine version.

mod table;

use std::time::Duration;

pub use table::LIMITS;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Bytes of a DNS label, a resource, a kind, a label's value.
pub const LABEL_BYTES_MAX: usize = 63;
/// Bytes of a DNS subdomain: a group, a member's id.
pub const SUBDOMAIN_BYTES_MAX: usize = 253;
/// Bytes of a version with its group, and of a StorageVersion's name.
pub const QUALIFIED_BYTES_MAX: usize = SUBDOMAIN_BYTES_MAX + 1 + LABEL_BYTES_MAX;
/// Bytes of the instance that speaks for a member.
pub const INSTANCE_ID_BYTES_MAX: usize = 64;
/// Bytes of the release that a member says it runs.
pub const BINARY_VERSION_BYTES_MAX: usize = 128;
/// Bytes of the address that a member gives.
pub const ENDPOINT_BYTES_MAX: usize = 512;
/// Bytes of the identity of a lease's holder.
pub const HOLDER_BYTES_MAX: usize = QUALIFIED_BYTES_MAX;
/// Bytes of the proved name of a caller.
pub const IDENTITY_BYTES_MAX: usize = 512;
/// Waiters for one lease at a time, or candidates for it. Apply reads it: it belongs to the machine version.
pub const LEASE_CONTENDERS_MAX: usize = 1_000;
/// Bytes of a selector.
pub const SELECTOR_BYTES_MAX: usize = 4 * KIB;
/// Requirements of a selector.
pub const SELECTOR_REQUIREMENTS_MAX: usize = 64;
/// Bytes of the name of a migration's worker.
pub const WORKER_BYTES_MAX: usize = SUBDOMAIN_BYTES_MAX;
/// Bytes of a worker's continue token.
pub const CONTINUE_TOKEN_BYTES_MAX: usize = 8 * KIB;
/// Bytes of the reason that a worker gives for a failure.
pub const FAILURE_REASON_BYTES_MAX: usize = 4 * KIB;
/// Storage-version hashes in one observation of a resource.
pub const OBSERVED_HASHES_MAX: usize = 16;
/// Observers whose looks a resource keeps. Apply reads it and the next number: they belong to the machine version.
pub const OBSERVERS_MAX: usize = 16;
/// Servers that one look of an observer keeps.
pub const OBSERVED_SERVERS_MAX: usize = 32;
/// Bytes of the name of an observer.
pub const OBSERVER_BYTES_MAX: usize = SUBDOMAIN_BYTES_MAX;
/// Bytes of the name under which an observer reaches a server.
pub const OBSERVED_SERVER_BYTES_MAX: usize = SUBDOMAIN_BYTES_MAX;
/// Encodings of a resource that an observation can make persisted or draining. Apply reads it: it belongs to the
/// machine version.
pub const ENCODINGS_MAX: usize = 256;
/// Encodings of a resource that are remembered, the newest ones, once by their version and once by their hash; claims of a
/// resource whose drains are kept apart; and members of which somebody said that they have stopped. Apply reads these: they
/// belong to the machine version.
pub const KNOWN_ENCODINGS_MAX: usize = 256;
/// See [`KNOWN_ENCODINGS_MAX`].
pub const CLAIM_DRAINS_MAX: usize = 64;
/// See [`KNOWN_ENCODINGS_MAX`].
pub const SAID_STOPPED_MAX: usize = 64;
/// How long a member may be away before its return is doubted: it may have written without a gate meanwhile. Apply reads it
/// and the numbers below: they belong to the machine version.
pub const ABSENCE_GRACE: Duration = Duration::from_secs(10 * 60);
/// Members that are gone and remembered, the last ones.
pub const PAST_MEMBERS_MAX: usize = 10_000;
/// Short absences of members that a resource names, the latest ones.
pub const SHORT_ABSENCES_MAX: usize = 32;
/// Members without a gate that a resource names after they expired or were evicted. Of more it is only known that there are.
pub const UNGATED_GONE_MAX: usize = 64;
/// Rosters in the state.
pub const ROSTERS_MAX: usize = 1_000;
/// Members that a roster can name.
pub const ROSTER_MEMBERS_MAX: usize = 1_000;
/// Missing members of a roster that are named; more are counted.
pub const ABSENT_NAMED_MAX: usize = 16;
/// Members without an entry that are remembered for a resource, since they had one under a roster that asks by labels.
/// Apply reads it: it belongs to the machine version.
pub const HEARD_MAX: usize = 64;
/// Scopes that a binary can leave to others.
pub const LEFT_TO_OTHERS_MAX: usize = 1_000;
/// Labels of an object.
pub const LABELS_MAX: usize = 64;
/// Bytes of an object's annotations, keys and texts together.
pub const ANNOTATIONS_BYTES_MAX: usize = 256 * KIB;
/// Finalizers of an object.
pub const FINALIZERS_MAX: usize = 64;
/// Owners of an object.
pub const OWNER_REFERENCES_MAX: usize = 64;
/// Bytes of a media type.
pub const MEDIA_TYPE_BYTES_MAX: usize = 127;
/// Bytes of an object's data, and of a patch.
pub const OBJECT_BYTES_MAX: usize = MIB;
/// Operations of a JSON patch, as in Kubernetes.
pub const PATCH_OPERATIONS_MAX: usize = 10_000;
/// Steps that one JSON patch may take: values that are copied or measured, and items of lists that are shifted. Apply
/// reads it: it belongs to the machine version.
pub const PATCH_STEPS_MAX: usize = 4_000_000;
/// Bytes that one JSON patch may copy from one place of the document to another, as in Kubernetes. Apply reads it, too.
pub const PATCH_COPIED_BYTES_MAX: usize = 3 * MIB;
/// Bytes of objects, before and after, that the operations of one transaction may touch: the events of one revision
/// hold them. Apply reads it: it belongs to the machine version.
pub const TRANSACTION_BYTES_MAX: usize = 8 * MIB;
/// Dependents of removed owners that one command handles; the next command continues. Apply reads it: it belongs to the
/// machine version.
pub const DEPENDENTS_PER_COMMAND_MAX: u32 = 128;
/// Bytes of those dependents, before and after. Apply reads it, too.
pub const DEPENDENT_BYTES_PER_COMMAND_MAX: usize = 4 * MIB;
/// Comparisons, operations and reads of a transaction, each.
pub const TRANSACTION_OPERATIONS_MAX: usize = 128;
/// Bytes of a name's prefix that stay before the hash of a ControllerRevision.
pub const REVISION_PREFIX_BYTES_MAX: usize = 223;
/// The highest count of collisions that an owner can hold: what fits in the signed field of Kubernetes.
pub const COLLISION_COUNT_MAX: u32 = i32::MAX as u32;
/// Names that one create tries. Apply reads it: it belongs to the machine version.
pub const COLLISIONS_TRIED_MAX: u32 = 1_000;
/// Snapshots beside the live ones that a controller can ask to keep, and all that one controls if it names them itself. Apply reads
/// it: it belongs to the machine version.
pub const HISTORY_LIMIT_MAX: u32 = 10_000;
/// Snapshots beside the live ones that are kept if the controller does not say.
pub const HISTORY_LIMIT_DEFAULT: u32 = 10;
/// Bytes of the name of a user that marks a ControllerRevision.
pub const MARKER_BYTES_MAX: usize = SUBDOMAIN_BYTES_MAX;
/// Markers of one ControllerRevision at a time. Apply reads it: it belongs to the machine version.
pub const MARKERS_MAX: usize = 1_000;
/// ControllerRevisions that one call can mark as in use.
pub const IN_USE_NAMES_MAX: usize = 1_000;
/// Snapshots that one command deletes or adopts; the next command continues. Apply reads it: it belongs to the machine
/// version.
pub const REVISIONS_PER_COMMAND_MAX: usize = 1_000;
/// Bytes of data of the snapshots that one command deletes or adopts, the first one aside. Apply reads it: it belongs
/// to the machine version.
pub const REVISION_BYTES_PER_COMMAND_MAX: usize = 4 * MIB;
/// Bytes of the snapshots whose marks one command changes: the events of one revision hold them. Apply reads it: it
/// belongs to the machine version.
pub const REVISION_BYTES_MARKED_MAX: usize = 16 * MIB;
/// Snapshots whose marks are tied to one member, or to one object: they lose these marks in the command that removes
/// it. Apply reads it: it belongs to the machine version.
pub const TIED_REVISIONS_MAX: usize = 1_000;
/// Bytes of those snapshots. Apply reads it, too.
pub const TIED_REVISION_BYTES_MAX: usize = 4 * MIB;
/// Bytes of the objects that one expiry removes, and of the snapshots whose marks it ends: the events of one revision
/// hold them. The object that reaches the limit is still removed. Apply reads it: it belongs to the machine version.
pub const EXPIRED_BYTES_PER_COMMAND_MAX: usize = 4 * MIB;
/// Steps of what follows from a switch that moved which one command takes: leases, waiters, candidates, resources, entries and
/// migrations that it looks at. The lease or resource that reaches the limit is still done. Apply reads it: it belongs to the
/// machine version.
pub const AFTERMATH_STEPS_MAX: usize = 4_000;
/// Versions in each list of a report's entry.
pub const VERSIONS_PER_ENTRY_MAX: usize = 64;
/// Names of one set of equivalent resources.
pub const EQUIVALENTS_MAX: usize = 8;
/// Days from now within which a member can name the date until which a version is served: it holds up the withdrawal for
/// no longer. Apply reads it: it belongs to the machine version.
pub const SERVE_UNTIL_DAYS_MAX: u64 = 1_096;
/// The latest date that can be written at all, in milliseconds since the Unix epoch: the end of the year 9999.
pub const SERVE_UNTIL_MS_MAX: u64 = 253_402_300_799_999;
/// By how much the clocks of two leaders may differ, in milliseconds, before a date that is named again counts anew. Apply
/// reads it, too.
pub const SERVE_UNTIL_TOLERANCE_MS: u64 = 60_000;
/// Shortest time to live, in milliseconds.
pub const TTL_MS_MIN: u64 = 1_000;
/// Longest time to live, in milliseconds.
pub const TTL_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// Levels of arrays and objects in a JSON document, one within another.
pub const JSON_DEPTH_MAX: usize = 128;
/// The largest exponent of a number in a JSON document, either way.
pub const JSON_EXPONENT_MAX: usize = 999_999;
/// Bytes of a number in a JSON document: numbers of Kubernetes have twenty, and the cost of comparing two grows with
/// their length.
pub const JSON_NUMBER_BYTES_MAX: usize = 1_024;

/// Bytes of a request on the wire, reports aside.
pub const REQUEST_BYTES_MAX: usize = 1536 * KIB;
/// Bytes of a report on the wire.
pub const REPORT_BYTES_MAX: usize = 8 * MIB;
/// Objects on a page of a list.
pub const LIST_PAGE_MAX: usize = 5_000;
/// Shortest interval of a watch's bookmarks, in milliseconds.
pub const BOOKMARK_INTERVAL_MS_MIN: u64 = 1_000;
/// Longest interval of a watch's bookmarks, in milliseconds.
pub const BOOKMARK_INTERVAL_MS_MAX: u64 = 30_000;

/// Broken rules that one answer names; the others are counted.
pub const VIOLATIONS_MAX: usize = 100;
/// Bytes of a bad value that an error message quotes.
pub const QUOTED_BYTES_MAX: usize = 320;

/// Bytes of the commands that share one log entry. A single command may be larger.
pub const BATCH_BYTES_MAX: usize = MIB;
/// Bytes of the largest single command as it is stored.
pub const COMMAND_BYTES_MAX: usize = 12 * MIB;
/// Bytes of the largest record of the write-ahead log, without its frame.
pub const WAL_RECORD_BYTES_MAX: usize = 16 * MIB;
/// Bytes of the largest message between replicas.
pub const PEER_MESSAGE_BYTES_MAX: usize = 17 * MIB;
/// Bytes of the state's quota that are reserved for commands that keep the cluster running.
pub const STATE_RESERVE_BYTES: u64 = 64 << 20;

// The longest legal value is quoted whole, so that its message can be searched for.
const _: () = assert!(QUALIFIED_BYTES_MAX <= QUOTED_BYTES_MAX);
// Any request can be a command, and most commands can share an entry with others.
const _: () = assert!(REQUEST_BYTES_MAX <= REPORT_BYTES_MAX);
const _: () = assert!(BATCH_BYTES_MAX <= COMMAND_BYTES_MAX);
// An object and its annotations fit a request, with room for its other metadata.
const _: () = assert!(OBJECT_BYTES_MAX + ANNOTATIONS_BYTES_MAX < REQUEST_BYTES_MAX);
// A report, as it is stored, is as large as on the wire plus less than half: both contain each of its texts once, only
// the frame around a text may be wider.
const _: () = assert!(REPORT_BYTES_MAX + REPORT_BYTES_MAX / 2 <= COMMAND_BYTES_MAX);
// An entry is a batch or one command, and its own fields.
const _: () = assert!(BATCH_BYTES_MAX + MIB <= WAL_RECORD_BYTES_MAX);
const _: () = assert!(COMMAND_BYTES_MAX + MIB <= WAL_RECORD_BYTES_MAX);
// A message carries at least one entry, with its id and the sender's.
const _: () = assert!(WAL_RECORD_BYTES_MAX + MIB <= PEER_MESSAGE_BYTES_MAX);
const _: () = assert!(TTL_MS_MIN < TTL_MS_MAX);
const _: () = assert!(BOOKMARK_INTERVAL_MS_MIN < BOOKMARK_INTERVAL_MS_MAX);

/// A row of the published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name of what is limited.
    pub name: &'static str,
    /// The limit itself, which is still allowed.
    pub value: u64,
    /// The unit of the value.
    pub unit: &'static str,
    /// What happens beyond it.
    pub beyond: &'static str,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_published_table_names_each_limit_once_and_completely() {
        let mut names = BTreeSet::new();
        for limit in LIMITS {
            assert!(names.insert(limit.name), "twice: {}", limit.name);
            assert!(limit.value > 0 && !limit.unit.is_empty() && !limit.beyond.is_empty());
        }
    }

    #[test]
    fn the_published_limits_are_those_of_the_documentation() {
        let value = |name: &str| {
            LIMITS
                .iter()
                .find(|limit| limit.name == name)
                .unwrap()
                .value
        };
        assert_eq!(value("request"), 1_572_864);
        assert_eq!(value("report"), 8_388_608);
        assert_eq!(value("commands in a log entry"), 1_048_576);
        assert_eq!(value("list page"), 5_000);
        assert_eq!(value("labels of an object"), 64);
        assert_eq!(value("StorageVersion name"), 317);
        assert_eq!(
            (value("shortest TTL"), value("longest TTL")),
            (1_000, 86_400_000)
        );
    }
}
