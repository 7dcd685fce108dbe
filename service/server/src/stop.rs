//! One signal that many tasks wait for: it is time to end.

use crate::seams::watch;

/// Gives the signal. Dropping it gives it, too.
#[derive(Debug)]
pub(crate) struct Stopper(watch::Sender<bool>);

/// Waits for the signal. Clones wait for the same one.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

/// Both ends of a signal that was not given yet.
pub(crate) fn stop() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

impl Stopper {
    /// Gives the signal.
    pub(crate) fn stop(&self) {
        self.0.send(true);
    }
}

impl Drop for Stopper {
    /// Both questions of [`Stop`] have one answer: whoever asked without waiting would else go round for ever.
    fn drop(&mut self) {
        self.stop();
    }
}

impl Stop {
    /// Waits until the signal is given; at once if it was.
    pub(crate) async fn requested(&self) {
        // It cannot fail: the other end gives the signal before it is gone.
        let _ = self.0.clone().wait_for(|stop| *stop).await;
    }

    /// Whether the signal was given.
    pub(crate) fn is_requested(&self) -> bool {
        *self.0.borrow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_signal_reaches_those_who_wait_and_those_who_come_late() {
        let (stopper, stop) = stop();
        assert!(!stop.is_requested());
        let early = tokio::spawn({
            let stop = stop.clone();
            async move { stop.requested().await }
        });
        stopper.stop();
        early.await.unwrap();
        stop.requested().await;
        assert!(stop.is_requested());
    }

    #[tokio::test]
    async fn a_stopper_that_is_gone_stops() {
        let (stopper, stop) = stop();
        drop(stopper);
        stop.requested().await;
        assert!(stop.is_requested());
    }
}
