//! The seam for blocking work, which would hold up the runtime's threads.

/// Where long computations and file accesses run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// On the runtime's pool of blocking threads.
    Threads,
    /// In the calling task, in no virtual time: a simulation has one thread, and a pool would make it irreproducible.
    Inline,
}

impl Offload {
    /// Runs `work` and returns its result. A panic in it continues in the caller.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the seam that blocking work goes through"
    )]
    pub async fn run<T: Send + 'static>(self, work: impl FnOnce() -> T + Send + 'static) -> T {
        match self {
            Self::Inline => work(),
            Self::Threads => match tokio::task::spawn_blocking(work).await {
                Ok(result) => result,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // Blocking work is cancelled only while the runtime shuts down, when nothing polls this future.
                    Err(_) => std::future::pending().await,
                },
            },
        }
    }

    /// Does two pieces of blocking work within a third, beside each other where there are threads. A panic in one of them
    /// continues in the caller once both have ended.
    pub fn both<A: Send, B>(
        self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B,
    ) -> (A, B) {
        match self {
            Self::Inline => (first(), second()),
            Self::Threads => std::thread::scope(|scope| {
                let first = scope.spawn(first);
                let second = second();
                match first.join() {
                    Ok(first) => (first, second),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pieces_of_work_are_both_done() {
        for offload in [Offload::Threads, Offload::Inline] {
            assert_eq!(offload.both(|| 6, || 7), (6, 7));
        }
    }

    #[tokio::test]
    async fn both_ways_answer_the_result() {
        for offload in [Offload::Threads, Offload::Inline] {
            assert_eq!(offload.run(|| 6 * 7).await, 42);
        }
    }
}
