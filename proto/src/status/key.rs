//! The metadata keys of errors; `errors.proto` says what each means with which reason.

/// `true` if the request was certainly not carried out and may be sent again anywhere.
pub const NOT_EXECUTED: &str = "not_executed";
/// The id of the replica to try first, as far as the one that answered knows.
pub const LEADER_ID: &str = "leader_id";
/// Where that replica serves clients.
pub const LEADER_ENDPOINT: &str = "leader_endpoint";
/// With `COMPACTED`: the oldest revision that can still be used.
pub const OLDEST_REVISION: &str = "oldest_revision";
/// With `FUTURE_REVISION`: the newest revision there is.
pub const CURRENT_REVISION: &str = "current_revision";
/// How long a retry is of no use, in milliseconds.
pub const RETRY_AFTER_MS: &str = "retry_after_ms";
/// The member whose request was refused.
pub const MEMBER: &str = "member";
/// The epoch that holds the member's id now.
pub const CURRENT_EPOCH: &str = "current_epoch";
/// The resource in question, by the name of its storage version.
pub const RESOURCE: &str = "resource";
/// The version in question.
pub const VERSION: &str = "version";
/// With `NOT_DECODABLE`: what the member decodes, separated by commas.
pub const DECODABLE_VERSIONS: &str = "decodable_versions";
/// The version that is selected now.
pub const SELECTED_VERSION: &str = "selected_version";
/// The revision at which it was selected.
pub const SELECTED_REVISION: &str = "selected_revision";
/// With `CONFLICT` of a member's statement that came late: the number of that statement.
pub const NUMBER: &str = "number";
/// With `CONFLICT` of a member's statement that came late: the number of the last statement accepted in its epoch.
pub const LAST_NUMBER: &str = "last_number";
/// `true` if something was left out to stay within the size that every gRPC library accepts.
pub const OMITTED: &str = "omitted";
/// What became of the request, for clients that do not know the reason: `refused` if a rule refused it, so that nothing
/// changed. It comes with each reason that is younger than the first release.
pub const EXECUTION: &str = "execution";
/// With `SWITCHED_OFF`: the setting that switches it on.
pub const SETTING: &str = "setting";
