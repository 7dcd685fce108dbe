//! The table of the limits, with the metric of each and what happens beyond it.

use synod_model::limits::BATCH_BYTES_MAX;

use super::*;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What is bounded.
    pub name: &'static str,
    /// The limit itself, which is still allowed.
    pub value: u64,
    /// What is counted.
    pub unit: &'static str,
    /// The metric of how much is used, or how often it was reached; `None` if whoever exceeds the limit is told, and nobody else.
    pub metric: Option<&'static str>,
    /// What happens beyond it.
    pub beyond: &'static str,
}

const OVERLOADED: &str = "refused with OVERLOADED, not executed";
const WAITS: &str = "the next one waits";
const GIVES_WAY: &str = "the one that is idle for longest is closed; the new one if none is";

/// Every limit of this crate.
pub const BOUNDS: &[Bound] = &[
    bound(
        "requests in a lane",
        LANE_REQUESTS_MAX,
        "requests",
        Some("synod_proposer_queue_requests"),
        OVERLOADED,
    ),
    bound(
        "bytes in a lane",
        LANE_BYTES_MAX,
        "bytes",
        Some("synod_proposer_queue_bytes"),
        OVERLOADED,
    ),
    bound(
        "commands in a log entry",
        BATCH_COMMANDS_MAX,
        "commands",
        Some("synod_proposer_batch_commands"),
        WAITS,
    ),
    bound(
        "bytes in a log entry",
        BATCH_BYTES_MAX,
        "bytes",
        Some("synod_proposer_batch_bytes"),
        WAITS,
    ),
    bound(
        "log entries in flight in a lane",
        ENTRIES_IN_FLIGHT_MAX,
        "entries",
        Some("synod_proposer_in_flight"),
        WAITS,
    ),
    bound(
        "forwarded batches in flight in a lane",
        FORWARDED_BATCHES_MAX,
        "batches",
        Some("synod_proposer_in_flight"),
        WAITS,
    ),
    bound(
        "reads that wait for an index",
        READS_WAITING_MAX,
        "reads",
        Some("synod_read_waiting"),
        OVERLOADED,
    ),
    bound(
        "watch streams",
        WATCH_STREAMS_MAX,
        "streams",
        Some("synod_watch_streams"),
        OVERLOADED,
    ),
    bound(
        "encoded revisions",
        ENCODED_REVISIONS_MAX,
        "revisions",
        Some("synod_watch_encoded_revisions"),
        "encoded again",
    ),
    bound(
        "encoded events",
        ENCODED_BYTES_MAX,
        "bytes",
        Some("synod_watch_encoded_bytes"),
        "encoded again",
    ),
    bound(
        "watch message",
        WATCH_MESSAGE_BYTES_MAX,
        "bytes",
        Some("synod_watch_fragments"),
        "sent in marked fragments",
    ),
    bound(
        "difference of two ControllerRevisions",
        DIFF_BYTES_MAX,
        "bytes",
        None,
        "TOO_LARGE",
    ),
    bound(
        "page of a list",
        PAGE_BYTES_MAX,
        "bytes",
        Some("synod_list_pages_cut"),
        "the page ends and a token continues it",
    ),
    bound(
        "reads of a transaction",
        PAGE_BYTES_MAX,
        "bytes",
        None,
        "left out, which the answer says",
    ),
    bound(
        "client connections",
        CONNECTIONS_MAX,
        "connections",
        Some("synod_connections"),
        GIVES_WAY,
    ),
    bound(
        "client connections from one address",
        CONNECTIONS_PER_SOURCE_MAX,
        "connections",
        Some("synod_connections_cut"),
        GIVES_WAY,
    ),
    bound(
        "client connections that have said nothing",
        STRANGERS_MAX,
        "connections",
        Some("synod_connections_cut"),
        "the oldest is closed",
    ),
    bound(
        "connections of replicas",
        PEER_CONNECTIONS_MAX,
        "connections",
        Some("synod_connections"),
        "closed at once",
    ),
    bound(
        "connections of replicas that are not known yet",
        PEER_STRANGERS_MAX,
        "connections",
        Some("synod_connections_cut"),
        "the oldest is closed",
    ),
    bound(
        "connections for metrics",
        METRICS_CONNECTIONS_MAX,
        "connections",
        Some("synod_connections"),
        GIVES_WAY,
    ),
    bound(
        "connections for the Kubernetes API",
        KUBE_CONNECTIONS_MAX,
        "connections",
        Some("synod_connections"),
        GIVES_WAY,
    ),
    bound(
        "requests of the Kubernetes API on a connection of HTTP/2",
        KUBE_STREAMS_PER_CONNECTION_MAX as usize,
        "requests",
        None,
        "the client waits or opens another connection",
    ),
    bound(
        "bytes of bodies on a connection of HTTP/2 for the Kubernetes API, not taken yet",
        KUBE_WINDOW_BYTES_MAX as usize,
        "bytes",
        None,
        "the client waits",
    ),
    bound(
        "answers of the Kubernetes API that are compressed",
        KUBE_COMPRESSED_MAX,
        "answers",
        None,
        "sent as they are",
    ),
    bound(
        "streams of a connection that were reset before they were served",
        STREAMS_RESET_UNSERVED_MAX,
        "streams",
        None,
        "the connection is closed",
    ),
    bound(
        "streams of a connection that the replica had to reset",
        STREAMS_RESET_HERE_MAX,
        "streams",
        None,
        "the connection is closed",
    ),
    bound(
        "frames of a connection that ask for nothing, at once",
        CONTROL_FRAMES_MAX,
        "frames",
        Some("synod_connections_cut"),
        "the connection is closed",
    ),
    bound(
        "the same, each second",
        CONTROL_FRAMES_PER_SECOND as usize,
        "frames",
        Some("synod_connections_cut"),
        "the connection is closed",
    ),
    bound(
        "bytes of answers that are not taken",
        ANSWER_BYTES_HELD_MAX,
        "bytes",
        Some("synod_answer_bytes_held"),
        "the connection that holds most is closed",
    ),
    bound(
        "bytes of answers that are not taken, of a connection",
        ANSWER_BYTES_PER_CONNECTION_MAX,
        "bytes",
        Some("synod_answer_bytes_held"),
        "the next answer waits",
    ),
    bound(
        "answers that are not taken",
        ANSWER_PATIENCE.as_secs() as usize,
        "seconds",
        Some("synod_connections_cut"),
        "the connection is closed",
    ),
    bound(
        "what was sent and is not confirmed",
        UNACKNOWLEDGED_MAX.as_secs() as usize,
        "seconds",
        None,
        "the system closes the connection",
    ),
    bound(
        "silence of a connection before the system asks whether the other end is there",
        SILENCE_UNASKED_MAX.as_secs() as usize,
        "seconds",
        None,
        "the system closes the connection if nobody answers",
    ),
    bound(
        "calls of a replica's connection",
        PEER_CALLS_MAX as usize,
        "calls",
        None,
        WAITS,
    ),
    bound(
        "items in the lists of a replica's message",
        PEER_ITEMS_MAX as usize,
        "items",
        None,
        "the message is refused",
    ),
    bound(
        "bytes of objects in the refusals of a forwarded batch",
        FORWARDED_OBJECTS_BYTES_MAX,
        "bytes",
        None,
        "a refusal comes without the object",
    ),
    bound(
        "calls of a connection",
        CALLS_PER_CONNECTION_MAX,
        "calls",
        None,
        "a class of calls is full before, and refuses",
    ),
    bound(
        "headers of a request",
        HEADER_BYTES_MAX as usize,
        "bytes",
        None,
        "refused by HTTP/2",
    ),
    bound(
        "requests under way",
        REQUESTS_MAX,
        "requests",
        Some("synod_requests_in_flight"),
        OVERLOADED,
    ),
    bound(
        "renewal-lane requests under way",
        RENEWAL_REQUESTS_MAX,
        "requests",
        Some("synod_requests_in_flight"),
        OVERLOADED,
    ),
    bound(
        "bytes of requests under way",
        REQUEST_BYTES_HELD_MAX,
        "bytes",
        Some("synod_request_bytes_held"),
        OVERLOADED,
    ),
    bound(
        "bytes of renewal-lane requests under way",
        RENEWAL_BYTES_HELD_MAX,
        "bytes",
        Some("synod_request_bytes_held"),
        OVERLOADED,
    ),
    bound(
        "bytes of health and status calls",
        SIDE_BYTES_HELD_MAX,
        "bytes",
        Some("synod_request_bytes_held"),
        OVERLOADED,
    ),
    bound(
        "request in a stream",
        STREAMED_REQUEST_BYTES_MAX,
        "bytes",
        None,
        "the stream ends with TOO_LARGE",
    ),
    bound(
        "acquires of leases under way",
        ACQUIRES_MAX,
        "requests",
        Some("synod_requests_in_flight"),
        OVERLOADED,
    ),
    bound(
        "renewal streams",
        RENEWAL_STREAMS_MAX,
        "streams",
        Some("synod_requests_in_flight"),
        OVERLOADED,
    ),
    bound(
        "renewals of a stream",
        RENEWALS_PER_STREAM_MAX,
        "renewals",
        Some("synod_proposer_queue_requests"),
        WAITS,
    ),
    bound(
        "pipelines",
        PIPELINES_MAX,
        "streams",
        Some("synod_requests_in_flight"),
        OVERLOADED,
    ),
    bound(
        "bytes in a message of a pipeline",
        PIPELINE_REQUEST_BYTES_MAX,
        "bytes",
        None,
        "the stream ends with TOO_LARGE",
    ),
    bound(
        "bytes in a message of a pipeline's answers, unless one is longer",
        PIPELINE_RESPONSE_BYTES_MAX,
        "bytes",
        None,
        WAITS,
    ),
    bound(
        "backups",
        BACKUPS_MAX,
        "streams",
        Some("synod_requests_in_flight"),
        OVERLOADED,
    ),
    bound(
        "time of a backup",
        BACKUP_TIME_MAX.as_secs() as usize,
        "seconds",
        None,
        "ended with DEADLINE_EXCEEDED: it is not whole",
    ),
    bound(
        "rows in a message of a backup",
        BACKUP_ROWS_BYTES_MAX,
        "bytes",
        None,
        WAITS,
    ),
    bound(
        "health and status calls",
        SIDE_CALLS_MAX,
        "calls",
        Some("synod_requests_in_flight"),
        OVERLOADED,
    ),
    bound(
        "health and reflection streams",
        SIDE_STREAMS_MAX,
        "streams",
        Some("synod_requests_in_flight"),
        OVERLOADED,
    ),
    bound(
        "holders in an expiry",
        EXPIRED_AT_ONCE_MAX,
        "holders",
        Some("synod_expired"),
        WAITS,
    ),
    bound(
        "entries in an expiry",
        EXPIRED_ENTRIES_MAX,
        "entries",
        Some("synod_expired"),
        WAITS,
    ),
    bound(
        "requests that wait for Raft",
        RAFT_REQUESTS_MAX as usize,
        "requests",
        Some("synod_proposer_in_flight"),
        WAITS,
    ),
    bound(
        "log that waits for the disk",
        LOG_QUEUE_BYTES_MAX,
        "bytes",
        Some("synod_log_queued_bytes"),
        WAITS,
    ),
    bound(
        "log in memory",
        LOG_CACHE_BYTES_MAX,
        "bytes",
        Some("synod_log_cached_bytes"),
        "read from the disk again",
    ),
    bound(
        "lines of the log that nobody has read",
        LOG_LINES_MAX,
        "lines",
        Some("synod_log_lines_dropped"),
        "dropped and counted",
    ),
    bound(
        "spans of traces that wait to be exported",
        SPANS_WAITING_MAX,
        "spans",
        Some("synod_trace_spans_dropped"),
        "dropped and counted",
    ),
    bound(
        "spans of traces in one export",
        SPANS_EXPORTED_AT_ONCE_MAX,
        "spans",
        Some("synod_trace_spans_exported"),
        WAITS,
    ),
    bound(
        "lines of the audit log that wait",
        AUDIT_LINES_MAX,
        "lines",
        Some("synod_audit_dropped_lines"),
        "the line is lost, which is counted and raises an alarm",
    ),
    bound(
        "lines of the audit log in a second about callers whom nobody knows",
        AUDIT_STRANGERS_MAX,
        "lines",
        Some("synod_audit_left_out_lines"),
        "one line says how many were left out, which is counted",
    ),
    bound(
        "tokens of callers that are remembered",
        TOKENS_REMEMBERED_MAX,
        "tokens",
        Some("synod_tokens_remembered"),
        "the oldest is forgotten, and checked again",
    ),
    bound(
        "free bytes of a disk that is large, at least",
        DISK_FREE_BYTES_MIN as usize,
        "bytes",
        Some("synod_disk_free_bytes"),
        "what makes the state grow is refused with QUOTA",
    ),
    bound(
        "free part of a disk that is small, at least one in",
        DISK_FREE_SHARE_MIN as usize,
        "parts",
        Some("synod_disk_size_bytes"),
        "what makes the state grow is refused with QUOTA",
    ),
    bound(
        "log that checkpoints hold already",
        LOG_KEPT_BYTES_MAX as usize,
        "bytes",
        Some("synod_log_segments"),
        "a follower that is further behind gets a checkpoint",
    ),
    bound(
        "digests",
        DIGESTS_KEPT_MAX,
        "digests",
        Some("synod_digests_kept"),
        "the oldest is forgotten",
    ),
];

const fn bound(
    name: &'static str,
    value: usize,
    unit: &'static str,
    metric: Option<&'static str>,
    beyond: &'static str,
) -> Bound {
    Bound {
        name,
        value: value as u64,
        unit,
        metric,
        beyond,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_bound_has_a_name_of_its_own_and_allows_something() {
        let names: BTreeSet<&str> = BOUNDS.iter().map(|bound| bound.name).collect();
        assert_eq!(names.len(), BOUNDS.len());
        assert!(BOUNDS.iter().all(|bound| bound.value > 0));
    }
}
