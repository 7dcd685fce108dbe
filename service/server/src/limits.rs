//! Every bound of this crate, in one table, with the metrics that show how near they are.
//!
//! What a request may carry stands in [`synod_model::limits`], and what apply goes by are replicated settings; here is
//! what one replica holds in memory at a time. Beyond a bound somebody is told so at once: nothing waits in a queue that
//! can grow, and nothing is dropped in silence.

use std::time::Duration;

use synod_model::limits::{
    BATCH_BYTES_MAX, BOOKMARK_INTERVAL_MS_MIN, COMMAND_BYTES_MAX, PEER_MESSAGE_BYTES_MAX,
    REPORT_BYTES_MAX, REQUEST_BYTES_MAX, SUBDOMAIN_BYTES_MAX, TTL_MS_MIN,
};

mod bounds;

pub use bounds::{BOUNDS, Bound};

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

/// Reads that wait for one ReadIndex round.
pub const READS_WAITING_MAX: usize = 16_384;

/// Watch streams of one replica.
pub const WATCH_STREAMS_MAX: usize = 16_384;
/// Revisions whose encoded events are kept for the next watcher.
pub const ENCODED_REVISIONS_MAX: usize = 1_024;
/// Bytes of encoded events that are kept for the next watcher.
pub const ENCODED_BYTES_MAX: usize = 32 * MIB;
/// Bytes of one message of a watch, unless it holds a single event.
pub const WATCH_MESSAGE_BYTES_MAX: usize = MIB;

/// Bytes of the objects on one page of a list, unless it holds a single one, and of those that a transaction reads.
pub const PAGE_BYTES_MAX: usize = 2 * MIB;
/// Bytes of what changed from one ControllerRevision to another, and of each of them as lines.
pub const DIFF_BYTES_MAX: usize = 3 * MIB;

/// Connections of clients.
pub const CONNECTIONS_MAX: usize = 4_096;
/// Connections of clients from one address.
pub const CONNECTIONS_PER_SOURCE_MAX: usize = 2_048;
/// Connections of clients that have not said yet that they speak HTTP/2.
pub const STRANGERS_MAX: usize = 512;
/// Connections of other replicas, which need one each.
pub const PEER_CONNECTIONS_MAX: usize = 256;
/// Connections at the port for replicas that no known replica has called over yet.
pub const PEER_STRANGERS_MAX: usize = 64;
/// One of these is closed after so long.
pub const PEER_INTRODUCTION_MAX: Duration = Duration::from_secs(1);
/// Frames of HTTP/2 that ask for nothing, on one connection at once.
pub const CONTROL_FRAMES_MAX: usize = 8_192;
/// How many more of them there may be each second.
pub const CONTROL_FRAMES_PER_SECOND: u32 = 1_000;
/// Bytes of answers that are held until the network has taken them, on all connections.
pub const ANSWER_BYTES_HELD_MAX: usize = 128 * MIB;
/// Bytes of answers that are held on one connection before another one is made.
pub const ANSWER_BYTES_PER_CONNECTION_MAX: usize = 8 * MIB;
/// Bytes of an answer that are given to the network at a time.
pub const ANSWER_PIECE_BYTES: usize = 64 * KIB;
/// A connection that has answers to take and takes none for as long is closed.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(20);
/// A connection whose other end has not confirmed for as long what was sent is closed by the system.
pub const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(20);
/// Calls that a connection of another replica carries at a time. Raft's own need a handful.
pub const PEER_CALLS_MAX: u32 = 1_024;
/// Items that all lists of a message of another replica, or of a command in it, have together: more than any has that is
/// sent, and a quarter of what the longest message could have.
pub const PEER_ITEMS_MAX: u64 = 1 << 22;
/// Bytes of objects that the refusals of one forwarded batch carry back. Those beyond it come without the object, as those
/// of a repeated request do.
pub const FORWARDED_OBJECTS_BYTES_MAX: usize = 4 << 20;
/// Connections by which metrics are asked for.
pub const METRICS_CONNECTIONS_MAX: usize = 64;
/// One of these that says nothing for as long is closed: longer than anybody lets pass between two looks.
pub const METRICS_SILENCE_MAX: Duration = Duration::from_secs(150);
/// Calls that one connection carries at a time.
pub const CALLS_PER_CONNECTION_MAX: u32 = 1_024;
/// Bytes of the headers of a request.
pub const HEADER_BYTES_MAX: u32 = 16 << 10;
/// Requests that are being answered, those below aside.
pub const REQUESTS_MAX: usize = 4_096;
/// Joins, reports, leaves and the like that are being answered.
pub const RENEWAL_REQUESTS_MAX: usize = 4_096;
/// Bytes of the requests that are being received or answered, those below aside.
pub const REQUEST_BYTES_HELD_MAX: usize = 256 * MIB;
/// Bytes of the joins, reports, leaves and the like that are being received or answered.
pub const RENEWAL_BYTES_HELD_MAX: usize = 128 * MIB;
/// Bytes of the calls for health and status that are being received or answered.
pub const SIDE_BYTES_HELD_MAX: usize = 4 * MIB;
/// Bytes of one message in a stream of requests: a renewal, a question to server reflection.
pub const STREAMED_REQUEST_BYTES_MAX: usize = 4 * KIB;
/// Acquires of leases that are being answered, most of them waiting for their turn.
pub const ACQUIRES_MAX: usize = 4_096;
/// Streams of renewals.
pub const RENEWAL_STREAMS_MAX: usize = 4_096;
/// Renewals of one stream that are not answered yet; the next is read when one is.
pub const RENEWALS_PER_STREAM_MAX: usize = 256;
/// Calls for health and status that are being answered.
pub const SIDE_CALLS_MAX: usize = 256;
/// Streams of the health service, and of server reflection.
pub const SIDE_STREAMS_MAX: usize = 256;
/// Bytes of an id that a caller gives its request.
pub const TRACE_ID_BYTES_MAX: usize = 128;

/// What a request may take if its caller does not say.
pub const DEADLINE_DEFAULT: Duration = Duration::from_secs(10);
/// The longest that a request may take, whatever its caller says.
pub const DEADLINE_MAX: Duration = Duration::from_secs(60);
/// A connection that has not said by then what it speaks is closed.
pub const INTRODUCTION_MAX: Duration = Duration::from_secs(5);
/// How long a shutdown waits for the requests under way.
pub const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Requests that wait for Raft's task. The proposer's bounds are far below.
pub const RAFT_REQUESTS_MAX: u64 = 4_096;
/// Digests of past states that are kept to be compared.
pub const DIGESTS_KEPT_MAX: usize = 64;
/// Bytes of the log that wait for the disk.
pub const LOG_QUEUE_BYTES_MAX: usize = 16 * MIB;
/// Bytes of the log that are kept in memory.
pub const LOG_CACHE_BYTES_MAX: usize = 32 * MIB;

/// Lines of the log that wait for whoever reads it. Whoever logs waits for nobody.
pub const LOG_LINES_MAX: usize = 4_096;

/// Holders that one expiry names.
pub const EXPIRED_AT_ONCE_MAX: usize = 256;
/// Entries of those holders, unless it names a single one: they are what an expiry costs.
pub const EXPIRED_ENTRIES_MAX: usize = 10_000;

/// Bytes that are free on the disk of a replica; below, the state does not grow. A small disk needs a share of itself.
pub const DISK_FREE_BYTES_MIN: u64 = 1 << 30;
/// The share of a small disk: one part in so many.
pub const DISK_FREE_SHARE_MIN: u64 = 20;
/// Bytes of the log that checkpoints hold already and that are kept for followers that are a little behind.
pub const LOG_KEPT_BYTES_MAX: u64 = 256 << 20;
/// A replica that is low on disk and has not answered its leader for as long keeps nobody from writing.
pub const LOW_AND_SILENT_MAX: Duration = Duration::from_secs(60);

/// The most that one tick adds to the log time, however long the leader stood still.
pub const LOG_TIME_TICK_MAX: Duration = Duration::from_millis(200);

// A batch can be filled from the queue, and the largest command can wait in it with others.
const _: () = assert!(BATCH_COMMANDS_MAX <= LANE_REQUESTS_MAX);
const _: () = assert!(2 * COMMAND_BYTES_MAX <= LANE_BYTES_MAX);
// Whatever was admitted finds room in its lane, so that only callers without end are refused there.
const _: () = assert!(REQUESTS_MAX + ACQUIRES_MAX <= LANE_REQUESTS_MAX);
const _: () = assert!(RENEWAL_REQUESTS_MAX <= LANE_REQUESTS_MAX);
const _: () = assert!(
    REQUESTS_MAX + ACQUIRES_MAX + RENEWAL_REQUESTS_MAX + WATCH_STREAMS_MAX <= u32::MAX as usize
);
const _: () = assert!(REQUESTS_MAX <= READS_WAITING_MAX);
// A forwarded batch fits a message between replicas, and so does the answer: a told resource is smaller than its entry.
const _: () = assert!(BATCH_BYTES_MAX + MIB <= PEER_MESSAGE_BYTES_MAX);
const _: () = assert!(COMMAND_BYTES_MAX + MIB <= PEER_MESSAGE_BYTES_MAX);
// Many requests of the largest kind can be under way.
const _: () = assert!(16 * REPORT_BYTES_MAX <= RENEWAL_BYTES_HELD_MAX);
const _: () = assert!(64 * REQUEST_BYTES_MAX <= REQUEST_BYTES_HELD_MAX);
// A renewal has two names, a number and a cluster's id.
const _: () = assert!(2 * SUBDOMAIN_BYTES_MAX <= STREAMED_REQUEST_BYTES_MAX);
// Every request of a client can become a command.
const _: () =
    assert!(REQUEST_BYTES_MAX <= COMMAND_BYTES_MAX && REPORT_BYTES_MAX <= COMMAND_BYTES_MAX);
// A request's headers do not weigh like its message.
const _: () = assert!(
    HEADER_BYTES_MAX as usize <= 64 * KIB && TRACE_ID_BYTES_MAX < HEADER_BYTES_MAX as usize
);
const _: () = assert!(DEADLINE_DEFAULT.as_millis() <= DEADLINE_MAX.as_millis());
// Encoded events of one message are worth keeping.
const _: () = assert!(WATCH_MESSAGE_BYTES_MAX <= ENCODED_BYTES_MAX);
// The log time moves often enough for the shortest deadline, and a watch's shortest interval.
const _: () = assert!(LOG_TIME_TICK_MAX.as_millis() as u64 * 4 <= TTL_MS_MIN);
const _: () = assert!(BOOKMARK_INTERVAL_MS_MIN >= 100);
