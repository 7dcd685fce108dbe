//! Every limit of this crate in one table, with the metrics that show how much of each is used.
//!
//! What a request may carry stands in [`synod_model::limits`], and what apply goes by are replicated settings; here is
//! what one replica holds in memory at a time. A caller that exceeds a limit is told so at once: no queue can grow
//! without bound, and nothing is dropped silently.

use std::time::Duration;

use synod_model::limits::{
    BATCH_BYTES_MAX, BOOKMARK_INTERVAL_MS_MIN, COMMAND_BYTES_MAX, PEER_MESSAGE_BYTES_MAX,
    REPORT_BYTES_MAX, REQUEST_BYTES_MAX, SUBDOMAIN_BYTES_MAX, TTL_MS_MIN,
};

mod bound;
mod bounds;
mod connections;

pub use bound::Bound;
pub use bounds::BOUNDS;
pub use connections::CONNECTIONS;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Requests that wait in one lane of the proposer.
pub const LANE_REQUESTS_MAX: usize = 8_192;
/// Bytes of the requests that wait in one lane of the proposer.
pub const LANE_BYTES_MAX: usize = 64 * MIB;
/// Commands in one log entry, and in one forwarded batch.
pub const BATCH_COMMANDS_MAX: usize = 4_096;
/// Log entries of one lane that are proposed and not applied yet.
pub const ENTRIES_IN_FLIGHT_MAX: usize = 4;
/// Batches of one lane that a follower has sent and that are not answered yet.
pub const FORWARDED_BATCHES_MAX: usize = 8;

/// Reads that wait for one round of the read index.
pub const READS_WAITING_MAX: usize = 16_384;

/// Replicas in a replica set: each further one makes every write wait for more acknowledgements.
pub const REPLICAS_MAX: usize = 9;
/// Entries that a replica may be behind when it becomes a voter.
pub const PROMOTED_BEHIND_MAX: u64 = 1_000;

/// Watch streams of one replica.
pub const WATCH_STREAMS_MAX: usize = 16_384;
/// Revisions whose encoded events are kept for other watchers.
pub const ENCODED_REVISIONS_MAX: usize = 1_024;
/// Bytes of encoded events that are kept for other watchers.
pub const ENCODED_BYTES_MAX: usize = 32 * MIB;
/// Bytes of one message of a watch, unless a single event is longer.
pub const WATCH_MESSAGE_BYTES_MAX: usize = MIB;

/// Bytes of the objects on one page of a list, unless a single one is longer, and of those that a transaction reads.
pub const PAGE_BYTES_MAX: usize = 2 * MIB;
/// Bytes of the differences between two ControllerRevisions, and of each of the two as lines.
pub const DIFF_BYTES_MAX: usize = 3 * MIB;

/// Connections of clients.
pub const CONNECTIONS_MAX: usize = 4_096;
/// Connections of clients from one address.
pub const CONNECTIONS_PER_SOURCE_MAX: usize = 2_048;
/// Connections of clients that have not yet sent the preface of HTTP/2.
pub const STRANGERS_MAX: usize = 512;
/// Handshakes of transport security that are under way at the port for clients, and at the one for clients of Kubernetes: no
/// more connections are without introduction, and as many again may have been cut without having noticed.
pub const HANDSHAKES_MAX: usize = 2 * STRANGERS_MAX;
/// Connections of other replicas. Each replica needs one.
pub const PEER_CONNECTIONS_MAX: usize = 256;
/// Connections at the port for replicas over which no known replica has called yet.
pub const PEER_STRANGERS_MAX: usize = 64;
/// Handshakes that are under way at the port for replicas.
pub const PEER_HANDSHAKES_MAX: usize = 2 * PEER_STRANGERS_MAX;
/// A connection at the port for replicas over which no known replica has called is closed after this time.
pub const PEER_INTRODUCTION_MAX: Duration = Duration::from_secs(1);
/// HTTP/2 control frames, which carry no request, on one connection at once.
pub const CONTROL_FRAMES_MAX: usize = 8_192;
/// Further control frames on one connection each second.
pub const CONTROL_FRAMES_PER_SECOND: u32 = 1_000;
/// Bytes of answers, on all connections, that are held until the network has taken them.
pub const ANSWER_BYTES_HELD_MAX: usize = 128 * MIB;
/// Bytes of answers held on one connection beyond which the next answer waits.
pub const ANSWER_BYTES_PER_CONNECTION_MAX: usize = 8 * MIB;
/// Bytes of an answer that are given to the network at a time.
pub const ANSWER_PIECE_BYTES: usize = 64 * KIB;
/// A connection that has answers to read and reads none for this long is closed.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(20);
/// A connection whose other end has not acknowledged sent bytes for this long is closed by the system.
pub const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(20);
/// A connection on which nothing was heard for this long is probed by the system, which closes it if the other end does not
/// answer.
pub const SILENCE_UNASKED_MAX: Duration = Duration::from_secs(10);
/// The pause between two probes of the system. The connection is closed once a probe is unanswered and nothing was heard for
/// [`UNACKNOWLEDGED_MAX`].
pub const PROBE_INTERVAL: Duration = Duration::from_secs(5);
/// The pause after the system failed to accept a connection, which happens when no file descriptor is left. Trying again at
/// once would spin.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The interval of pings on an idle connection of HTTP/2. Only they reveal that packets vanish silently.
pub const PING_INTERVAL: Duration = Duration::from_secs(10);
/// A connection of HTTP/2 that has not answered a ping for this long is closed.
pub const PING_PATIENCE: Duration = Duration::from_secs(5);
/// The interval of pings on a connection of another replica.
pub const PEER_PING_INTERVAL: Duration = Duration::from_millis(500);
/// A connection of another replica that has not answered a ping for this long is closed.
pub const PEER_PING_PATIENCE: Duration = Duration::from_millis(1_000);
/// Calls in progress on a connection of another replica. Raft's own calls need only a few.
pub const PEER_CALLS_MAX: u32 = 1_024;
/// Items in all lists together of a message from another replica, commands in it included: more than any message that
/// is sent has, and a quarter of what the longest message could have.
pub const PEER_ITEMS_MAX: u64 = 1 << 22;
/// Bytes of objects that the refusals of one forwarded batch carry back. Refusals beyond it come without the object,
/// like those of a repeated request.
pub const FORWARDED_OBJECTS_BYTES_MAX: usize = 4 << 20;
/// Connections to the port for metrics.
pub const METRICS_CONNECTIONS_MAX: usize = 64;
/// Handshakes that are under way at the port for metrics.
pub const METRICS_HANDSHAKES_MAX: usize = 2 * METRICS_CONNECTIONS_MAX;
/// A connection for metrics, or of HTTP/1.1 for the Kubernetes API, that sends nothing for this long and has no request in
/// progress is closed: longer than usual intervals between scrapes.
pub const HTTP1_SILENCE_MAX: Duration = Duration::from_secs(150);
/// Connections to the port for clients of the Kubernetes API. HTTP/1.1 needs one for each request in progress and each watch.
pub const KUBE_CONNECTIONS_MAX: usize = 4_096;
/// The longest time for the headers of a request of HTTP/1.1 to that port.
pub const KUBE_HEADERS_MAX: Duration = Duration::from_secs(10);
/// Requests in progress, watches included, on one connection of HTTP/2 to that port. Clients open another connection beyond it.
pub const KUBE_STREAMS_PER_CONNECTION_MAX: u32 = 250;
/// Bytes of bodies that one connection of HTTP/2 to that port may send before they are taken.
pub const KUBE_WINDOW_BYTES_MAX: u32 = 256 << 10;
/// Answers of the Kubernetes API that are compressed at a time: each has 300 KB until its end is taken.
pub const KUBE_COMPRESSED_MAX: usize = 64;
/// Streams on one connection of HTTP/2 that the other end opened and reset before they were served.
pub const STREAMS_RESET_UNSERVED_MAX: usize = 20;
/// Streams on one connection of HTTP/2 that this replica had to reset.
pub const STREAMS_RESET_HERE_MAX: usize = 128;
/// Calls in progress on one connection.
///
/// As many as all classes of calls admit together: HTTP/2 lets a client wait in silence for a stream beyond it, and
/// admission tells its client that the replica is full.
pub const CALLS_PER_CONNECTION_MAX: usize = REQUESTS_MAX
    + RENEWAL_REQUESTS_MAX
    + ACQUIRES_MAX
    + RENEWAL_STREAMS_MAX
    + WATCH_STREAMS_MAX
    + PIPELINES_MAX
    + BACKUPS_MAX
    + SIDE_CALLS_MAX
    + SIDE_STREAMS_MAX;
/// Bytes of the headers of a request.
pub const HEADER_BYTES_MAX: u32 = 16 << 10;
/// Calls in progress, except for the classes of calls with limits of their own below.
pub const REQUESTS_MAX: usize = 4_096;
/// Joins, reports, leaves and other calls of the renewal lane in progress.
pub const RENEWAL_REQUESTS_MAX: usize = 4_096;
/// Bytes of the requests being received or answered, except for the classes with limits of their own below.
pub const REQUEST_BYTES_HELD_MAX: usize = 256 * MIB;
/// Bytes of the joins, reports, leaves and other requests of the renewal lane being received or answered.
pub const RENEWAL_BYTES_HELD_MAX: usize = 128 * MIB;
/// Bytes of the calls for health and status being received or answered.
pub const SIDE_BYTES_HELD_MAX: usize = 4 * MIB;
/// Bytes of one message in a stream of requests: a renewal, a question to server reflection.
pub const STREAMED_REQUEST_BYTES_MAX: usize = 4 * KIB;
/// Acquires of leases in progress, most of them waiting for their turn.
pub const ACQUIRES_MAX: usize = 4_096;
/// Open streams of renewals.
pub const RENEWAL_STREAMS_MAX: usize = 4_096;
/// Renewals of one stream without an answer yet; the next is read when one is answered.
pub const RENEWALS_PER_STREAM_MAX: usize = 256;
/// Open pipelines.
pub const PIPELINES_MAX: usize = 4_096;
/// Bytes of one message of a pipeline: every call that has a limit of its own fits in.
pub const PIPELINE_REQUEST_BYTES_MAX: usize = REPORT_BYTES_MAX + MIB;
/// Bytes of answers in one message of a pipeline, unless a single one is longer.
pub const PIPELINE_RESPONSE_BYTES_MAX: usize = 64 * KIB;
/// Backups in progress: each keeps the state that it began with in memory, as far as the present one has moved on.
pub const BACKUPS_MAX: usize = 2;
/// Bytes of rows in one message of a backup.
pub const BACKUP_ROWS_BYTES_MAX: usize = 256 * KIB;
/// Calls for health and status in progress.
pub const SIDE_CALLS_MAX: usize = 256;
/// Open streams of the health service, and of server reflection.
pub const SIDE_STREAMS_MAX: usize = 256;
/// Bytes of the trace id that a caller gives its request.
pub const TRACE_ID_BYTES_MAX: usize = 128;
/// Bytes of what vendors of traces say of a caller's span.
pub const TRACE_STATE_BYTES_MAX: usize = 512;

/// The time that a request may take if its caller names no deadline.
pub const DEADLINE_DEFAULT: Duration = Duration::from_secs(10);
/// The longest time that a request may take, whatever its caller's deadline.
pub const DEADLINE_MAX: Duration = Duration::from_secs(60);
/// The longest time that a backup may take.
pub const BACKUP_TIME_MAX: Duration = Duration::from_hours(1);
/// A connection that has not introduced itself within this time is closed.
pub const INTRODUCTION_MAX: Duration = Duration::from_secs(5);
/// How long a shutdown waits for the requests in progress.
pub const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Requests in the queue of Raft's task. The proposer's limits are far below.
pub const RAFT_REQUESTS_MAX: u64 = 4_096;
/// Digests of past states that are kept for comparison.
pub const DIGESTS_KEPT_MAX: usize = 64;
/// Bytes of log entries that wait for the disk.
pub const LOG_QUEUE_BYTES_MAX: usize = 16 * MIB;
/// Bytes of log entries that are kept in memory.
pub const LOG_CACHE_BYTES_MAX: usize = 8 * MIB;

/// Lines of the program's log that wait to be written out. Code that logs never waits; lines beyond this are dropped.
pub const LOG_LINES_MAX: usize = 4_096;

/// Spans of traces that wait to be exported. What makes them never waits; spans beyond this are dropped.
pub const SPANS_WAITING_MAX: usize = 2_048;
/// Spans in one export.
pub const SPANS_EXPORTED_AT_ONCE_MAX: usize = 512;

/// Lines of the audit log that wait to be written.
pub const AUDIT_LINES_MAX: usize = 8_192;
/// Lines of the audit log in a second about callers of whom nobody knows who they are.
pub const AUDIT_STRANGERS_MAX: usize = 50;
/// Tokens of callers that are remembered once their signature was checked.
pub const TOKENS_REMEMBERED_MAX: usize = 4_096;

/// Holders in one expiry.
pub const EXPIRED_AT_ONCE_MAX: usize = 256;
/// Entries of the holders in one expiry, unless a single holder has more: they determine what the expiry costs.
pub const EXPIRED_ENTRIES_MAX: usize = 10_000;

/// Free bytes on a replica's disk below which the state may not grow. On a small disk, [`DISK_FREE_SHARE_MIN`] applies.
pub const DISK_FREE_BYTES_MIN: u64 = 1 << 30;
/// The free share of a small disk, as one part in this many, below which the state may not grow.
pub const DISK_FREE_SHARE_MIN: u64 = 20;
/// Bytes of log entries already covered by checkpoints that are kept for followers slightly behind.
pub const LOG_KEPT_BYTES_MAX: u64 = 256 << 20;
/// A replica that is low on disk no longer keeps writes refused once it has not answered its leader for this long.
pub const LOW_AND_SILENT_MAX: Duration = Duration::from_secs(60);

/// A leader that writes nothing else writes the log time into the log this often.
pub const LOG_TIME_UNWRITTEN_MAX: Duration = Duration::from_secs(5);

/// The most that one tick adds to the log time, however long the leader was suspended.
pub const LOG_TIME_TICK_MAX: Duration = Duration::from_millis(200);

// A batch can be filled from the queue, and the largest command can wait in the queue with others.
const _: () = assert!(BATCH_COMMANDS_MAX <= LANE_REQUESTS_MAX);
const _: () = assert!(2 * COMMAND_BYTES_MAX <= LANE_BYTES_MAX);
// Every admitted request has room in its lane, so the lane refuses only callers that admission does not limit.
const _: () = assert!(REQUESTS_MAX + ACQUIRES_MAX <= LANE_REQUESTS_MAX);
const _: () = assert!(RENEWAL_REQUESTS_MAX <= LANE_REQUESTS_MAX);
const _: () = assert!(
    REQUESTS_MAX + ACQUIRES_MAX + RENEWAL_REQUESTS_MAX + WATCH_STREAMS_MAX <= u32::MAX as usize
);
const _: () = assert!(REQUESTS_MAX <= READS_WAITING_MAX);
// A forwarded batch fits into a message between replicas, and so does its answer, which is smaller than the reports.
const _: () = assert!(BATCH_BYTES_MAX + MIB <= PEER_MESSAGE_BYTES_MAX);
const _: () = assert!(COMMAND_BYTES_MAX + MIB <= PEER_MESSAGE_BYTES_MAX);
// Many requests of the largest kind can be in progress.
const _: () = assert!(16 * REPORT_BYTES_MAX <= RENEWAL_BYTES_HELD_MAX);
const _: () = assert!(64 * REQUEST_BYTES_MAX <= REQUEST_BYTES_HELD_MAX);
// A renewal has two names, a number and a cluster's id.
const _: () = assert!(2 * SUBDOMAIN_BYTES_MAX <= STREAMED_REQUEST_BYTES_MAX);
// Every request of a client can become a command.
const _: () =
    assert!(REQUEST_BYTES_MAX <= COMMAND_BYTES_MAX && REPORT_BYTES_MAX <= COMMAND_BYTES_MAX);
// The headers of a request are small compared to its message.
const _: () = assert!(
    HEADER_BYTES_MAX as usize <= 64 * KIB && TRACE_ID_BYTES_MAX < HEADER_BYTES_MAX as usize
);
const _: () = assert!(DEADLINE_DEFAULT.as_millis() <= DEADLINE_MAX.as_millis());
// The encoded events of one message fit into the cache.
const _: () = assert!(WATCH_MESSAGE_BYTES_MAX <= ENCODED_BYTES_MAX);
// The log time advances often enough for the shortest deadline, and for a watch's shortest bookmark interval.
const _: () = assert!(LOG_TIME_TICK_MAX.as_millis() as u64 * 4 <= TTL_MS_MIN);
const _: () = assert!(BOOKMARK_INTERVAL_MS_MIN >= 100);
