//! The runtime that openraft runs on: tokio's, with our randomness and our watch channels.
//!
//! openraft's own tokio runtime draws from the system's random source and wakes watchers in random order. Either would
//! make a simulation irreproducible, so both are replaced; everything else is delegated.

use std::future::Future;
use std::time::Duration;

use openraft::async_runtime::watch::{RecvError, SendError, WatchReceiver, WatchSender};
use openraft::async_runtime::{AsyncRuntime, Watch};
use openraft::impls::TokioRuntime;
use openraft::{OptionalSend, OptionalSync};
use rand::rngs::StdRng;

use crate::seams::{random, watch};

/// The tokio runtime with reproducible randomness and wake-ups.
#[derive(Debug)]
pub(crate) struct SynodRuntime(TokioRuntime);

impl AsyncRuntime for SynodRuntime {
    type JoinError = <TokioRuntime as AsyncRuntime>::JoinError;
    type JoinHandle<T: OptionalSend + 'static> = <TokioRuntime as AsyncRuntime>::JoinHandle<T>;
    type Sleep = <TokioRuntime as AsyncRuntime>::Sleep;
    type Instant = <TokioRuntime as AsyncRuntime>::Instant;
    type TimeoutError = <TokioRuntime as AsyncRuntime>::TimeoutError;
    type Timeout<R, T: Future<Output = R> + OptionalSend> =
        <TokioRuntime as AsyncRuntime>::Timeout<R, T>;
    type ThreadLocalRng = StdRng;
    type Mpsc = <TokioRuntime as AsyncRuntime>::Mpsc;
    type Watch = FifoWatch;
    type Oneshot = <TokioRuntime as AsyncRuntime>::Oneshot;
    type Mutex<T: OptionalSend + 'static> = <TokioRuntime as AsyncRuntime>::Mutex<T>;

    fn spawn<T>(future: T) -> Self::JoinHandle<T::Output>
    where
        T: Future + OptionalSend + 'static,
        T::Output: OptionalSend + 'static,
    {
        TokioRuntime::spawn(future)
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        TokioRuntime::sleep(duration)
    }

    fn sleep_until(deadline: Self::Instant) -> Self::Sleep {
        TokioRuntime::sleep_until(deadline)
    }

    fn timeout<R, F: Future<Output = R> + OptionalSend>(
        duration: Duration,
        future: F,
    ) -> Self::Timeout<R, F> {
        TokioRuntime::timeout(duration, future)
    }

    fn timeout_at<R, F: Future<Output = R> + OptionalSend>(
        deadline: Self::Instant,
        future: F,
    ) -> Self::Timeout<R, F> {
        TokioRuntime::timeout_at(deadline, future)
    }

    fn is_panic(error: &Self::JoinError) -> bool {
        TokioRuntime::is_panic(error)
    }

    fn thread_rng() -> StdRng {
        random::rng()
    }

    fn new(threads: usize) -> Self {
        Self(TokioRuntime::new(threads))
    }

    fn block_on<F, T>(&mut self, future: F) -> T
    where
        F: Future<Output = T>,
    {
        self.0.block_on(future)
    }
}

/// [`crate::seams::watch`] behind openraft's traits.
#[derive(Debug)]
pub(crate) struct FifoWatch;

impl Watch for FifoWatch {
    type Sender<T: OptionalSend + OptionalSync> = watch::Sender<T>;
    type Receiver<T: OptionalSend + OptionalSync> = watch::Receiver<T>;
    type Ref<'a, T: OptionalSend + 'a> = watch::Ref<'a, T>;

    fn channel<T: OptionalSend + OptionalSync>(initial: T) -> (Self::Sender<T>, Self::Receiver<T>) {
        watch::channel(initial)
    }
}

impl<T: OptionalSend + OptionalSync> WatchSender<FifoWatch, T> for watch::Sender<T> {
    fn send(&self, value: T) -> Result<(), SendError<T>> {
        if !self.has_receivers() {
            return Err(SendError(value));
        }
        self.send(value);
        Ok(())
    }

    fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        self.send_if_modified(modify)
    }

    fn borrow_watched(&self) -> watch::Ref<'_, T> {
        self.borrow()
    }

    fn subscribe(&self) -> watch::Receiver<T> {
        self.subscribe()
    }
}

impl<T: OptionalSend + OptionalSync> WatchReceiver<FifoWatch, T> for watch::Receiver<T> {
    async fn changed(&mut self) -> Result<(), RecvError> {
        watch::Receiver::changed(self)
            .await
            .map_err(|watch::Closed| RecvError(()))
    }

    fn borrow_watched(&self) -> watch::Ref<'_, T> {
        self.borrow()
    }

    fn borrow_and_update(&mut self) -> watch::Ref<'_, T> {
        watch::Receiver::borrow_and_update(self)
    }
}
