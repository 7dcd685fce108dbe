//! How the tasks of a replica end.

use tokio::task::{JoinError, JoinHandle, JoinSet};

use crate::stop::Stop;

/// Waits for a task to end. Its result may have been taken before, so a finished task is not polled.
pub(super) async fn ended<T>(task: &mut JoinHandle<T>) {
    if !task.is_finished() {
        let _ = task.await;
    }
}

/// Does the work until `stop`.
pub(super) async fn until(stop: Stop, work: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = stop.requested() => {}
        () = work => {}
    }
}

/// What is told of a server that has ended.
pub(super) fn broken(what: &str, ended: Result<Result<(), String>, JoinError>) -> String {
    match ended {
        Ok(Ok(())) => format!("{what} has ended"),
        Ok(Err(error)) => error,
        Err(error) => format!("{what} has panicked: {error}"),
    }
}

/// Resolves when one of the tasks has panicked. Tasks may end without a panic.
pub(super) async fn panicked(work: &mut JoinSet<()>) -> String {
    while let Some(ended) = work.join_next().await {
        if let Err(error) = ended {
            return format!("a task has panicked: {error}");
        }
    }
    std::future::pending().await
}
