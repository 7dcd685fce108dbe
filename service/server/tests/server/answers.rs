//! Which answers of replicas are none yet, and how to ask again.

use std::time::Duration;

use tonic::{Code, Status};

/// Whether the reason of an error is that there was no leader for a moment.
pub(crate) fn is_passing(reason: &str) -> bool {
    ["UNAVAILABLE", "UNKNOWN_OUTCOME"].contains(&reason)
}

/// Asks with more and more time until there is an answer.
///
/// What a replica answers at a deadline leaves it only moments before the client's own timer ends, and on a busy machine
/// comes too late.
pub(crate) async fn hurried<T>(what: &str, mut ask: impl AsyncFnMut(Duration) -> Option<T>) -> T {
    for millis in [200, 400, 800, 1_600, 3_200, 6_400] {
        if let Some(answer) = ask(Duration::from_millis(millis)).await {
            return answer;
        }
    }
    panic!("{what} came too late each time")
}

/// The answer of a replica; `None` if the client's own timer has ended first.
pub(crate) fn of_replica<T>(answer: Result<T, Status>) -> Option<Result<T, Status>> {
    match answer {
        Err(status) if status.code() == Code::Cancelled => None,
        answer => Some(answer),
    }
}
