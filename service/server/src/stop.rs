//! A stop signal that many tasks can wait for.

use crate::seams::watch;

/// The sending end of a stop signal. Dropping it sends the signal, too.
#[derive(Debug)]
pub(crate) struct Stopper(watch::Sender<bool>);

/// The receiving end of a stop signal. Clones share the signal.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

/// Both ends of a signal that is not sent yet.
pub(crate) fn stop() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

impl Stopper {
    /// Sends the signal.
    pub(crate) fn stop(&self) {
        self.0.send(true);
    }
}

impl Drop for Stopper {
    /// Sends the signal: a task that only polls [`Stop::is_requested`] would otherwise never end.
    fn drop(&mut self) {
        self.stop();
    }
}

impl Stop {
    /// Waits until the signal is sent; returns at once if it was.
    pub(crate) async fn requested(&self) {
        // Waiting cannot fail, because the sender sends the signal before it is gone.
        let _ = self.0.clone().wait_for(|stop| *stop).await;
    }

    /// Whether the signal was sent.
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
