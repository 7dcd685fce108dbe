//! The limits of the protocol, beside those of `synod-model`, in the same form: [`LIMITS`] is what the documentation
//! publishes.

use synod_model::Limit;
use synod_model::limits::{BOOKMARK_INTERVAL_MS_MAX, BOOKMARK_INTERVAL_MS_MIN, LIST_PAGE_MAX};

/// Calls in one message of a pipeline, and calls that one message cancels.
pub const PIPELINE_CALLS_MAX: usize = 4_096;
/// Names in the filter of a watch.
pub const WATCH_NAMES_MAX: usize = 1_000;
/// Kinds in the filter of a watch: more kinds than exist.
pub const WATCH_KINDS_MAX: usize = 64;
/// Resources in the filter of a watch.
pub const WATCH_RESOURCES_MAX: usize = 64;
/// Annotations of an object, whatever their bytes.
pub const ANNOTATIONS_MAX: usize = 4_096;
/// Resources that a check of a binary can name.
pub const BINARY_RESOURCES_MAX: usize = 10_000;
/// Resources that an assumption names; the others are counted.
pub const ASSUMED_RESOURCES_MAX: usize = 100;
/// Reasons that a check names; the others are counted.
pub const DANGERS_MAX: usize = 1_000;
/// Resources that a check of the agreement can name.
pub const AGREEMENT_RESOURCES_MAX: usize = 1_000;
/// Resources that each list in the answer to a check of the agreement names; the others are counted.
pub const AGREEMENTS_MAX: usize = 1_000;
/// Members, and hashes, that an obstacle to an agreement names; the others are counted.
pub const OBSTACLE_MEMBERS_MAX: usize = 16;
/// Obstacles that the answer to a check of an upgrade names; the others are counted.
pub const UPGRADE_OBSTACLES_MAX: usize = 64;
/// Interval of a watch's bookmarks for callers who do not say, in milliseconds.
pub const BOOKMARK_INTERVAL_MS_DEFAULT: u64 = 10_000;
/// Largest age that a read may allow its answer, in milliseconds.
pub const STALENESS_MS_MAX: u64 = 600_000;
/// Objects on a page for callers who do not say.
pub const LIST_PAGE_DEFAULT: usize = 500;
/// Bytes of the filter of a replica's log.
pub const LOG_FILTER_BYTES_MAX: usize = 1_024;
/// Shortest time for which a replica logs other events than it is configured to, in milliseconds.
pub const LOG_FILTER_MS_MIN: u64 = 1_000;
/// Longest time for which a replica logs other events than it is configured to, in milliseconds.
pub const LOG_FILTER_MS_MAX: u64 = 86_400_000;
/// The same time for callers who do not say, in milliseconds.
pub const LOG_FILTER_MS_DEFAULT: u64 = 600_000;
/// Bytes of a continue token.
pub const CONTINUE_TOKEN_BYTES_MAX: usize = 512;

/// Bytes of the details of a status before they are encoded in base64.
///
/// Details travel in trailers. Some gRPC libraries refuse trailers of more than 8 KiB by default and then report a broken
/// connection, which would turn a clear refusal into an unknown outcome.
pub const STATUS_DETAILS_BYTES_MAX: usize = 4 << 10;
/// Bytes of the message of a status.
pub const STATUS_MESSAGE_BYTES_MAX: usize = 1 << 10;

const _: () = assert!(LIST_PAGE_DEFAULT <= LIST_PAGE_MAX);
const _: () = assert!(LOG_FILTER_MS_MIN <= LOG_FILTER_MS_DEFAULT);
const _: () = assert!(LOG_FILTER_MS_DEFAULT <= LOG_FILTER_MS_MAX);
const _: () = assert!(BOOKMARK_INTERVAL_MS_MIN <= BOOKMARK_INTERVAL_MS_DEFAULT);
const _: () = assert!(BOOKMARK_INTERVAL_MS_DEFAULT <= BOOKMARK_INTERVAL_MS_MAX);
// Base64 takes four bytes for three; the details contain the message once more.
const _: () = assert!(
    (STATUS_DETAILS_BYTES_MAX + STATUS_MESSAGE_BYTES_MAX) / 3 * 4 + STATUS_MESSAGE_BYTES_MAX
        < 8 << 10
);

const INVALID: &str = "refused with INVALID_ARGUMENT";

/// Every limit of this file that a caller can meet, as it is published.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "calls in one message of a pipeline",
        value: PIPELINE_CALLS_MAX as u64,
        unit: "calls",
        beyond: INVALID,
    },
    Limit {
        name: "names in a watch filter",
        value: WATCH_NAMES_MAX as u64,
        unit: "names",
        beyond: INVALID,
    },
    Limit {
        name: "kinds in a watch filter",
        value: WATCH_KINDS_MAX as u64,
        unit: "kinds",
        beyond: INVALID,
    },
    Limit {
        name: "resources in a watch filter",
        value: WATCH_RESOURCES_MAX as u64,
        unit: "resources",
        beyond: INVALID,
    },
    Limit {
        name: "annotations of a written object",
        value: ANNOTATIONS_MAX as u64,
        unit: "annotations",
        beyond: INVALID,
    },
    Limit {
        name: "resources in a check of a binary",
        value: BINARY_RESOURCES_MAX as u64,
        unit: "resources",
        beyond: INVALID,
    },
    Limit {
        name: "resources in an assumption",
        value: ASSUMED_RESOURCES_MAX as u64,
        unit: "resources",
        beyond: "counted, not named",
    },
    Limit {
        name: "reasons in the answer to a check",
        value: DANGERS_MAX as u64,
        unit: "reasons",
        beyond: "counted, not named",
    },
    Limit {
        name: "resources in a check of the agreement",
        value: AGREEMENT_RESOURCES_MAX as u64,
        unit: "resources",
        beyond: INVALID,
    },
    Limit {
        name: "resources in the answer to a check of the agreement",
        value: AGREEMENTS_MAX as u64,
        unit: "resources",
        beyond: "counted, not named",
    },
    Limit {
        name: "members in an obstacle to an agreement",
        value: OBSTACLE_MEMBERS_MAX as u64,
        unit: "members",
        beyond: "counted, not named",
    },
    Limit {
        name: "obstacles in the answer to a check of an upgrade",
        value: UPGRADE_OBSTACLES_MAX as u64,
        unit: "obstacles",
        beyond: "counted, not named",
    },
    Limit {
        name: "staleness of a read",
        value: STALENESS_MS_MAX,
        unit: "ms",
        beyond: INVALID,
    },
    Limit {
        name: "filter of a replica's log",
        value: LOG_FILTER_BYTES_MAX as u64,
        unit: "bytes",
        beyond: INVALID,
    },
    Limit {
        name: "time for which a replica logs other events",
        value: LOG_FILTER_MS_MAX,
        unit: "ms",
        beyond: INVALID,
    },
    Limit {
        name: "continue token",
        value: CONTINUE_TOKEN_BYTES_MAX as u64,
        unit: "bytes",
        beyond: INVALID,
    },
    Limit {
        name: "details of an error",
        value: STATUS_DETAILS_BYTES_MAX as u64,
        unit: "bytes",
        beyond: "left out, and `omitted` says so",
    },
    Limit {
        name: "message of an error",
        value: STATUS_MESSAGE_BYTES_MAX as u64,
        unit: "bytes",
        beyond: "cut, with '...' after it",
    },
];
