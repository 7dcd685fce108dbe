//! Waits for a condition, with a limit and a sentence about what was waited for.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

/// How often the condition is checked.
const PERIOD: Duration = Duration::from_millis(20);

/// The condition was not met within the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    what: String,
    limit: Duration,
    last: String,
}

/// Calls `ask` until it succeeds, for at most `limit`. An error of `ask` says what is still missing; [`Late`] names the
/// last one.
///
/// # Errors
///
/// The limit has passed.
pub(crate) async fn until<T, F, R>(
    what: impl Into<String>,
    limit: Duration,
    mut ask: F,
) -> Result<T, Late>
where
    F: FnMut() -> R,
    R: Future<Output = Result<T, String>>,
{
    let deadline = Instant::now() + limit;
    let mut last = "it was not answered".to_owned();
    loop {
        match timeout_at(deadline, ask()).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(missing)) => last = missing,
            Err(_) => {}
        }
        if Instant::now() >= deadline {
            let what = what.into();
            return Err(Late { what, limit, last });
        }
        sleep(PERIOD).await;
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, limit, last } = self;
        write!(
            f,
            "timed out after {limit:?} waiting for {what}; last state: {last}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_comes_to_pass_is_answered() {
        let mut asked = 0;
        let answer = until("a third question", Duration::from_secs(1), || {
            asked += 1;
            let answer = if asked == 3 {
                Ok(asked)
            } else {
                Err("not yet".to_owned())
            };
            async move { answer }
        });
        assert_eq!(answer.await, Ok(3));
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_is_told_with_what_was_missing() {
        let late = until("an agreement", Duration::from_secs(2), || async {
            Err::<(), String>("b has not adopted".to_owned())
        });
        let told = late.await.unwrap_err().to_string();
        assert_eq!(
            told,
            "timed out after 2s waiting for an agreement; last state: b has not adopted"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_never_comes_is_not_waited_for() {
        let late = until("an answer", Duration::from_secs(2), || {
            std::future::pending::<Result<(), String>>()
        });
        let told = late.await.unwrap_err().to_string();
        assert_eq!(
            told,
            "timed out after 2s waiting for an answer; last state: it was not answered"
        );
    }
}
